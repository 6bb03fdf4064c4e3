//! Kernels for batches of small matrices, where LAPACK's calls cost more than its work.
//! They compute several matrices at once, one per lane of a vector register: element `(i, j)` of
//! all of them lies side by side (`block.rs`), and the algorithm is the unblocked one of
//! the textbook, written once over [`Lanes`]. A decision for one matrix (a pivot, a scaling) is a
//! choice in its lane and nothing to its neighbours, so a matrix's result is the same to the last
//! bit wherever it stands in a batch, also alone.
//!
//! A matrix alone has its rows in lanes instead (`rows/`), where that is written: lu and Cholesky, which for more than
//! 64 columns are computed so only. The operations on an element and their order are the same, and so are the bits.
//! QR of more than 64 rows or columns has its rows in lanes too, and nothing smaller has.
//!
//! To add one: a struct of the slices of a run of matrices, with `Kernel` for it and a place in `kernels.rs`, and in the
//! routine of the batch, where [`suits`] says so, runs of matrices (`run_length`) for `for_each_run`
//! of `batch.rs`, each of which is given to [`Vectorised::in_lanes`]; see `lu.rs` here and there.
//! Of complex matrices real and imaginary parts are vectors of their own (`field.rs`), where a kernel has been written
//! for both ([`Most`]); the others are left to LAPACK. f32 is computed in f32 in every
//! build, as nothing here needs LAPACK.
//!
//! All that a kernel calls is `#[inline(always)]`, and its loops are `for` loops: a function or a
//! closure with a loop in it (`for_each`, `fold`) that the compiler does not inline is compiled
//! without the vector instructions, and each `mul_add` in it becomes a call. `tests/machine_code.rs`
//! looks for such calls.

mod accumulate;
#[cfg(target_arch = "aarch64")]
mod arm64;
mod bidiagonal;
mod block;
pub mod cholesky;
mod dispatch;
pub mod eigh;
mod field;
mod householder;
mod kernels;
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
#[cfg(feature = "testing")]
pub mod testing;
pub mod triangular;
mod tridiagonal;
mod update;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use dispatch::Unit;
pub use kernels::AnyKernel;
pub use lanes::Float;

use dispatch::Kernel;
use lanes::Lanes;
use matrices::{Element, Matrices};
use std::ops::Range;

/// A dtype of the kernels.
pub trait Vectorised: Element<Real: Float> {
    /// Numbers that make one.
    const PARTS: usize;

    /// The parts of all values, one after the other.
    fn parts(values: &[Self]) -> &[Self::Real];
    /// The same, to be changed.
    fn parts_mut(values: &mut [Self]) -> &mut [Self::Real];

    /// Runs `kernel` over `count` matrices on this thread, with a vector unit that the processor has. None of the
    /// matrices is without rows or columns.
    ///
    /// # Errors
    /// There is no memory to work in; the matrices are as they were.
    fn run_on(unit: Unit, kernel: AnyKernel<'_, Self>, count: usize) -> Result<(), NoMemory>;

    /// The same with the processor's best unit, of matrices that [suit](suits) it.
    ///
    /// # Errors
    /// As above.
    #[inline]
    fn in_lanes<'a>(kernel: impl Into<AnyKernel<'a, Self>>, count: usize) -> Result<(), NoMemory> {
        let unit = Unit::best().expect("a vector unit, as `suits` found one");
        Self::run_on(unit, kernel.into(), count)
    }
}

/// There is no memory for so many bytes to work in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory {
    /// How many were asked for.
    pub bytes: usize,
}

/// Threads that work at one thing, the one that asks for them among them.
#[derive(Clone, Copy)]
pub struct Together<'a> {
    /// How many there are at most.
    pub threads: usize,
    /// Calls a function on so many of them at once at most, and returns when all are done with it.
    pub run: &'a (dyn Fn(usize, &(dyn Fn() + Sync)) + Sync),
}

/// This thread only.
pub const ALONE: Together<'static> = Together {
    threads: 1,
    run: &|_, work| work(),
};

/// The matrices `range` as a kernel was given them: elsewhere, or in `a`, which is as many.
#[inline(always)]
fn given<'a, T>(from: Option<&'a [T]>, a: &'a [T], range: Range<usize>) -> &'a [T] {
    let size = a.len() / range.len();
    from.map_or(a, |from| &from[range.start * size..range.end * size])
}

/// Rows and columns up to which a kernel is the best there is.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Of real matrices.
    pub real: i32,
    /// Of complex ones; 0 if it has none.
    pub complex: i32,
}

impl Most {
    /// A kernel of real matrices only.
    const fn real(real: i32) -> Self {
        Most { real, complex: 0 }
    }
}

/// Whether matrices of that shape are computed here, by a kernel of that size, on a processor that there is code for.
pub fn suits<T: Vectorised>(shape: Matrices, most: Most) -> bool {
    let most = if T::COMPLEX { most.complex } else { most.real };
    shape.rows.max(shape.cols) <= most && Unit::best().is_some()
}
