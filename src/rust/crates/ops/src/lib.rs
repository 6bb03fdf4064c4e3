//! The XLA FFI handlers of xlaffi: one module, a folder, per decomposition.
//!
//! There `mod.rs` has the op, `jaxlib.rs` and `cusolver.rs` have jaxlib's targets for the CPU and for
//! CUDA, `operands.rs` what these take, `host.rs` and `cuda.rs` do the work. `platform` has what
//! bodies need of either; [`table`] lists the ops. To add one: write its module, add it to the table.

mod cholesky;
mod crossprod;
mod cusolver;
mod eig;
mod eigh;
mod jaxlib;
pub mod kepler;
mod letter;
mod lu;
mod op;
mod platform;
pub mod print;
mod qr;
mod reduce;
mod schur;
mod shape;
mod sparse;
mod special;
mod svd;
mod table;
mod triangular;
mod tridiagonal;

pub use sparse::state::{analysis as sparse_analysis, Analysis as SparseAnalysis};
pub use table::{find, named, table, Entry, PRIVATE};
