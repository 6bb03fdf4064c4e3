//! Singular values alone of one upper bidiagonal matrix, by divide and conquer: a merge asks for no more of the right
//! singular vectors than their first and last rows, and for nothing of the left ones.

use super::deflate::{Basis, Deflated};
use super::divide::{sort, widest, Cut, Parts};
use super::ends::{self, ENDS};
use super::torn::{load, triplets, Torn};
use crate::lanes::{Float, Lanes};
use crate::operands::Spectrum;
use crate::together::Together;

/// A matrix whose singular values are wanted, as [`Singular`](super::singular::Singular).
pub(super) struct Values<'a, V: Lanes> {
    pub(super) d: &'a mut [V::Float],
    pub(super) e: &'a [V::Float],
    pub(super) ends: &'a mut [V],
    pub(super) order: &'a mut [u16],
    pub(super) stride: usize,
    pub(super) room: &'a mut [V],
    pub(super) together: Together<'a>,
}

impl<V: Lanes> Values<'_, V> {
    /// False where something did not converge.
    #[inline(always)]
    pub(super) fn run(mut self) -> bool {
        Cut::of(self.d.len()).conquer::<V>(&mut self)
    }
}

impl<V: Lanes> Parts for Values<'_, V> {
    #[inline(always)]
    fn leaves(&mut self, starts: &[usize]) -> bool {
        let (total, n) = (self.d.len(), widest(starts));
        let (block, rest) = self.room.split_at_mut(ENDS * n);
        let (d, rest) = rest.split_at_mut(n);
        let e = &mut rest[..n];
        block.fill(block[0].like(0.0));
        for (lane, pair) in starts.windows(2).enumerate() {
            let one = V::Float::of(1.0);
            block[0].as_mut_slice()[lane] = one;
            block[(pair[1] - pair[0]) * ENDS - 1].as_mut_slice()[lane] = one;
        }
        load(starts, (self.d, self.e), (d, e));
        let mut failed = d[0];
        V::bdsqr(d, e, [(&mut [], 0), (&mut *block, ENDS)], &mut failed);
        let mut converged = true;
        for (lane, pair) in starts.windows(2).enumerate() {
            let (start, end) = (pair[0], pair[1]);
            converged &= failed.as_slice()[lane] == V::Float::of(0.0);
            for j in 0..end - start {
                let value = d[j].as_slice()[lane].f64();
                let sign = if value.is_sign_negative() { -1.0 } else { 1.0 };
                let to = self.ends[start + j].as_mut_slice();
                for (to, from) in to.iter_mut().zip(&block[j * ENDS..][..ENDS]) {
                    *to = V::Float::of(from.as_slice()[lane].f64() * sign);
                }
                if j < triplets(start, end, total) {
                    self.d[start + j] = V::Float::of(value.abs());
                }
            }
            let own = start..start + triplets(start, end, total);
            sort(&self.d[own.clone()], &mut self.order[own]);
        }
        converged
    }

    #[inline(always)]
    fn merge(&mut self, rows: (usize, usize, usize)) -> bool {
        let stride = self.stride;
        let torn = Torn::of(rows, self.d, self.e);
        let (start, middle, size) = (torn.start, torn.middle, torn.size);
        let ends = &mut self.ends[start..torn.end];
        let (d, order) = (
            &mut self.d[start..][..size],
            &mut self.order[start..][..size],
        );
        let (z, room) = self.room.split_at_mut(stride);
        let z = &mut V::flat_mut(z)[..size];
        let rotation = torn.row(z, (V::flat(ends), V::WIDTH, [1, 0]));
        for (c, ends) in ends.iter_mut().enumerate() {
            let at_cut = usize::from(c <= middle);
            ends.as_mut_slice()[at_cut] = V::Float::of(0.0);
        }
        let mut basis = Basis {
            q: &mut *ends,
            stride: 1,
            rows: 0..1,
        };
        torn.turn(z, rotation, &mut basis);
        let mut columns = Deflated::new(middle);
        torn.find((&mut *d, &mut *z), order, &mut [basis], &mut columns);
        if columns.kept().len() == 1 {
            return true;
        }
        let problem = (Spectrum::SingularValues, d, &*z, 1.0);
        let room = (stride, room);
        ends::merge(
            &mut ends[..size],
            problem,
            &columns,
            order,
            room,
            self.together,
        )
    }
}
