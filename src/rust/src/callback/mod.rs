//! R functions in programs: handlers ask for R, and R's thread serves them where it waits.

mod array;
mod attribute;
mod call;
mod evaluate;
mod function;
pub mod op;
pub mod request;
