//! Eigenvalues of a batch of general matrices.

use cuda::guard::{Guard, NOT_FINITE};
use cuda::scratch::{bytes, Work};
use cuda::{device, handles, job, status, Batch, Element};
use std::ffi::c_void;
use std::mem::size_of;
use std::sync::{Mutex, PoisonError};
use xla_ffi::{Code, Complex, Error, Result};

/// An element type and the complex one of its precision.
pub trait General: Element {
    /// Of the eigenvalues.
    type Complex: Element;
}

macro_rules! general {
    ($($t:ty => $complex:ty),*) => {$(
        impl General for $t {
            type Complex = $complex;
        }
    )*};
}

general!(f32 => Complex<f32>, f64 => Complex<f64>, Complex<f32> => Complex<f32>, Complex<f64> => Complex<f64>);

/// Eigenvalues `w` (complex) and, if asked for, left and right eigenvectors `vl` and `vr` (real ones
/// in pairs of columns, as LAPACK has them); `a` is overwritten. `info` is 0, or positive where the
/// iteration did not converge or the matrix has NaN or an infinity; then the results are NaN.
///
/// # Errors
/// A library is missing or refuses, cuSOLVER before CUDA 12.6 among them; there is no memory to
/// work in.
pub(crate) fn geev<T: General>(
    batch: Batch<'_, '_>,
    (left, right): (bool, bool),
    a: *mut c_void,
    (w, vl, vr): (*mut c_void, *mut c_void, *mut c_void),
    info: *mut c_void,
) -> Result<()> {
    let (cx, shape) = batch;
    if shape.elements() == 0 || shape.count == 0 {
        return device::clear(cx.platform(), info, bytes(shape.count, size_of::<i32>())?);
    }
    let (guard, []) = Guard::new(batch, [])?;
    guard.scan::<T>(batch, a, shape.elements())?;
    guard.scrub::<T>(batch, a)?;
    decompose::<T>(batch, (left, right), a, (w, vl, vr), info)?;
    guard.mark(batch, info, NOT_FINITE)?;
    guard.poison::<T::Complex>(batch, w, shape.rows as usize, Some(info))?;
    let vectors = [(left, vl), (right, vr)];
    for (_, v) in vectors.into_iter().filter(|(wanted, _)| *wanted) {
        guard.poison::<T>(batch, v, shape.elements(), Some(info))?;
    }
    Ok(())
}

/// Two threads at once in `Xgeev` could make it fail before CUDA 13.0 Update 1 (its release notes).
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// One matrix after the other.
fn decompose<T: General>(
    (cx, shape): Batch<'_, '_>,
    (left, right): (bool, bool),
    a: *mut c_void,
    (w, vl, vr): (*mut c_void, *mut c_void, *mut c_void),
    info: *mut c_void,
) -> Result<()> {
    let solver = handles::solver(cx.platform())?;
    let library = solver.library;
    let (Some(size), Some(run)) = (library.xgeev_size, library.xgeev) else {
        let text = "this cuSOLVER has no cusolverDnXgeev: CUDA 12.6 or newer is needed";
        return Err(Error::new(Code::Unimplemented, text));
    };
    let (jobvl, jobvr, n) = (job(left), job(right), i64::from(shape.rows));
    let (a_type, w_type) = (T::DATA_TYPE, T::Complex::DATA_TYPE);
    let work = Work::ask(cx, "Xgeev_bufferSize", |device, host| {
        // SAFETY: only the sizes are written; the operands are not looked at.
        unsafe {
            size(
                solver.handle,
                solver.params,
                jobvl,
                jobvr,
                n,
                a_type,
                a,
                n,
                w_type,
                w,
                a_type,
                vl,
                n,
                a_type,
                vr,
                n,
                a_type,
                device,
                host,
            )
        }
    })?;
    let matrix = shape.elements() * size_of::<T>();
    let parts = [
        (a, matrix),
        (w, shape.rows as usize * size_of::<T::Complex>()),
        (vl, matrix),
        (vr, matrix),
        (info, size_of::<i32>()),
    ];
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    device::each(shape.count, parts, |[a, w, vl, vr, info]| {
        // SAFETY: a matrix of `n` rows, its eigenvalues, vectors and info, and as much to work in,
        // here and there, as the routine asked for.
        let answer = unsafe {
            run(
                solver.handle,
                solver.params,
                jobvl,
                jobvr,
                n,
                a_type,
                a,
                n,
                w_type,
                w,
                a_type,
                vl,
                n,
                a_type,
                vr,
                n,
                a_type,
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                info.cast(),
            )
        };
        status::cusolver("Xgeev", answer)
    })
}
