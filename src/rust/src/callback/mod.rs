//! R functions in programs: handlers ask for R, and R's thread serves them where it waits.

mod array;
mod attribute;
mod call;
mod contained;
mod evaluate;
mod idle;
mod on_r;
pub mod op;
pub mod request;
mod serve;

pub use idle::ring;
pub use op::Called;
pub use serve::{of_run, serve_in_plugin, serve_waiting, while_serving, Abandon};
