//! What a panel of reflections of both sides of a complex matrix leaves to be taken from it.

use super::planes::{along, both, conjugated, take, two_of};
use crate::lanes::Lanes;
use std::ops::Range;

/// What is still to be taken from a matrix: `v yᴴ + w uᴴ` of each reflection of a panel. The parts of all `v`, then those
/// of `w`; of `y`, then of `u`.
pub(super) struct Pending<'a, V> {
    pub(super) columns: &'a [V],
    pub(super) rows: &'a [V],
    pub(super) count: usize,
    pub(super) stride: usize,
    /// Of columns what is left, and of rows all.
    pub(super) vectors: Range<usize>,
    pub(super) wide: usize,
}

impl<V: Lanes> Pending<'_, V> {
    /// From column `j`, in the vectors that are left.
    #[inline(always)]
    pub(super) fn take_from(&self, [re, im]: [&mut [V]; 2], j: usize) {
        for k in 0..self.count {
            let factors = conjugated(two_of(self.rows, self.stride, k, 0..self.wide), j);
            let columns = two_of(self.columns, self.stride, k, self.vectors.clone());
            take([&mut *re, &mut *im], columns, factors);
        }
    }

    /// From the product of the matrix, transposed and conjugated, with `v`, and from its row `j`, conjugated.
    #[inline(always)]
    pub(super) fn take_from_rows(&self, v: &[V], j: usize, [product, row]: [&mut [V]; 2]) {
        let stride = self.stride;
        let which = (j + 1) / V::WIDTH..self.wide;
        let (re, im) = v.split_at(stride);
        let v = [&re[self.vectors.clone()], &im[self.vectors.clone()]];
        let row_j = j - self.vectors.start * V::WIDTH;
        for k in 0..self.count {
            let columns = two_of(self.columns, stride, k, self.vectors.clone());
            let rows = two_of(self.rows, stride, k, which.clone());
            take(
                both(product, stride, which.clone()),
                rows,
                along(v, columns),
            );
            let here = conjugated(columns, row_j);
            take(both(row, stride, which.clone()), rows, here);
        }
    }

    /// From the product of the matrix with `u`, which begins in vector `top`.
    #[inline(always)]
    pub(super) fn take_from_product(&self, u: &[V], top: usize, w: &mut [V]) {
        let stride = self.stride;
        let (re, im) = u.split_at(stride);
        let u = [&re[top..self.wide], &im[top..self.wide]];
        for k in 0..self.count {
            let factors = along(u, two_of(self.rows, stride, k, top..self.wide));
            let columns = two_of(self.columns, stride, k, self.vectors.clone());
            take(both(w, stride, self.vectors.clone()), columns, factors);
        }
    }
}
