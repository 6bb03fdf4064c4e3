//! Tridiagonal systems.

mod host;
pub(crate) mod jaxlib;
mod operands;
