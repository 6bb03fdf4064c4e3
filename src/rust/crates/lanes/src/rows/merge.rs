//! Two eigendecompositions become that of one tridiagonal matrix, which is a diagonal and a matrix of rank one in the
//! basis of their eigenvectors.

use super::deflate::{ascending, Deflated, Kind, MOST};
use super::share::share;
use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Product, Roots, Secular};
use crate::together::Together;

/// Operations that a term of the secular equation is worth, over all steps.
const TERM: usize = 60;

/// What merges work in. A matrix is `n` columns of `stride` vectors, or more.
pub(crate) struct Room<'a, V> {
    pub(crate) stride: usize,
    /// A matrix, of columns in the order that products have them.
    pub(crate) packed: &'a mut [V],
    /// A matrix, of eigenvectors of what is left of the problem, and behind these of columns that stay.
    pub(crate) vectors: &'a mut [V],
    /// The other [`vectors`](super::conquer::vectors).
    pub(crate) rest: &'a mut [V],
    /// What products work in.
    pub(crate) work: &'a mut [V],
}

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
        for number in &mut order[upper..] {
            *number += upper as u16;
        }
        let mut sorted = [0; MOST];
        ascending(d, order.split_at(upper), &mut sorted);
        order.copy_from_slice(&sorted[..size]);
        let rho = 2.0 * beside.abs();
        let rows = self.start / V::WIDTH..self.end.div_ceil(V::WIDTH);
        let mut columns = Deflated::new(upper);
        let place = (&mut *q, stride, rows.clone());
        columns.find((d, z), rho, &sorted[..size], place);
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
        let equation = (&*z, rho);
        let Some(kinds) = self.decompose(d, equation, &columns, (q, stride), (packed, vectors), rest)
        else {
            return false;
        };
        let (kept, behind) = q.split_at_mut(count * stride);
        self.multiply(kept, stride, kinds, (packed, vectors), room.work);
        for (to, from) in behind.chunks_exact_mut(stride).zip(others.chunks_exact(stride)) {
            to[rows.clone()].copy_from_slice(&from[rows.clone()]);
        }
        for (at, to) in sorted[..size].iter_mut().enumerate() {
            *to = at as u16;
        }
        ascending(d, sorted[..size].split_at(count), order);
        true
    }

    /// The last row of the upper eigenvectors and the first one of the lower ones, which have a norm of 1 together.
    #[inline(always)]
    fn rows_at_the_cut<V: Lanes>(
        &self,
        q: &[V],
        stride: usize,
        beside: f64,
        z: &mut [V::Float],
    ) {
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

    /// The eigenvalues become the first of `d`, before those of columns that stay; the columns that take part become
    /// `packed`, by kinds, and the negative eigenvectors in their basis `vectors`. Returns how many columns there are
    /// of each kind, if all roots are found.
    #[inline(always)]
    fn decompose<V: Lanes>(
        &self,
        d: &mut [V::Float],
        (z, rho): (&[V::Float], f64),
        columns: &Deflated,
        (q, stride): (&[V], usize),
        (packed, vectors): (&mut [V], &mut [V]),
        rest: &mut [V],
    ) -> Option<[usize; 3]> {
        let kept = columns.kept();
        let count = kept.len();
        let (poles, rest) = rest.split_at_mut(stride);
        let (kept_z, rest) = rest.split_at_mut(stride);
        let (weights, rest) = rest.split_at_mut(stride);
        let (by_kind, pairs) = rest.split_at_mut(2 * stride);
        let (poles, kept_z) = (&mut V::flat_mut(poles)[..count], &mut V::flat_mut(kept_z)[..count]);
        for (at, &from) in kept.iter().enumerate() {
            poles[at] = d[usize::from(from)];
            kept_z[at] = z[usize::from(from)];
        }
        let equation = &Secular {
            poles,
            z: kept_z,
            rho,
        };
        let groups = count.div_ceil(V::WIDTH);
        let pairs = &mut pairs[..2 * groups];
        let (together, operations) = (self.together, TERM * count * count);
        share(together, operations, pairs, 2, &mut [], &|at, part, _| {
            V::roots(part, equation, at);
        });
        let roots = &Roots { pairs: &*pairs };
        for j in 0..count {
            if roots.at(j).1.is_nan() {
                return None;
            }
        }
        let weights = &mut weights[..groups];
        share(together, operations, weights, 1, &mut [], &|at, part, _| {
            V::weights(part, equation, roots, at);
        });
        let mut others = [V::Float::of(0.0); MOST];
        for (to, &from) in others.iter_mut().zip(columns.others()) {
            *to = d[usize::from(from)];
        }
        let len = groups;
        let (poles, z) = by_kind.split_at_mut(stride);
        let (poles, z) = (&mut poles[..len], &mut z[..len]);
        poles.fill(poles[0].like(f64::from(f32::MAX) / 4.0));
        z.fill(z[0].like(0.0));
        let rows = self.start / V::WIDTH..self.end.div_ceil(V::WIDTH);
        let (mut kinds, mut to) = ([0; 3], 0);
        for (kind, count) in [Kind::Upper, Kind::All, Kind::Lower].into_iter().zip(&mut kinds) {
            for (at, &from) in kept.iter().enumerate() {
                if columns.kind(from) == kind {
                    V::flat_mut(poles)[to] = equation.poles[at];
                    V::flat_mut(z)[to] = V::flat(weights)[at];
                    let from = &q[usize::from(from) * stride..][..stride];
                    packed[to * stride..][rows.clone()].copy_from_slice(&from[rows.clone()]);
                    (to, *count) = (to + 1, *count + 1);
                }
            }
        }
        share(together, operations, vectors, stride, &mut [], &|at, part, _| {
            V::spread(part, stride, (poles, z), roots, at);
        });
        for (j, d) in d[..count].iter_mut().enumerate() {
            let (pole, distance) = roots.at(j);
            *d = V::Float::of(pole + distance);
        }
        d[count..].copy_from_slice(&others[..columns.others().len()]);
        Some(kinds)
    }

    /// The eigenvectors: products of `packed`, where that is not 0, with `vectors`.
    #[inline(always)]
    fn multiply<V: Lanes>(
        &self,
        columns: &mut [V],
        stride: usize,
        [upper, all, lower]: [usize; 3],
        (packed, vectors): (&[V], &[V]),
        work: &mut [V],
    ) {
        let (start, cut) = (self.start / V::WIDTH, self.cut / V::WIDTH);
        let end = self.end.div_ceil(V::WIDTH);
        let halves = [
            (start..cut, 0..upper + all),
            (cut..end, upper..upper + all + lower),
        ];
        let terms = (cut - start) * (upper + all) + (end - cut) * (all + lower);
        let operations = 2 * V::WIDTH * terms * (columns.len() / stride);
        let zero = columns[0].like(0.0);
        share(self.together, operations, columns, stride, work, &|at, part, work| {
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
        });
    }
}
