//! Reduction to tridiagonal form.

use crate::batched::one_by_one;
use crate::routines::order;
use crate::scratch::Elements;
use crate::{fill_mode, handles, Batch, DeviceSliceMut, Element};
use matrices::Triangle;
use xla_ffi::Result;

/// What is beside the matrix of reflectors.
pub struct Parts<'m, T: Element> {
    /// The diagonal.
    pub d: DeviceSliceMut<'m, T::Real>,
    /// The elements beside it.
    pub e: DeviceSliceMut<'m, T::Real>,
    /// The reflectors' factors.
    pub tau: DeviceSliceMut<'m, T>,
}

/// `Qᴴ A Q` tridiagonal: diagonals in `d` and `e`, reflectors in `a` and `tau`; `info` as LAPACK has
/// it.
///
/// # Errors
/// The [module's](super).
pub fn sytrd<T: Element>(
    (cx, shape): Batch<'_, '_>,
    triangle: Triangle,
    mut a: DeviceSliceMut<'_, T>,
    Parts {
        mut d,
        mut e,
        mut tau,
    }: Parts<'_, T>,
    mut info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let (n, uplo, count) = (order(shape)?, fill_mode(triangle), shape.count);
    let beside = (n as usize).saturating_sub(1);
    let a = a.matrices("a", count, shape.elements())?;
    let d = d.matrices("d", count, n as usize)?;
    let e = e.matrices("e", count, beside)?;
    let tau = tau.matrices("tau", count, beside)?;
    let info = info.matrices("info", count, 1)?;
    let solver = handles::solver(cx.platform())?;
    let work = Elements::ask::<T>(cx, "sytrd_bufferSize", |length| {
        let (a, d, e, tau) = (a.at(0), d.at(0), e.at(0), tau.at(0));
        // SAFETY: only the length is written; the operands are not looked at.
        unsafe {
            (solver.library.sytrd_size[T::KIND])(solver.handle, uplo, n, a, n, d, e, tau, length)
        }
    })?;
    let handle = solver.handle;
    one_by_one(count, "sytrd", |i| {
        let (a, d, e, tau, info) = (a.at(i), d.at(i), e.at(i), tau.at(i), info.at(i).cast());
        let (space, length, _) = work.parts();
        // SAFETY: a matrix of `n` rows, its diagonals, factors and info, as much to work in as the
        // routine asked for.
        unsafe {
            (solver.library.sytrd[T::KIND])(handle, uplo, n, a, n, d, e, tau, space, length, info)
        }
    })
}
