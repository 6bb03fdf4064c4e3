//! How two parts of an upper bidiagonal matrix become one (Gu and Eisenstat, A divide-and-conquer algorithm for the
//! bidiagonal SVD, SIAM J. Matrix Anal. Appl. 16, 1995). Between them is a row that belongs to neither, so the upper
//! part has one more column than rows, as has the lower one unless it is the matrix's last. In the basis of their
//! singular vectors the matrix is diagonal but for that row, `z`; the right singular vectors without a singular value
//! are rotated so that only one of them takes part.
//!
//! What belongs to that row has the column of its number in both bases, and the vector that is left the last one.

use super::deflate::{ascending, tolerance, Basis, Deflated, MOST};
use super::near::negligible;
use crate::lanes::{Float, Lanes};

/// The rows of a merge.
#[derive(Clone, Copy)]
pub(super) struct Torn {
    pub(super) start: usize,
    /// The first row after the one between the parts.
    pub(super) cut: usize,
    /// After the last column.
    pub(super) end: usize,
    /// The number of the row between the parts, counted from `start`.
    pub(super) middle: usize,
    /// Singular values.
    pub(super) size: usize,
    /// The diagonal element of the row, and the one right of it.
    pub(super) row: [f64; 2],
}

impl Torn {
    /// Of a matrix with that diagonal and those elements right of it.
    #[inline(always)]
    pub(super) fn of<T: Float>((start, cut, end): (usize, usize, usize), d: &[T], e: &[T]) -> Self {
        Torn {
            start,
            cut,
            end,
            middle: cut - 1 - start,
            size: triplets(start, end, d.len()),
            row: [d[cut - 1].f64(), e[cut - 1].f64()],
        }
    }

    /// The row in the basis of the right singular vectors, which stand `step` numbers apart and have their elements before
    /// the cut and after it at those places. Returns the cosine and sine of the rotation between the vectors without a
    /// singular value, if there are two.
    #[inline(always)]
    pub(super) fn row<T: Float>(
        &self,
        z: &mut [T],
        (vectors, step, [upper, lower]): (&[T], usize, [usize; 2]),
    ) -> Option<(f64, f64)> {
        let [before, after] = self.row;
        for (c, z) in z.iter_mut().enumerate() {
            let column = &vectors[c * step..];
            *z = if c < self.middle {
                T::of(before * column[upper].f64())
            } else {
                T::of(after * column[lower].f64())
            };
        }
        let x = before * vectors[self.middle * step + upper].f64();
        let wide = self.start + self.size < self.end;
        if !wide {
            z[self.middle] = T::of(x);
            return None;
        }
        let y = after * vectors[self.size * step + lower].f64();
        let largest = x.abs().max(y.abs());
        if largest == 0.0 {
            z[self.middle] = T::of(0.0);
            return None;
        }
        let (c, s) = (x / largest, y / largest);
        let size = (c * c + s * s).sqrt();
        z[self.middle] = T::of(size * largest);
        Some((c / size, s / size))
    }

    /// Turns the right singular vectors of a basis as the row needs it, whose element in the middle is not negative then.
    #[inline(always)]
    pub(super) fn turn<V: Lanes>(
        &self,
        z: &mut [V::Float],
        rotation: Option<(f64, f64)>,
        basis: &mut Basis<'_, V>,
    ) {
        if let Some(rotation) = rotation {
            basis.rotate((self.middle, self.size), rotation);
        }
        let z = &mut z[self.middle];
        if z.f64() < 0.0 {
            *z = V::Float::of(-z.f64());
            basis.negate(self.middle);
        }
    }

    /// Which columns take part: as [`Deflated::find`], where that of the middle row always does, and is the first one.
    /// Where it is the only one, all is done.
    #[inline(always)]
    pub(super) fn find<V: Lanes>(
        &self,
        (d, z): (&mut [V::Float], &mut [V::Float]),
        order: &mut [u16],
        bases: &mut [Basis<'_, V>],
        columns: &mut Deflated,
    ) {
        let middle = self.middle;
        d[middle] = V::Float::of(0.0);
        let tolerance = tolerance(d, z).max(negligible::<V::Float>());
        let (upper, lower) = order.split_at_mut(middle);
        let lower = &mut lower[1..];
        for number in &mut *lower {
            *number += middle as u16 + 1;
        }
        let mut sorted = [0; MOST];
        ascending(d, (upper, lower), &mut sorted);
        columns.keep(middle as u16);
        let sorted = &sorted[..self.size - 1];
        columns.find((&mut *d, &mut *z), (1.0, tolerance), sorted, bases);
        match columns.kept() {
            [_, second, ..] => {
                // Neither the pole at 0 and the next one nor `z` there may be too near to each other.
                let second = &mut d[usize::from(*second)];
                *second = V::Float::of(second.f64().max(tolerance / 2.0));
                z[middle] = V::Float::of(z[middle].f64().max(tolerance));
            }
            _ => {
                d[middle] = z[middle];
                ascending(d, (columns.kept(), columns.others()), order);
            }
        }
    }
}

/// The singular values of the rows from `start` to `end` of a matrix of `n` rows, of which the last one belongs to the
/// next part.
#[inline(always)]
pub(super) fn triplets(start: usize, end: usize, n: usize) -> usize {
    end - start - usize::from(end < n)
}

/// The rows between the `starts` become bidiagonal matrices, one in each lane: square ones, as the row that belongs to
/// the next part is 0 in its place. The first step of the QR algorithm then makes the last column 0 and leaves the left
/// vectors as they are there.
#[inline(always)]
pub(super) fn load<V: Lanes>(
    starts: &[usize],
    (d, e): (&[V::Float], &[V::Float]),
    (d_lanes, e_lanes): (&mut [V], &mut [V]),
) {
    let zero = d_lanes[0].like(0.0);
    d_lanes.fill(zero);
    e_lanes.fill(zero);
    for (lane, pair) in starts.windows(2).enumerate() {
        let (start, end) = (pair[0], pair[1]);
        let own = start..start + triplets(start, end, d.len());
        for (to, from) in d_lanes.iter_mut().zip(&d[own]) {
            to.as_mut_slice()[lane] = *from;
        }
        for (to, from) in e_lanes.iter_mut().zip(&e[start..end - 1]) {
            to.as_mut_slice()[lane] = *from;
        }
    }
}
