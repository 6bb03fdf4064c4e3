//! Eigenvalues of general matrices.

use crate::batched::one_by_one;
use crate::routines::order;
use crate::scratch::Work;
use crate::{handles, job, Batch, DeviceSliceMut, Element};
use std::sync::{Mutex, PoisonError};
use xla_ffi::{Code, Error, Result};

/// Two threads at once in `Xgeev` could make it fail before CUDA 13.0 Update 1 (its release notes).
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Eigenvalues `w` (complex) and, if asked for, left and right eigenvectors `vl` and `vr`, one matrix
/// after the other; `a` is overwritten. There is memory for both also where they are not asked for.
///
/// # Errors
/// The [module's](super); cuSOLVER is older than CUDA 12.6.
pub fn geev<T: Element>(
    (cx, shape): Batch<'_, '_>,
    (left, right): (bool, bool),
    mut a: DeviceSliceMut<'_, T>,
    mut w: DeviceSliceMut<'_, T::Complex>,
    (mut vl, mut vr): (DeviceSliceMut<'_, T>, DeviceSliceMut<'_, T>),
    mut info: DeviceSliceMut<'_, i32>,
) -> Result<()> {
    let (rows, elements) = (order(shape)?, shape.elements());
    let a = a.matrices("a", shape.count, elements)?;
    let w = w.matrices("w", shape.count, rows as usize)?;
    let vl = vl.matrices("vl", shape.count, elements)?;
    let vr = vr.matrices("vr", shape.count, elements)?;
    let info = info.matrices("info", shape.count, 1)?;
    let solver = handles::solver(cx.platform())?;
    let library = solver.library;
    let (Some(size), Some(run)) = (library.xgeev_size, library.xgeev) else {
        let text = "this cuSOLVER has no cusolverDnXgeev: CUDA 12.6 or newer is needed";
        return Err(Error::new(Code::Unimplemented, text));
    };
    let (jobvl, jobvr, n) = (job(left), job(right), i64::from(rows));
    let (a_type, w_type) = (T::DATA_TYPE, T::Complex::DATA_TYPE);
    let (handle, params) = (solver.handle, solver.params);
    let work = Work::ask(cx, "Xgeev_bufferSize", |device, host| {
        let (a, w, vl, vr) = (a.at(0), w.at(0), vl.at(0), vr.at(0));
        // SAFETY: only the sizes are written; the operands are not looked at.
        unsafe {
            size(
                handle, params, jobvl, jobvr, n, a_type, a, n, w_type, w, a_type, vl, n, a_type,
                vr, n, a_type, device, host,
            )
        }
    })?;
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    one_by_one(shape.count, "Xgeev", |i| {
        let (a, w, vl, vr, info) = (a.at(i), w.at(i), vl.at(i), vr.at(i), info.at(i).cast());
        let (space, bytes, host, more) = work.parts();
        // SAFETY: a matrix of `n` rows, its eigenvalues, vectors and info, and as much to work in,
        // here and there, as the routine asked for.
        unsafe {
            run(
                handle, params, jobvl, jobvr, n, a_type, a, n, w_type, w, a_type, vl, n, a_type,
                vr, n, a_type, space, bytes, host, more, info,
            )
        }
    })
}
