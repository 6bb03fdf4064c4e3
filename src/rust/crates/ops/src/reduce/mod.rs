//! Reductions to Hessenberg and to tridiagonal form.

pub(crate) mod cuda;
pub(crate) mod cusolver;
pub(crate) mod host;
pub(crate) mod jaxlib;
mod operands;
