//! Schur form.

mod host;
pub(crate) mod jaxlib;
mod operands;
