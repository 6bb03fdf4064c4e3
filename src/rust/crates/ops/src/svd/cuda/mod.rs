//! Singular values of a batch.

mod gesvd;
mod gesvdj;
mod gesvdp;
mod jacobi;
mod thin;

use super::SvdSolver;
pub(crate) use gesvd::gesvd;
pub(crate) use gesvdj::gesvdj;
pub(crate) use gesvdp::gesvdp;
use thin::thin;

use cuda::guard::{Guard, NOT_FINITE};
use cuda::scratch::bytes;
use cuda::{columns, device, Batch, Cuda, Element};
use matrices::{Matrices, Vectors};
use std::ffi::c_void;
use std::mem::size_of;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Result};

/// The results of a decomposition. `v` is `V` or `Vᴴ`, as the routine says.
#[derive(Clone, Copy)]
pub struct Parts {
    /// Singular values, descending.
    pub s: *mut c_void,
    /// Left singular vectors.
    pub u: *mut c_void,
    /// Right singular vectors.
    pub v: *mut c_void,
    /// 0, or positive where there is no result.
    pub info: *mut c_void,
}

/// Does `decompose` with what the policy asks for before and after it.
fn guarded<T: Element>(
    batch: Batch<'_, '_>,
    vectors: Vectors,
    a: *mut c_void,
    parts: Parts,
    decompose: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let (cx, shape) = batch;
    let (m, n, count) = (shape.rows as usize, shape.cols as usize, shape.count);
    let (columns, rows) = counts(shape, vectors);
    if m == 0 || n == 0 || count == 0 {
        let side = |order: i32, vectors: usize| Matrices {
            rows: order,
            cols: vectors as i32,
            count,
        };
        // A matrix without elements has the first unit vectors for singular vectors.
        if columns * m > 0 {
            columns::fill_identity::<T>((cx, side(shape.rows, columns)), parts.u)?;
        }
        if rows * n > 0 {
            columns::fill_identity::<T>((cx, side(shape.cols, rows)), parts.v)?;
        }
        return device::clear(cx.platform(), parts.info, bytes(count, size_of::<i32>())?);
    }
    let (guard, []) = Guard::new(batch, [])?;
    guard.scan::<T>(batch, a, shape.elements())?;
    guard.scrub::<T>(batch, a)?;
    decompose()?;
    guard.mark(batch, parts.info, NOT_FINITE)?;
    let info = Some(parts.info);
    guard.poison::<T::Real>(batch, parts.s, m.min(n), info)?;
    guard.poison::<T>(batch, parts.u, m * columns, info)?;
    guard.poison::<T>(batch, parts.v, rows * n, info)
}

/// Columns of `U` and of `V`.
fn counts(shape: Matrices, vectors: Vectors) -> (usize, usize) {
    let (columns, rows) = vectors.counts(shape.rows, shape.cols);
    (columns as usize, rows as usize)
}

/// Calls `f` with each matrix and its parts.
fn each<T: Element>(
    shape: Matrices,
    vectors: Vectors,
    a: *mut c_void,
    Parts { s, u, v, info }: Parts,
    f: impl Fn(*mut c_void, Parts) -> Result<()>,
) -> Result<()> {
    let (m, n) = (shape.rows as usize, shape.cols as usize);
    let (columns, rows) = counts(shape, vectors);
    let element = size_of::<T>();
    let parts = [
        (a, shape.elements() * element),
        (s, m.min(n) * size_of::<T::Real>()),
        (u, m * columns * element),
        (v, n * rows * element),
        (info, size_of::<i32>()),
    ];
    device::each(shape.count, parts, |[a, s, u, v, info]| {
        f(a, Parts { s, u, v, info })
    })
}

impl<T: Element> SvdSolver<T> for Cuda {
    type Real = T::Real;

    fn svd(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        a: &AnyBuffer<'_>,
        u: &mut AnyBufferMut<'_>,
        s: &mut AnyBufferMut<'_>,
        vt: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let results = (s.as_mut_ptr(), u.as_mut_ptr(), vt.as_mut_ptr());
        let a = device::argument(a)?;
        thin::<T>((cx, shape), a, results.0, results.1, results.2)
    }
}
