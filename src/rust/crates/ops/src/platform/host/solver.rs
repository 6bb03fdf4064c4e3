//! The CPU as a [`Solver`].

use super::{xla_error, Changed, HostScalar};
use crate::eigh::host as eigh;
use crate::lu::host as lu;
use crate::platform::{Memory, Solver};
use crate::qr::host as qr;
use crate::svd::host as svd;
use lapack::filled;
use matrices::{Matrices, Triangle, Vectors};
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Host, Result};

/// Room for what the routines tell of each matrix, where nobody asks: of a few on the stack.
struct UnwantedInfo {
    few: [i32; 16],
    many: Vec<i32>,
    count: usize,
}

impl UnwantedInfo {
    fn new(shape: Matrices) -> Result<Self> {
        // There can be any number of matrices without elements.
        let count = if shape.elements() == 0 {
            0
        } else {
            shape.count
        };
        let few = [0; 16];
        let many = if count <= few.len() {
            Vec::new()
        } else {
            filled(count, 0).map_err(xla_error)?
        };
        Ok(UnwantedInfo { few, many, count })
    }

    fn as_mut_slice(&mut self) -> &mut [i32] {
        match self.few.get_mut(..self.count) {
            Some(few) => few,
            None => &mut self.many,
        }
    }
}

impl<T: HostScalar> Solver<T> for Host {
    type Real = T::Real;

    fn getrf(
        cx: &Cx<'_, Host>,
        shape: Matrices,
        a: &mut AnyBufferMut<'_>,
        pivots: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let (a, pivots) = (a.as_mut_slice::<T>()?, pivots.as_mut_slice::<i32>()?);
        lu::getrf(
            (cx, shape),
            Changed::in_place(a),
            pivots,
            UnwantedInfo::new(shape)?.as_mut_slice(),
        )
    }

    fn geqrf(
        cx: &Cx<'_, Host>,
        shape: Matrices,
        a: &mut AnyBufferMut<'_>,
        tau: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let (a, tau) = (a.as_mut_slice::<T>()?, tau.as_mut_slice::<T>()?);
        qr::geqrf((cx, shape), Changed::in_place(a), tau)
    }

    fn copy_columns(
        cx: &Cx<'_, Host>,
        shape: Matrices,
        from: &AnyBuffer<'_>,
        cols: i32,
        to: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        if cols == shape.cols {
            return Self::copy(cx, from, to);
        }
        let part = Matrices { cols, ..shape };
        if part.elements() == 0 {
            return Ok(());
        }
        let from = from.as_slice::<T>()?.chunks_exact(shape.elements());
        let to = to.as_mut_slice::<T>()?.chunks_exact_mut(part.elements());
        to.zip(from)
            .for_each(|(to, from)| to.copy_from_slice(&from[..part.elements()]));
        Ok(())
    }

    fn orgqr(
        cx: &Cx<'_, Host>,
        shape: Matrices,
        reflectors: usize,
        a: &mut AnyBufferMut<'_>,
        tau: &AnyBuffer<'_>,
    ) -> Result<()> {
        let (a, tau) = (a.as_mut_slice::<T>()?, tau.as_slice::<T>()?);
        qr::orgqr((cx, shape), reflectors, Changed::in_place(a), tau)
    }

    fn svd(
        cx: &Cx<'_, Host>,
        shape: Matrices,
        a: &AnyBuffer<'_>,
        u: &mut AnyBufferMut<'_>,
        s: &mut AnyBufferMut<'_>,
        vt: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let results = (
            s.as_mut_slice::<T::Real>()?,
            u.as_mut_slice::<T>()?,
            vt.as_mut_slice::<T>()?,
        );
        let mut info = UnwantedInfo::new(shape)?;
        svd::gesdd_of(
            (cx, shape),
            Vectors::Thin,
            a.as_slice::<T>()?,
            results,
            info.as_mut_slice(),
        )
    }

    fn eigh(
        cx: &Cx<'_, Host>,
        shape: Matrices,
        triangle: Triangle,
        a: &mut AnyBufferMut<'_>,
        w: &mut AnyBufferMut<'_>,
    ) -> Result<()> {
        let (a, w) = (a.as_mut_slice::<T>()?, w.as_mut_slice::<T::Real>()?);
        let mut info = UnwantedInfo::new(shape)?;
        eigh::syevd((cx, shape), true, triangle, a, w, info.as_mut_slice())
    }
}
