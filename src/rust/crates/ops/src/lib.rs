//! The XLA FFI handlers of xlaffi: one file per op.
//!
//! An op file declares operands and body; [`platform`] has what the body needs on each platform;
//! [`table`] lists the ops. To add one: write its file, add it to the table.

pub mod cholesky;
pub mod cusolver;
pub mod eigh;
pub mod geqrf;
pub mod jaxlib;
pub mod kepler;
mod letter;
pub mod lu;
pub mod orgqr;
pub mod permutation;
pub mod platform;
pub mod print;
pub mod print_tensor;
pub mod svd;
mod table;

pub use table::{find, named, table, Entry, PRIVATE};
