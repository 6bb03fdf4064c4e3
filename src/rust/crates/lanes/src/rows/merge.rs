//! Two eigendecompositions become that of one tridiagonal matrix, which is a diagonal and a matrix of rank one in the
//! basis of their eigenvectors.

use super::deflate::{tolerance, Basis, Deflated, Kind};
use super::product::room;
use super::share::share;
use super::solved::{join, of_none, Solved, TERM};
use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Product, Room, Spectrum, Spread};
use crate::together::Together;
use std::ops::Range;

/// The matrices from row `start` to `cut` and from there to `end`.
pub(crate) struct Merge<'a> {
    pub(crate) start: usize,
    pub(crate) cut: usize,
    pub(crate) end: usize,
    pub(crate) together: Together<'a>,
}

impl Merge<'_> {
    /// See [`conquer`](super::conquer::conquer). False where a root was not found.
    #[inline(always)]
    pub(crate) fn run<V: Lanes>(
        &self,
        (d, e): (&mut [V::Float], &[V::Float]),
        q: &mut [V],
        order: &mut [u16],
        room: &mut Room<'_, V>,
    ) -> bool {
        let stride = room.stride;
        let (size, upper) = (self.end - self.start, self.cut - self.start);
        let q = &mut q[self.start * stride..self.end * stride];
        let d = &mut d[self.start..self.end];
        let order = &mut order[self.start..self.end];
        let beside = e[self.cut - 1].f64();
        let (z, rest) = room.rest.split_at_mut(stride);
        let z = &mut V::flat_mut(z)[..size];
        self.rows_at_the_cut(q, stride, beside, z);
        join(d, upper, order);
        let rho = 2.0 * beside.abs();
        let rows = self.start / V::WIDTH..self.end.div_ceil(V::WIDTH);
        let mut columns = Deflated::new(upper);
        let basis = Basis {
            q: &mut *q,
            stride,
            rows: rows.clone(),
        };
        let tolerance = tolerance(d, z);
        columns.find((d, z), (rho, tolerance), order, &mut [basis]);
        let count = columns.kept().len();
        if count == 0 {
            return true;
        }
        let (vectors, others) = room.vectors.split_at_mut(count * stride);
        for (to, &from) in others.chunks_exact_mut(stride).zip(columns.others()) {
            let from = &q[usize::from(from) * stride..][..stride];
            to[rows.clone()].copy_from_slice(&from[rows.clone()]);
        }
        let packed = &mut room.packed[..count * stride];
        let parts = (&mut *packed, &mut *vectors);
        let kinds = self.decompose((d, order), (z, rho), &columns, (q, stride), parts, rest);
        let Some(kinds) = kinds else {
            return false;
        };
        let (kept, behind) = q.split_at_mut(count * stride);
        let [upper, all, lower] = kinds;
        let which = [0..upper + all, upper..upper + all + lower];
        self.multiply(kept, stride, which, (packed, vectors), room.work);
        for (to, from) in behind
            .chunks_exact_mut(stride)
            .zip(others.chunks_exact(stride))
        {
            to[rows.clone()].copy_from_slice(&from[rows.clone()]);
        }
        true
    }

    /// The last row of the upper eigenvectors and the first one of the lower ones, which have a norm of 1 together.
    #[inline(always)]
    fn rows_at_the_cut<V: Lanes>(&self, q: &[V], stride: usize, beside: f64, z: &mut [V::Float]) {
        let upper = self.cut - self.start;
        let half = std::f64::consts::FRAC_1_SQRT_2;
        for (c, (z, column)) in z.iter_mut().zip(q.chunks_exact(stride)).enumerate() {
            let column = V::flat(column);
            *z = if c < upper {
                V::Float::of(column[self.cut - 1].f64() * half)
            } else {
                V::Float::of(column[self.cut].f64() * half.copysign(beside))
            };
        }
    }

    /// The eigenvalues become the first of `d`, before those of columns that stay, and `order` follows. The columns that
    /// take part become `packed`, by kinds, and the negative eigenvectors in their basis `vectors`. Returns how many
    /// columns there are of each kind, if all roots are found.
    #[inline(always)]
    fn decompose<V: Lanes>(
        &self,
        (d, order): (&mut [V::Float], &mut [u16]),
        (z, rho): (&[V::Float], f64),
        columns: &Deflated,
        (q, stride): (&[V], usize),
        (packed, vectors): (&mut [V], &mut [V]),
        rest: &mut [V],
    ) -> Option<[usize; 3]> {
        let (by_kind, rest) = rest.split_at_mut(2 * stride);
        let spectrum = Spectrum::Eigenvalues;
        let solved = Solved::of(spectrum, (d, z, rho), columns, stride, rest, self.together)?;
        let len = solved.weights.len();
        let (poles, z) = of_none(by_kind, stride, len);
        let rows = self.start / V::WIDTH..self.end.div_ceil(V::WIDTH);
        let (mut kinds, mut to) = ([0; 3], 0);
        for (kind, count) in [Kind::Upper, Kind::All, Kind::Lower]
            .into_iter()
            .zip(&mut kinds)
        {
            for (at, &from) in columns.kept().iter().enumerate() {
                if columns.kind(from) == kind {
                    V::flat_mut(poles)[to] = solved.poles[at];
                    V::flat_mut(z)[to] = V::flat(solved.weights)[at];
                    let from = &q[usize::from(from) * stride..][..stride];
                    packed[to * stride..][rows.clone()].copy_from_slice(&from[rows.clone()]);
                    (to, *count) = (to + 1, *count + 1);
                }
            }
        }
        let of = &Spread {
            poles,
            z,
            roots: solved.roots,
            left: None,
        };
        let terms = TERM * to * to;
        share(
            self.together,
            terms,
            vectors,
            stride,
            &mut [],
            &|at, part, _| {
                V::spread(part, stride, of, at);
            },
        );
        solved.finish(d, columns, order);
        Some(kinds)
    }

    /// The new basis: negative products of the columns `packed` with `vectors`. Before the cut the columns of the first
    /// range are not 0, after it those of the second.
    #[inline(always)]
    pub(super) fn multiply<V: Lanes>(
        &self,
        columns: &mut [V],
        stride: usize,
        [before, after]: [Range<usize>; 2],
        (packed, vectors): (&[V], &[V]),
        work: &mut [V],
    ) {
        let (start, cut) = (self.start / V::WIDTH, self.cut / V::WIDTH);
        let end = self.end.div_ceil(V::WIDTH);
        let terms = (cut - start) * before.len() + (end - cut) * after.len();
        let work = room(work, stride, before.len().max(after.len()));
        let halves = [(start..cut, before), (cut..end, after)];
        let operations = 2 * V::WIDTH * terms * (columns.len() / stride);
        let zero = columns[0].like(0.0);
        share(
            self.together,
            operations,
            columns,
            stride,
            work,
            &|at, part, work| {
                for column in part.chunks_exact_mut(stride) {
                    column[start..end].fill(zero);
                }
                for (rows, which) in &halves {
                    let step = Product {
                        stride,
                        rows: rows.clone(),
                        known: &packed[which.start * stride..which.end * stride],
                        first: (0, 0),
                        factors: Factors::Apart(&vectors[at * stride..], stride, which.start),
                    };
                    V::product(part, &step, work);
                }
            },
        );
    }
}
