//! Householder's reduction of one matrix to upper bidiagonal form, with a single pass over what is left of the matrix
//! for each column ([`gemver`](super::gemver)). While that is larger than the cache, a panel of reflections at a time, as
//! LAPACK's `labrd` (Dongarra, Hammarling and Sorensen, LAPACK Working Note 2): a pass reads the matrix and does not
//! write it. Then one by one, each in the same pass as what the one before takes from the matrix.

use super::lanes_of;
use super::product::{packed, room};
use super::reduce::{dots, reflection, take};
use super::reflect::BLOCK;
use super::share::share;
use super::step::{Matrix, PARTS};
use super::sweep::line;
use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Gemver, Product};
use crate::together::Together;
use std::ops::Range;

pub(super) use super::step::Reduced;

/// Columns of a panel.
const PANEL: usize = 32;

/// Bytes of a matrix that are read and written as fast as they are read.
const CACHE: usize = 768 * 1024;

/// Columns that the memory of a matrix of `n` has: whole lines, the last ones 0.
pub(super) fn places(n: usize, line: usize) -> usize {
    n.next_multiple_of(line)
}

/// Vectors of whole lines that so many numbers take.
#[inline(always)]
fn in_lines<V: Lanes>(count: usize) -> usize {
    places(count, line::<V>()) / V::WIDTH
}

/// Vectors that [`bidiagonal`] works in.
pub(super) fn work_to_reduce(stride: usize, width: usize) -> usize {
    (4 * PANEL + 3 * PARTS + 5) * stride + packed(stride, 2 * PANEL, width)
}

/// `Qᵀ A P` bidiagonal, of `m` rows and no more columns, which stand in as many [`places`] as these have. The left
/// reflections stay in `a`, below the diagonal.
#[inline(always)]
pub(super) fn bidiagonal<V: Lanes>(
    (m, n, stride): (usize, usize, usize),
    a: &mut [V],
    mut results: Reduced<'_, V::Float>,
    work: &mut [V],
    together: Together<'_>,
) {
    let mut matrix = Matrix {
        m,
        n,
        tall: in_lines::<V>(m),
        wide: in_lines::<V>(n),
        stride,
        lanes: lanes_of(a[0]),
        a,
        together,
    };
    let mut done = 0;
    while (m - done) * (n - done) * size_of::<V::Float>() > CACHE && done + PANEL < n {
        matrix.by_panel(done, &mut results, work);
        done += PANEL;
    }
    matrix.one_by_one(done, &mut results, work);
}

impl<V: Lanes> Matrix<'_, V> {
    /// The columns from `start` on.
    #[inline(always)]
    fn one_by_one(&mut self, start: usize, results: &mut Reduced<'_, V::Float>, work: &mut [V]) {
        let stride = self.stride;
        let (zeros, work) = work.split_at_mut(stride);
        let (mut old, work) = work.split_at_mut(4 * stride);
        let (mut new, work) = work.split_at_mut(4 * stride);
        let row = &mut work[..stride];
        for values in [&mut *zeros, &mut *old, &mut *new, &mut *row] {
            values.fill(self.lanes.like(0.0));
        }
        for j in start..self.n {
            let [v, y, w, u] = four(old, stride);
            let column = &mut self.a[j * stride..][..self.tall];
            let top = j / BLOCK * BLOCK / V::WIDTH;
            let pairs = [(&v[top..self.tall], &y[..]), (&w[top..self.tall], &u[..])];
            take(&mut column[top..], pairs, j);
            let [next_v, next_y, next_w, next_u] = four(new, stride);
            (results.d[j], results.left[j]) = reflection(column, j, &mut next_v[..self.tall]);
            if j + 1 == self.n {
                break;
            }
            let step = Gemver {
                stride,
                top,
                end: self.tall,
                which: j + 1..places(self.n, line::<V>()),
                row: j,
                v: next_v,
                tau: results.left[j].f64(),
                base: [zeros, zeros],
            };
            V::gemver(self.a, &step, [(v, y), (w, u)], [next_y, row, next_w]);
            let made = self.reflect_row(j, row, next_u, results);
            self.begin(next_w, j, &made);
            self.finish(next_w, [next_v, next_y, next_u], j, &made);
            std::mem::swap(&mut old, &mut new);
        }
    }

    /// So many columns as a panel has, from `start` on.
    #[inline(always)]
    fn by_panel(&mut self, start: usize, results: &mut Reduced<'_, V::Float>, work: &mut [V]) {
        let stride = self.stride;
        let (columns, work) = work.split_at_mut(2 * PANEL * stride);
        let (rows, work) = work.split_at_mut(2 * PANEL * stride);
        let (base, work) = work.split_at_mut(2 * stride);
        let (row, work) = work.split_at_mut(stride);
        let (parts, work) = work.split_at_mut(3 * PARTS * stride);
        row.fill(self.lanes.like(0.0));
        rows.fill(self.lanes.like(0.0));
        for i in 0..PANEL {
            let j = start + i;
            let ([vs, v], [ws, w]) = halves(columns, i, stride);
            let ([ys, y], [us, u]) = halves(rows, i, stride);
            let known = Known {
                columns: [vs, ws],
                rows: [ys, us],
                count: i,
                stride,
                vectors: j / BLOCK * BLOCK / V::WIDTH..self.tall,
                wide: self.wide,
            };
            let column = &mut self.a[j * stride..][..self.tall];
            known.take_from(column, j);
            let v = &mut v[..self.tall];
            (results.d[j], results.left[j]) = reflection(column, j, v);
            base.fill(self.lanes.like(0.0));
            let (product, row_base) = base.split_at_mut(stride);
            known.take_from_rows((v, j), (&mut *product, &mut *row_base));
            let step = Gemver {
                stride,
                top: known.vectors.start,
                end: self.tall,
                which: j + 1..places(self.n, line::<V>()),
                row: j,
                v,
                tau: results.left[j].f64(),
                base: [product, row_base],
            };
            self.multiply(&step, [&mut *y, &mut *row, &mut *w], parts);
            let made = self.reflect_row(j, row, u, results);
            self.begin(w, j, &made);
            known.take_from_product(&u[made.top..], made.top, w);
            self.finish(w, [v, y, u], j, &made);
        }
        self.update(start + PANEL, (columns, rows), work);
    }

    /// Takes from the columns from `end` on what a panel before these leaves to be taken.
    #[inline(always)]
    fn update(&mut self, end: usize, (columns, rows): (&[V], &[V]), work: &mut [V]) {
        let (stride, tall) = (self.stride, self.tall);
        let to = &mut self.a[end * stride..self.n * stride];
        let operations = 4 * PANEL * to.len() * V::WIDTH;
        share(
            self.together,
            operations,
            to,
            stride,
            room(work, stride, 2 * PANEL),
            &|at, part, work| {
                let step = Product {
                    stride,
                    rows: end / V::WIDTH..tall,
                    known: columns,
                    first: (0, end + at),
                    factors: Factors::Across(rows),
                };
                V::product(part, &step, work);
            },
        );
    }
}

