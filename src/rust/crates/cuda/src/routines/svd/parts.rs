//! The results of a decomposition.

use crate::memory::MutMatrices;
use crate::{DeviceSliceMut, Element};
use matrices::{Matrices, Vectors};
use xla_ffi::Result;

/// The results of a decomposition. `v` is `V` or `Vᴴ`, as the routine says.
pub struct Parts<'m, T: Element> {
    /// Singular values, descending.
    pub s: DeviceSliceMut<'m, T::Real>,
    /// Left singular vectors.
    pub u: DeviceSliceMut<'m, T>,
    /// Right singular vectors.
    pub v: DeviceSliceMut<'m, T>,
}

impl<T: Element> Parts<'_, T> {
    /// The same, for a while.
    #[must_use]
    pub fn reborrow(&mut self) -> Parts<'_, T> {
        Parts {
            s: self.s.reborrow(),
            u: self.u.reborrow(),
            v: self.v.reborrow(),
        }
    }

    pub(super) fn matrices(&mut self, shape: Matrices, vectors: Vectors) -> Result<Places<'_>> {
        let (m, n, k) = shape.sizes();
        let (columns, rows) = vectors.counts(shape.rows, shape.cols);
        Ok(Places {
            s: self.s.matrices("s", shape.count, k)?,
            u: self.u.matrices("u", shape.count, m * columns as usize)?,
            v: self.v.matrices("v", shape.count, rows as usize * n)?,
        })
    }
}

/// What a routine is given.
pub struct Operands<'m, T: Element> {
    /// The matrices, which are overwritten.
    pub a: DeviceSliceMut<'m, T>,
    /// The results.
    pub parts: Parts<'m, T>,
    /// One number for each matrix.
    pub info: DeviceSliceMut<'m, i32>,
}

impl<T: Element> Operands<'_, T> {
    /// The matrices, their results and infos.
    pub(super) fn matrices(
        &mut self,
        shape: Matrices,
        vectors: Vectors,
    ) -> Result<(MutMatrices<'_>, Places<'_>, MutMatrices<'_>)> {
        Ok((
            self.a.matrices("a", shape.count, shape.elements())?,
            self.parts.matrices(shape, vectors)?,
            self.info.matrices("info", shape.count, 1)?,
        ))
    }
}

/// The results' memory, compared with the shape.
pub(super) struct Places<'m> {
    pub(super) s: MutMatrices<'m>,
    pub(super) u: MutMatrices<'m>,
    pub(super) v: MutMatrices<'m>,
}

/// All singular vectors, or the first ones.
pub(super) fn kind(full: bool) -> Vectors {
    if full {
        Vectors::Full
    } else {
        Vectors::Thin
    }
}
