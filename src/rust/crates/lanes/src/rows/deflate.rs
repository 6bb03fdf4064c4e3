//! What hardly takes part when two eigendecompositions become one is left as it is (Dongarra and Sorensen, A fully
//! parallel algorithm for the symmetric eigenvalue problem, SIAM J. Sci. Stat. Comput. 8, 1987; the bounds are those of
//! Rutter, A serial implementation of Cuppen's divide and conquer algorithm, LAPACK Working Note 69).

use crate::lanes::{Float, Lanes};
use std::ops::Range;

/// Columns of the largest matrix.
pub(crate) const MOST: usize = 2048;

/// Where a column is not 0: in the rows before the cut, in all, in those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Upper,
    All,
    Lower,
}

/// The columns of a merge, by their numbers.
pub(super) struct Deflated {
    kinds: [Kind; MOST],
    kept: [u16; MOST],
    count: usize,
    others: [u16; MOST],
    rest: usize,
}

impl Deflated {
    #[inline(always)]
    pub(super) fn new(upper: usize) -> Self {
        let mut kinds = [Kind::Upper; MOST];
        kinds[upper..].fill(Kind::Lower);
        Deflated {
            kinds,
            kept: [0; MOST],
            count: 0,
            others: [0; MOST],
            rest: 0,
        }
    }

    /// Those that take part, by ascending eigenvalues.
    #[inline(always)]
    pub(super) fn kept(&self) -> &[u16] {
        &self.kept[..self.count]
    }

    /// Those that stay as they are.
    #[inline(always)]
    pub(super) fn others(&self) -> &[u16] {
        &self.others[..self.rest]
    }

    #[inline(always)]
    pub(super) fn kind(&self, column: u16) -> Kind {
        self.kinds[usize::from(column)]
    }

    #[inline(always)]
    pub(super) fn keep(&mut self, column: u16) {
        self.kept[self.count] = column;
        self.count += 1;
    }

    /// After those with smaller eigenvalues.
    #[inline(always)]
    fn leave<T: Float>(&mut self, column: u16, d: &[T]) {
        let mut at = self.rest;
        while at > 0 && d[usize::from(self.others[at - 1])] > d[usize::from(column)] {
            self.others[at] = self.others[at - 1];
            at -= 1;
        }
        self.others[at] = column;
        self.rest += 1;
    }

    /// Looks at the columns of `diag(d) + rho z zᵀ`, in the order of `sorted`: one with hardly any `z` is left as it
    /// is, as is one of two with nearly the same eigenvalue, once a rotation of both has made its `z` 0. The columns of
    /// the bases follow the rotations. So it is with singular values of `diag(d)` with `z` as a row, where `rho` is 1.
    #[inline(always)]
    pub(super) fn find<V: Lanes>(
        &mut self,
        (d, z): (&mut [V::Float], &mut [V::Float]),
        (rho, tolerance): (f64, f64),
        sorted: &[u16],
        bases: &mut [Basis<'_, V>],
    ) {
        let mut before = None;
        for &number in sorted {
            let j = usize::from(number);
            if rho * z[j].f64().abs() <= tolerance {
                self.leave(number, d);
                continue;
            }
            if let Some(last) = before {
                let i = usize::from(last);
                let (c, s) = (z[j].f64(), z[i].f64());
                // Neither can be so large or small that its square is not a number of its size.
                let size = (c * c + s * s).sqrt();
                let (c, s) = (c / size, -s / size);
                let (x, y) = (d[i].f64(), d[j].f64());
                if ((y - x) * c * s).abs() <= tolerance {
                    z[j] = V::Float::of(size);
                    z[i] = V::Float::of(0.0);
                    if self.kinds[i] != self.kinds[j] {
                        self.kinds[j] = Kind::All;
                    }
                    for basis in &mut *bases {
                        basis.rotate((i, j), (c, s));
                    }
                    d[i] = V::Float::of(x * c * c + y * s * s);
                    d[j] = V::Float::of(x * s * s + y * c * c);
                    self.leave(last, d);
                } else {
                    self.keep(last);
                }
            }
            before = Some(number);
        }
        if let Some(last) = before {
            self.keep(last);
        }
    }
}

/// What is too small to matter beside the largest of these.
#[inline(always)]
pub(super) fn tolerance<T: Float>(d: &[T], z: &[T]) -> f64 {
    let (mut largest, mut largest_z) = (0.0_f64, 0.0_f64);
    for (d, z) in d.iter().zip(z) {
        largest = largest.max(d.f64().abs());
        largest_z = largest_z.max(z.f64().abs());
    }
    8.0 * T::ROUNDING.f64() * largest.max(largest_z)
}

/// Columns of `stride` vectors, which are not 0 in the vectors `rows` only.
pub(super) struct Basis<'a, V> {
    pub(super) q: &'a mut [V],
    pub(super) stride: usize,
    pub(super) rows: Range<usize>,
}

impl<V: Lanes> Basis<'_, V> {
    /// Columns `(x, y)` become `(c x + s y, c y - s x)`.
    #[inline(always)]
    pub(super) fn rotate(&mut self, (i, j): (usize, usize), (c, s): (f64, f64)) {
        let (c, s) = (self.q[0].like(c), self.q[0].like(s));
        let (first, second) = (i.min(j), i.max(j));
        let (head, tail) = self.q.split_at_mut(second * self.stride);
        let first = &mut head[first * self.stride..][self.rows.clone()];
        let second = &mut tail[self.rows.clone()];
        let (x, y) = if i < j {
            (first, second)
        } else {
            (second, first)
        };
        for (x, y) in x.iter_mut().zip(y) {
            let (old, other) = (*x, *y);
            *x = s.mul_add(other, c * old);
            *y = s.neg_mul_add(old, c * other);
        }
    }

    #[inline(always)]
    pub(super) fn negate(&mut self, column: usize) {
        for value in &mut self.q[column * self.stride..][self.rows.clone()] {
            *value = -*value;
        }
    }
}

/// The numbers of the values as they ascend, of which those of two parts are in that order.
#[inline(always)]
pub(super) fn ascending<T: Float>(values: &[T], (mut a, mut b): (&[u16], &[u16]), to: &mut [u16]) {
    for to in &mut to[..a.len() + b.len()] {
        let first = match (a.first(), b.first()) {
            (Some(&i), Some(&j)) => values[usize::from(i)] <= values[usize::from(j)],
            (first, _) => first.is_some(),
        };
        let from = if first { &mut a } else { &mut b };
        *to = from[0];
        *from = &from[1..];
    }
}
