//! The GPU.

use super::{Memory, Solver};
use crate::eigh::cuda as eigh;
use crate::lu::cuda as lu;
use crate::qr::cuda as qr;
use crate::svd::cuda as svd;
use cuda::{device, scratch, Cuda, Element};
use matrices::{Matrices, Triangle};
use std::borrow::Cow;
use std::mem::size_of;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Result};

impl Memory for Cuda {
    fn copy(cx: &Cx<'_, Cuda>, from: &AnyBuffer<'_>, to: &mut AnyBufferMut<'_>) -> Result<()> {
        to.expect_dtype(from.dtype())?;
        to.expect_dims(from.dims())?;
        let (bytes, data) = (from.byte_len()?, to.as_mut_ptr());
        device::copy(cx.platform(), data, from.as_ptr(), bytes)
    }

    fn to_host<'f>(cx: &Cx<'_, Cuda>, from: &AnyBuffer<'f>) -> Result<Cow<'f, [u8]>> {
        device::read(cx.platform(), from.as_ptr(), from.byte_len()?).map(Cow::Owned)
    }
}

impl<T: Element> Solver<T> for Cuda {
    type Real = T::Real;

    fn getrf(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        a: &mut AnyBufferMut<'_>,
        pivots: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        lu::getrf::<T>((cx, shape), a.as_mut_ptr(), pivots.as_mut_ptr(), None)
    }

    fn geqrf(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        a: &mut AnyBufferMut<'_>,
        tau: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        qr::geqrf::<T>((cx, shape), a.as_mut_ptr(), tau.as_mut_ptr())
    }

    fn copy_columns(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        from: &AnyBuffer<'_>,
        cols: i32,
        to: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let part = Matrices { cols, ..shape };
        if cols == shape.cols {
            let size = scratch::bytes(shape.elements(), size_of::<T>())?;
            let all = scratch::bytes(size, shape.count)?;
            return device::copy(cx.platform(), to.as_mut_ptr(), from.as_ptr(), all);
        }
        svd::take_columns::<T>((cx, part), to.as_mut_ptr(), from.as_ptr(), shape.elements())
    }

    fn orgqr(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        reflectors: usize,
        a: &mut AnyBufferMut<'_>,
        tau: &AnyBuffer<'_>,
    ) -> Result<()> {
        qr::orgqr::<T>((cx, shape), reflectors, a.as_mut_ptr(), tau.as_ptr())
    }

    fn svd(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        a: &AnyBuffer<'_>,
        u: &mut AnyBufferMut<'_>,
        s: &mut AnyBufferMut<'_>,
        vt: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let results = (s.as_mut_ptr(), u.as_mut_ptr(), vt.as_mut_ptr());
        svd::thin::<T>((cx, shape), a.as_ptr(), results.0, results.1, results.2)
    }

    fn eigh(
        cx: &Cx<'_, Cuda>,
        shape: Matrices,
        triangle: Triangle,
        a: &mut AnyBufferMut<'_>,
        w: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let how = (eigh::Method::Default, triangle);
        eigh::syevd::<T>((cx, shape), how, a.as_mut_ptr(), w.as_mut_ptr(), None)
    }
}
