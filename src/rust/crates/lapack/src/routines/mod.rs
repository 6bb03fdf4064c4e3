//! The routines as safe functions: slices in, the length contract checked before the call, so that
//! LAPACK's own error handler (which is R's, and jumps) is never reached.

/// Implements for each scalar of the linked LAPACK, in `sys`'s module of its letter.
macro_rules! for_each_scalar {
    ($implement:ident) => {
        #[cfg(not(feature = "promote-f32"))]
        $implement!(f32, s, real);
        $implement!(f64, d, real);
        #[cfg(not(feature = "promote-f32"))]
        $implement!(matrices::Complex<f32>, c, complex);
        $implement!(matrices::Complex<f64>, z, complex);
    };
}

/// `real` or `complex`: the first value or the second.
macro_rules! select {
    (real, $real:expr, $complex:expr) => {
        $real
    };
    (complex, $real:expr, $complex:expr) => {
        $complex
    };
}

/// Calls a routine that has arguments for real or for complex matrices only, which stand after
/// `real:` or `complex:`.
macro_rules! call {
    ($kind:ident, $routine:expr, { $($args:tt)* }) => {
        call!(@ $kind, $routine, [] $($args)*)
    };
    (@ $kind:ident, $routine:expr, [$($done:expr,)*]) => {
        $routine($($done),*)
    };
    (@ real, $routine:expr, [$($done:tt)*] complex: $arg:expr, $($rest:tt)*) => {
        call!(@ real, $routine, [$($done)*] $($rest)*)
    };
    (@ complex, $routine:expr, [$($done:tt)*] real: $arg:expr, $($rest:tt)*) => {
        call!(@ complex, $routine, [$($done)*] $($rest)*)
    };
    (@ $kind:ident, $routine:expr, [$($done:tt)*] $kind_of:ident: $arg:expr, $($rest:tt)*) => {
        call!(@ $kind, $routine, [$($done)* $arg,] $($rest)*)
    };
    (@ $kind:ident, $routine:expr, [$($done:tt)*] $arg:expr, $($rest:tt)*) => {
        call!(@ $kind, $routine, [$($done)* $arg,] $($rest)*)
    };
}

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

use crate::sys::Int;
use crate::workspace::Kept;
use matrices::{Complex, Element};
use std::cell::Cell;
use std::ffi::c_char;
use std::thread::LocalKey;

pub use eig::Eig;
pub use eigh::Eigh;
pub use gesvd::QrSvd;
pub use lu::Lu;
pub use pivoted::Pivoted;
pub use qr::Qr;
pub use reduce::Reduce;
pub use schur::Schur;
pub use solve::Solve;
pub use svd::Svd;

/// An element type in which threads keep workspaces.
pub trait Worked: Element {
    /// What this thread keeps of its last workspace.
    fn kept() -> &'static LocalKey<Cell<Kept<Self>>>;
}

macro_rules! worked {
    ($($scalar:ty),*) => {$(
        impl Worked for $scalar {
            fn kept() -> &'static LocalKey<Cell<Kept<Self>>> {
                thread_local! {
                    static KEPT: Cell<Kept<$scalar>> = const { Cell::new((Vec::new(), Vec::new(), Vec::new())) };
                }
                &KEPT
            }
        }
    )*};
}
worked!(f32, f64, Complex<f32>, Complex<f64>);

/// All routines.
pub trait Routines:
    Worked + Lu + Qr + Pivoted + Svd + QrSvd + Eigh + Eig + Schur + Solve + Reduce
{
}

impl<T> Routines for T where
    T: Element + Lu + Qr + Pivoted + Svd + QrSvd + Eigh + Eig + Schur + Solve + Reduce
{
}

/// The rows that a block of LAPACK's has at most, for workspace that lets it use them.
const BLOCK: i128 = 64;

/// A CHARACTER of one letter.
fn letter(ascii: &u8) -> *const c_char {
    std::ptr::from_ref(ascii).cast()
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

/// A size that LAPACK gives as a number of its own precision, which may have lost the last digits:
/// rounded up.
fn told<T: Element>(size: T) -> i128 {
    let size = size.re_f64();
    let slack = if size > 16_777_215.0 {
        size * 2e-7
    } else {
        0.0
    };
    (size + slack).ceil() as i128
}
