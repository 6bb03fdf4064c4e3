//! Eigenvalues of general matrices.

mod cuda;
pub(crate) mod cusolver;
mod host;
pub(crate) mod jaxlib;
mod operands;
