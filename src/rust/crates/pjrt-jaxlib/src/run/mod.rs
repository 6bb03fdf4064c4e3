//! Runs of programs and what is waited for, without the arrays that they compute.

pub(crate) mod signal;
pub(crate) mod state;
