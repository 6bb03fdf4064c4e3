//! R functions in programs: handlers ask for R, and R's thread serves them where it waits.

mod array;
mod attribute;
mod call;
mod contained;
mod evaluate;
mod idle;
pub mod op;
pub mod request;
mod serve;

pub use idle::ring;
pub use op::may_call_r;
pub use serve::{in_use, of_run, serve_waiting, while_serving, Abandon};