/// What is still to be taken from a matrix: of each pair of columns, times those of rows.
struct Known<'a, V> {
    columns: [&'a [V]; 2],
    rows: [&'a [V]; 2],
    count: usize,
    stride: usize,
    /// Of the columns those that are left, and of rows all.
    vectors: Range<usize>,
    wide: usize,
}

impl<V: Lanes> Known<'_, V> {
    /// A pair of columns and one of rows.
    #[inline(always)]
    fn pair(&self, at: usize) -> ([&[V]; 2], [&[V]; 2]) {
        let ([v, w], [y, u]) = (self.columns, self.rows);
        let start = at * self.stride;
        let rows = self.vectors.clone();
        let columns = [&v[start..][rows.clone()], &w[start..][rows]];
        (
            columns,
            [&y[start..][..self.wide], &u[start..][..self.wide]],
        )
    }

    /// From column `j` of the matrix.
    #[inline(always)]
    fn take_from(&self, column: &mut [V], j: usize) {
        let column = &mut column[self.vectors.clone()];
        for at in 0..self.count {
            let ([v, w], [y, u]) = self.pair(at);
            take(column, [(v, y), (w, u)], j);
        }
    }

    /// From the product of `v` with the matrix, and from row `j`, of which `v` makes the reflection.
    #[inline(always)]
    fn take_from_rows(&self, (v, j): (&[V], usize), (product, row): (&mut [V], &mut [V])) {
        let from = (j + 1) / V::WIDTH;
        let row_j = j - self.vectors.start * V::WIDTH;
        for at in 0..self.count {
            let (columns, [y, u]) = self.pair(at);
            let along = dots(&v[self.vectors.clone()], columns);
            let mut here = along;
            for (here, column) in here.iter_mut().zip(columns) {
                *here = v[0].like(V::flat(column)[row_j].f64());
            }
            let rows = y[from..].iter().zip(&u[from..]);
            let to = product[from..].iter_mut().zip(&mut row[from..]);
            for ((product, row), (y, u)) in to.zip(rows) {
                *product = u.neg_mul_add(along[1], y.neg_mul_add(along[0], *product));
                *row = u.neg_mul_add(here[1], y.neg_mul_add(here[0], *row));
            }
        }
    }

    /// From the product of the matrix with `u`, which begins in vector `top`.
    #[inline(always)]
    fn take_from_product(&self, u: &[V], top: usize, product: &mut [V]) {
        let product = &mut product[self.vectors.clone()];
        let u = &u[..self.wide - top];
        for at in 0..self.count {
            let ([v, w], [y, known_u]) = self.pair(at);
            let along = dots(u, [&y[top..], &known_u[top..]]);
            for (to, (v, w)) in product.iter_mut().zip(v.iter().zip(w)) {
                *to = w.neg_mul_add(along[1], v.neg_mul_add(along[0], *to));
            }
        }
    }
}

/// Of two lists of columns the first `i` of each and the next one.
#[inline(always)]
fn halves<V>(lists: &mut [V], i: usize, stride: usize) -> ([&mut [V]; 2], [&mut [V]; 2]) {
    let (first, second) = lists.split_at_mut(lists.len() / 2);
    let (a, a_next) = first.split_at_mut(i * stride);
    let (b, b_next) = second.split_at_mut(i * stride);
    ([a, &mut a_next[..stride]], [b, &mut b_next[..stride]])
}

#[inline(always)]
fn four<V>(values: &mut [V], stride: usize) -> [&mut [V]; 4] {
    let mut values = values.chunks_exact_mut(stride);
    std::array::from_fn(|_| values.next().unwrap_or_default())
}
