//! Kernels for batches of small matrices, where LAPACK's calls cost more than its work.
//! They compute several matrices at once, one per lane of a vector register: element `(i, j)` of
//! all of them lies side by side (`block.rs`), and the algorithm is the unblocked one of
//! the textbook, written once over the trait `Lanes`. A decision for one matrix (a pivot, a scaling) is a
//! choice in its lane and nothing to its neighbours, so a matrix's result is the same to the last
//! bit wherever it stands in a batch, also alone.
//!
//! A matrix alone has its rows in lanes instead (`rows/`), where that is written: lu and Cholesky, which for more than
//! 64 columns are computed so only. The operations on an element and their order are the same, and so are the bits.
//! A QR, eigh or svd is computed in one of the two ways, by its size alone: small ones in blocks ([`Blocks`]), and all
//! others with their rows in lanes. So is any complex matrix.
//!
//! To add one: a struct of the slices of a run of matrices, with `Kernel` for it and a place in `kernels.rs`, and in the
//! routine of the batch, where [`suits`] says so, runs of matrices (`run_length`) for `for_each_run`
//! of `batch.rs`, each of which is given to [`Vectorised::in_lanes`]; see `lu.rs` here and there.
//! Of complex matrices real and imaginary parts are vectors of their own (`pair.rs`), where a kernel has been written
//! for both ([`Most`]); the others are left to LAPACK. f32 is computed in f32 in every
//! build, as nothing here needs LAPACK.
//!
//! All that a kernel calls is `#[inline(always)]`, and its loops are `for` loops: a function or a
//! closure with a loop in it (`for_each`, `fold`) that the compiler does not inline is compiled
//! without the vector instructions, and each `mul_add` in it becomes a call. `tests/machine_code/`
//! looks for such calls.

mod accumulate;
#[cfg(target_arch = "aarch64")]
mod arm64;
mod bidiagonal;
mod block;
pub mod cholesky;
pub mod crossprod;
mod dispatch;
mod dtype;
pub mod eigh;
mod field;
mod householder;
mod kernel;
mod kernels;
mod lanes;
pub mod lu;
mod operands;
mod pack;
mod pair;
pub mod processor;
pub mod qr;
mod rotation;
mod rows;
mod scale;
mod scratch;
mod shared;
mod singular;
mod sorted;
pub mod svd;
mod symmetric;
mod task;
#[cfg(feature = "testing")]
pub mod testing;
mod together;
pub mod triangular;
mod tridiagonal;
mod update;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use dispatch::Unit;
pub use dtype::InParts;
pub use kernel::{Blocks, Most, Run};
pub use kernels::{suits, AnyKernel, Vectorised};
pub use lanes::Float;
pub use scratch::NoMemory;
pub use task::{vectorised, Task};
pub use together::{Together, ALONE};
