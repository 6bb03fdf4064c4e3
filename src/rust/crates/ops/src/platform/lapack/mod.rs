//! The CPU's linear algebra: LAPACK, as linked by R or, for tests and the ops library, found on
//! the system.

mod batch;
pub mod cholesky;
pub mod eig;
pub mod eigh;
pub mod gesvd;
pub mod lu;
mod operand;
pub mod pivoted;
mod precision;
pub mod qr;
pub mod reduce;
mod room;
mod routines;
pub mod schur;
pub mod small;
mod solver;
mod stack;
pub mod svd;
mod sys;
pub mod triangular;
pub mod tridiagonal;
mod workspace;

use super::{Matrices, Memory};
use std::borrow::Cow;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Error, Host, Result};

pub use operand::Changed;
pub use precision::Precision;
pub use routines::{Transpose, Triangle, Vectors};

impl Memory for Host {
    fn copy(_: &Cx<'_, Host>, from: &AnyBuffer<'_>, to: &mut AnyBufferMut<'_>) -> Result<()> {
        to.copy_from(from)
    }

    fn to_host<'f>(_: &Cx<'_, Host>, from: &AnyBuffer<'f>) -> Result<Cow<'f, [u8]>> {
        from.as_bytes().map(Cow::Borrowed)
    }
}

/// What a batch's routine needs to know of XLA and of its matrices.
type Batch<'a> = (&'a xla_ffi::Context<'a>, Matrices);

/// LAPACK's own answer to a matrix that is not finite, where a routine looks.
const NOT_FINITE: i32 = -4;

/// Without an early way out, so that it vectorises: the usual matrix is finite to its end.
#[inline(never)] // once for each dtype
fn all_finite<T: Precision>(values: &[T]) -> bool {
    values.iter().fold(true, |all, v| all & v.is_finite())
}

/// Whether the triangle of a column-major matrix of `n` rows is finite.
fn triangle_finite<T: Precision>(matrix: &[T], n: usize, triangle: Triangle) -> bool {
    let columns = matrix.chunks_exact(n.max(1)).enumerate();
    columns.fold(true, |all, (j, column)| {
        let part = match triangle {
            Triangle::Lower => &column[j..],
            Triangle::Upper => &column[..=j],
        };
        all & all_finite(part)
    })
}

/// Each column-major matrix of `rows` rows becomes the identity, cut or continued with zeros.
fn fill_identity<T: Precision>(matrices: &mut [T], rows: usize, cols: usize) {
    matrices.fill(T::ZERO);
    for matrix in matrices.chunks_exact_mut((rows * cols).max(1)) {
        matrix
            .iter_mut()
            .step_by(rows + 1)
            .take(rows.min(cols))
            .for_each(|diagonal| *diagonal = T::ONE);
    }
}

/// Has a routine leave a form in `a` and the factors of its reflectors in `tau`; of a matrix with NaN
/// or an infinity both become NaN.
fn reflect<T: Precision>(
    name: &str,
    a: &mut [T],
    tau: &mut [T],
    routine: impl FnOnce(&mut [T::Work], &mut [T::Work]) -> i32,
) -> Result<()> {
    if !all_finite(a) {
        a.fill(T::NAN);
        tau.fill(T::NAN);
        return Ok(());
    }
    let (mut a, mut tau) = (T::stage(a)?, T::stage(tau)?);
    refuse_negative(routine(&mut a, &mut tau), name)
}

/// A negative `info` blames an argument of ours.
fn refuse_negative(info: i32, routine: &str) -> Result<()> {
    if info >= 0 {
        return Ok(());
    }
    Err(refused(info.unsigned_abs(), routine))
}

#[cold]
#[inline(never)]
fn refused(at: u32, routine: &str) -> Error {
    Error::internal(format!("LAPACK's {routine} refused its argument {at}"))
}
