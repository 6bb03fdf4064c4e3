//! What computes: functions of C's ABI, functions of pointers and integers, CUDA kernels. They know nothing of XLA.

pub mod abi;
pub(crate) mod cuda;
mod load;
pub(crate) mod message;
pub(crate) mod plain;

pub use load::load;
