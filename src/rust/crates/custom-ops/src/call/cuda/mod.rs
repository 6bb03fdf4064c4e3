//! A call on CUDA.

mod argument;
mod launch;
mod prepared;
mod shape;

pub(crate) use launch::run;
pub(crate) use prepared::Call;
