//! Kernels for batches of small real matrices, where LAPACK's calls cost more than its work.
//! They compute several matrices at once, one per lane of a vector register: element `(i, j)` of
//! all of them lies side by side (`block.rs`), and the algorithm is the unblocked one of
//! the textbook, written once over [`Lanes`]. A decision for one matrix (a pivot, a scaling) is a
//! choice in its lane and nothing to its neighbours, so a matrix's result is the same to the last
//! bit wherever it stands in a batch, also alone.
//!
//! A matrix alone has its rows in lanes instead (`rows/`), where that is written: lu and Cholesky, which for more than
//! 64 columns are computed so only. The operations on an element and their order are the same, and so are the bits.
//!
//! To add one: a struct of the slices of a run of matrices, with [`Kernel`] for it, and in the
//! routine of the batch, where [`suits`] says so, runs of matrices (`run_length`) for `for_each_run`
//! of `batch.rs`, each of which is given to [`Vectorised::in_lanes`]; see `lu.rs` here and there.
//! Complex matrices are left to LAPACK ([`Vectorised::LANES`]). f32 is computed in f32 in every
//! build, as nothing here needs LAPACK.
//!
//! All that a kernel calls is `#[inline(always)]`, and its loops are `for` loops: a function or a
//! closure with a loop in it (`for_each`, `fold`) that the compiler does not inline is compiled
//! without the vector instructions, and each `mul_add` in it becomes a call. `tests/machine_code.rs`
//! looks for such calls.

mod accumulate;
mod bidiagonal;
mod block;
pub mod cholesky;
mod dispatch;
pub mod eigh;
mod householder;
mod lanes;
pub mod lu;
pub mod processor;
pub mod qr;
mod rotation;
mod rows;
mod scale;
mod scratch;
mod singular;
mod sorted;
pub mod svd;
mod symmetric;
#[cfg(test)]
mod tests;
pub mod triangular;
mod tridiagonal;
mod update;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use dispatch::Kernel;
pub use lanes::{Float, Lanes};

use matrices::{Complex, Element, Matrices};

/// A dtype that may have kernels.
pub trait Vectorised: Element {
    /// Whether it has.
    const LANES: bool;

    /// Runs `kernel` over `count` matrices on this thread; only where it [has](Self::LANES). None of them
    /// is without rows or columns.
    fn in_lanes(kernel: impl Kernel<Self>, count: usize);
}

macro_rules! vectorised {
    ($($t:ident)*) => {$(
        impl Vectorised for $t {
            const LANES: bool = true;

            fn in_lanes(mut kernel: impl Kernel<Self>, count: usize) {
                let unit = dispatch::Unit::best().expect("a vector unit, as `suits` found one");
                dispatch::run(unit, &mut kernel, count);
            }
        }

        impl Vectorised for Complex<$t> {
            const LANES: bool = false;

            fn in_lanes(_: impl Kernel<Self>, _: usize) {
                unreachable!("complex matrices are left to LAPACK");
            }
        }
    )*};
}
vectorised!(f32 f64);

/// Whether matrices of that shape are computed here: at most `most` rows and columns, on a processor
/// that there is code for.
pub fn suits<T: Vectorised>(shape: Matrices, most: i32) -> bool {
    T::LANES && shape.rows.max(shape.cols) <= most && dispatch::Unit::best().is_some()
}
