//! The routines as safe functions: slices in, the length contract checked before the call, so that
//! LAPACK's own error handler (R's jumps, others print or end the process) is never reached. Neither rows nor columns
//! may be 0, and what is read must be finite. Where a routine has an `info`, that is returned, positive
//! where there is no result.

mod eig;
mod eigh;
mod gesvd;
mod lu;
mod pivoted;
mod qr;
mod reduce;
mod schur;
mod solve;
mod svd;

pub use eig::{geev, geev_sizes, unpack};
pub use eigh::{syevd, syevd_sizes};
pub use gesvd::{gesvd, gesvd_sizes};
pub use lu::getrf;
pub use pivoted::{geqp3, geqp3_sizes};
pub use qr::{geqrf, orgqr, qr_sizes};
pub use reduce::{gehrd, ormqr, reduce_sizes, sytrd};
pub use schur::{gees, gees_sizes};
pub use solve::{gtsv, potrf, trsm};
pub(crate) use svd::gesdd_real;
pub use svd::{gesdd, gesdd_sizes};

use crate::sys::{Int, Routines};
use matrices::Element;

/// The rows that a block of LAPACK's has at most, for workspace that lets it use them.
const BLOCK: i128 = 64;

/// The letter that asks for vectors or for none.
fn job(vectors: bool) -> u8 {
    if vectors {
        b'V'
    } else {
        b'N'
    }
}

/// Elements of an `m` × `n` matrix, neither of which is negative.
fn elements(m: Int, n: Int) -> usize {
    usize::try_from(m)
        .ok()
        .zip(usize::try_from(n).ok())
        .and_then(|(m, n)| m.checked_mul(n))
        .unwrap_or_else(|| panic!("no matrix has {m} x {n} elements"))
}

/// The length of a workspace as LAPACK takes it.
fn length<T>(work: &[T]) -> Int {
    Int::try_from(work.len()).unwrap_or(Int::MAX)
}

/// A length of workspace as LAPACK gives it. Those who ask do so in double precision, which has all
/// digits of it.
fn best_length<T: Element>(answer: T) -> i128 {
    answer.re_f64().ceil() as i128
}
