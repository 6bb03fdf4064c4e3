//! Singular values and vectors of one upper bidiagonal matrix by divide and conquer: small matrices by the QR
//! algorithm, one to a lane; then merges, two and two, [torn](super::torn) apart by a row.

use super::deflate::{Basis, Deflated, Kind, MOST};
use super::divide::{sort, widest, Cut, Parts, MOST_LEAF};
use super::merge::Merge;
use super::share::share;
use super::solved::{of_none, Solved, TERM};
use super::torn::{load, triplets, Torn};
use crate::lanes::{Float, Lanes};
use crate::operands::{Room, Spectrum, Spread};
use crate::together::Together;

/// Vectors that a whole matrix of [`Room`] has at least: leaves are computed in it.
pub(super) const LEAST: usize = 2 * MOST_LEAF * (MOST_LEAF + 1);

/// A matrix whose singular vectors are wanted, as columns `u` and `w`. The singular values become `d`; `order` are their
/// numbers as they ascend.
pub(super) struct Singular<'a, 'r, V: Lanes> {
    pub(super) d: &'a mut [V::Float],
    pub(super) e: &'a [V::Float],
    pub(super) u: &'a mut [V],
    pub(super) w: &'a mut [V],
    pub(super) order: &'a mut [u16],
    pub(super) room: &'a mut Room<'r, V>,
    pub(super) together: Together<'a>,
}

impl<V: Lanes> Singular<'_, '_, V> {
    /// False where something did not converge.
    #[inline(always)]
    pub(super) fn run(mut self) -> bool {
        let zero = self.u[0].like(0.0);
        self.u.fill(zero);
        self.w.fill(zero);
        Cut::of(self.d.len()).conquer::<V>(&mut self)
    }
}

impl<V: Lanes> Parts for Singular<'_, '_, V> {
    #[inline(always)]
    fn leaves(&mut self, starts: &[usize]) -> bool {
        let (stride, total) = (self.room.stride, self.d.len());
        let n = widest(starts);
        let zero = self.u[0].like(0.0);
        let (u, rest) = self.room.packed.split_at_mut(n * n);
        let (w, rest) = rest.split_at_mut(n * n);
        let (d, rest) = rest.split_at_mut(n);
        let e = &mut rest[..n];
        for block in [&mut *u, &mut *w] {
            block.fill(zero);
            for (j, column) in block.chunks_exact_mut(n).enumerate() {
                column[j] = zero.like(1.0);
            }
        }
        load(starts, (self.d, self.e), (d, e));
        let mut failed = zero;
        V::bdsqr(d, e, [(&mut *u, n), (&mut *w, n)], &mut failed);
        let mut converged = true;
        for (lane, pair) in starts.windows(2).enumerate() {
            let (start, end) = (pair[0], pair[1]);
            let size = triplets(start, end, total);
            converged &= failed.as_slice()[lane] == V::Float::of(0.0);
            for j in 0..end - start {
                let value = d[j].as_slice()[lane].f64();
                let signs = [1.0, if value.is_sign_negative() { -1.0 } else { 1.0 }];
                for ((from, to), sign) in [(&*u, &mut *self.u), (&*w, &mut *self.w)]
                    .into_iter()
                    .zip(signs)
                {
                    let column = V::flat_mut(&mut to[(start + j) * stride..][..stride]);
                    let from = &from[j * n..][..end - start];
                    for (to, from) in column[start..end].iter_mut().zip(from) {
                        *to = V::Float::of(from.as_slice()[lane].f64() * sign);
                    }
                }
                if j < size {
                    self.d[start + j] = V::Float::of(value.abs());
                } else {
                    // The row that belongs to the next part is a vector alone.
                    let column = V::flat_mut(&mut self.u[(start + j) * stride..][..stride]);
                    column.fill(V::Float::of(0.0));
                    column[start + j] = V::Float::of(1.0);
                }
            }
            let own = start..start + size;
            sort(&self.d[own.clone()], &mut self.order[own]);
        }
        converged
    }

    #[inline(always)]
    fn merge(&mut self, rows: (usize, usize, usize)) -> bool {
        let stride = self.room.stride;
        let torn = Torn::of(rows, self.d, self.e);
        let Torn {
            start,
            cut,
            end,
            middle,
            size,
            ..
        } = torn;
        let lines = start / V::WIDTH..end.div_ceil(V::WIDTH);
        let (d, order) = (
            &mut self.d[start..][..size],
            &mut self.order[start..][..size],
        );
        let Room {
            packed,
            vectors,
            rest,
            work,
            ..
        } = &mut *self.room;
        let (z, rest) = rest.split_at_mut(stride);
        let z = &mut V::flat_mut(z)[..size];
        let columns = start * stride..end * stride;
        let mut bases = [
            Basis {
                q: &mut self.u[columns.clone()],
                stride,
                rows: lines.clone(),
            },
            Basis {
                q: &mut self.w[columns],
                stride,
                rows: lines,
            },
        ];
        let w = &mut bases[1];
        let vectors_at_cut = (V::flat(w.q), stride * V::WIDTH, [cut - 1, cut]);
        let rotation = torn.row(z, vectors_at_cut);
        torn.turn(z, rotation, w);
        let mut columns = Deflated::new(middle);
        torn.find((&mut *d, &mut *z), order, &mut bases, &mut columns);
        let count = columns.kept().len();
        if count == 1 {
            return true;
        }
        let (by_kind, rest) = rest.split_at_mut(2 * stride);
        let spectrum = Spectrum::SingularValues;
        let problem = (&*d, &*z, 1.0);
        let solved = Solved::of(spectrum, problem, &columns, stride, rest, self.together);
        let Some(solved) = solved else {
            return false;
        };
        let kinds = Kinds::of(&columns, middle);
        let (poles, z) = of_none(by_kind, stride, solved.weights.len());
        kinds.arrange(&solved, (&mut *poles, &mut *z));
        let merge = Merge {
            start,
            cut,
            end,
            together: self.together,
        };
        let [u, w] = bases;
        for (basis, left) in [(w, None), (u, Some(kinds.upper))] {
            let of = Spread {
                poles,
                z,
                roots: solved.roots,
                left,
            };
            let q = &mut basis.q[..size * stride];
            let room = (&mut **packed, &mut **vectors, &mut **work);
            kinds.change(&merge, (q, stride), &columns, &of, room);
        }
        solved.finish(d, &columns, order);
        true
    }
}

/// The columns of a merge in the order of products: those before the cut, that of the middle row, which is among these on
/// the left and in all rows on the right, those in all rows, and those after the cut.
struct Kinds {
    /// Places among those that take part.
    places: [u16; MOST],
    upper: usize,
    all: usize,
}

impl Kinds {
    #[inline(always)]
    fn of(columns: &Deflated, middle: usize) -> Self {
        let mut kinds = Kinds {
            places: [0; MOST],
            upper: 0,
            all: 0,
        };
        let mut count = 0;
        for kind in [Kind::Upper, Kind::All, Kind::Lower] {
            for (at, &column) in columns.kept().iter().enumerate() {
                if columns.kind(column) == kind && usize::from(column) != middle {
                    kinds.places[count] = at as u16;
                    count += 1;
                }
            }
            match kind {
                Kind::Upper => {
                    kinds.upper = count;
                    // The middle row's is the first of those that take part.
                    kinds.places[count] = 0;
                    count += 1;
                }
                Kind::All => kinds.all = count - 1 - kinds.upper,
                Kind::Lower => {}
            }
        }
        kinds
    }

    /// The poles and weights in that order.
    #[inline(always)]
    fn arrange<V: Lanes>(&self, solved: &Solved<'_, V>, (poles, z): (&mut [V], &mut [V])) {
        let count = solved.poles.len();
        for (to, &at) in self.places[..count].iter().enumerate() {
            let at = usize::from(at);
            V::flat_mut(poles)[to] = solved.poles[at];
            V::flat_mut(z)[to] = V::flat(solved.weights)[at];
        }
    }

    /// The columns `q` of one of both bases become those after the merge, the ones that take part first.
    #[inline(always)]
    fn change<V: Lanes>(
        &self,
        merge: &Merge<'_>,
        (q, stride): (&mut [V], usize),
        columns: &Deflated,
        of: &Spread<'_, V>,
        (packed, vectors, work): (&mut [V], &mut [V], &mut [V]),
    ) {
        let kept = columns.kept();
        let count = kept.len();
        let rows = merge.start / V::WIDTH..merge.end.div_ceil(V::WIDTH);
        let (vectors, others) = vectors.split_at_mut(count * stride);
        let packed = &mut packed[..count * stride];
        for (to, &at) in packed.chunks_exact_mut(stride).zip(&self.places) {
            let from = usize::from(kept[usize::from(at)]) * stride;
            to[rows.clone()].copy_from_slice(&q[from..][rows.clone()]);
        }
        for (to, &from) in others.chunks_exact_mut(stride).zip(columns.others()) {
            let from = usize::from(from) * stride;
            to[rows.clone()].copy_from_slice(&q[from..][rows.clone()]);
        }
        let terms = TERM * count * count;
        share(
            merge.together,
            terms,
            vectors,
            stride,
            &mut [],
            &|at, part, _| {
                V::spread(part, stride, of, at);
            },
        );
        let (changed, behind) = q.split_at_mut(count * stride);
        let middle = if of.left.is_some() { 1 } else { 0 };
        let which = [0..self.upper + 1 + self.all, self.upper + middle..count];
        merge.multiply(changed, stride, which, (packed, vectors), work);
        for (to, from) in behind
            .chunks_exact_mut(stride)
            .zip(others.chunks_exact(stride))
        {
            to[rows.clone()].copy_from_slice(&from[rows.clone()]);
        }
    }
}
