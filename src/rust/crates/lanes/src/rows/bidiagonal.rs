//! Householder's reduction of one matrix to upper bidiagonal form, with a single pass over what is left of the matrix
//! for each column ([`gemver`](super::gemver)). While that is larger than the cache, a panel of reflections at a time, as
//! LAPACK's `labrd` (Dongarra, Hammarling and Sorensen, LAPACK Working Note 2): a pass reads the matrix and does not
//! write it. Then one by one, each in the same pass as what the one before takes from the matrix.

use super::lanes_of;
use super::product::packed;
use super::reduce::{dots, reflection, take};
use super::reflect::BLOCK;
use super::share::{share, share_by, worth_it};
use super::sweep::line;
use crate::householder::Range;
use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Gemver, Product};
use crate::together::Together;

/// Columns of a panel.
const PANEL: usize = 32;

/// Bytes of a matrix that are read and written as fast as they are read.
const CACHE: usize = 768 * 1024;

/// Parts of a pass over a large matrix: so many whoever helps, as their products are added up one after the other.
const PARTS: usize = 8;

/// Columns that the memory of a matrix of `n` has: whole lines, the last ones 0.
pub(super) fn places(n: usize, line: usize) -> usize {
    n.next_multiple_of(line)
}

/// Vectors that [`bidiagonal`] works in.
pub(super) fn work_to_reduce(stride: usize, width: usize) -> usize {
    (4 * PANEL + 3 * PARTS + 5) * stride + packed(stride, 2 * PANEL, width)
}

/// A matrix that is being reduced.
struct Matrix<'a, V> {
    m: usize,
    n: usize,
    /// Vectors of a column and of a row.
    tall: usize,
    wide: usize,
    /// Vectors from one column to the next.
    stride: usize,
    a: &'a mut [V],
    lanes: V,
    together: Together<'a>,
}

/// The diagonal and what is right of it, the factors of the left and the right reflections, `n` each, and room for the
/// right reflections, as columns: that of row `j` is in column `j`, from row `j + 1` on.
pub(super) struct Reduced<'a, T> {
    pub(super) d: &'a mut [T],
    pub(super) e: &'a mut [T],
    pub(super) left: &'a mut [T],
    pub(super) right: &'a mut [T],
    /// Nothing where they are not wanted.
    pub(super) reflections: &'a mut [T],
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
    let line = line::<V>();
    let vectors = |count: usize| count.div_ceil(line) * (line / V::WIDTH);
    let mut matrix = Matrix {
        m,
        n,
        tall: vectors(m),
        wide: vectors(n),
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
            (results.d[j], results.left[j]) =
                reflection(column, j, &mut next_v[..self.tall], self.lanes);
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
                update: [(v, y), (w, u)],
                base: [zeros, zeros],
            };
            V::gemver(self.a, &step, [next_y, row, next_w]);
            let made = self.reflect_row(j, row, next_u, results);
            self.begin(next_w, j, &made);
            let next_u = &next_u[made.top..self.wide];
            let [along] = dots(next_u, [&next_y[made.top..self.wide]]);
            let factor = self.lanes.like(made.tau);
            for (w, v) in next_w[top..self.tall].iter_mut().zip(&next_v[top..]) {
                *w = factor * v.neg_mul_add(along, *w);
            }
            clear(next_w, j + 1);
            std::mem::swap(&mut old, &mut new);
        }
    }

    /// So many columns as a panel has, from `start` on.
    #[inline(always)]
    fn by_panel(&mut self, start: usize, results: &mut Reduced<'_, V::Float>, work: &mut [V]) {
        let (stride, tall, wide) = (self.stride, self.tall, self.wide);
        // The columns `v` and `w` of what is taken from the matrix, and the rows `y` and `u`.
        let (columns, work) = work.split_at_mut(2 * PANEL * stride);
        let (rows, work) = work.split_at_mut(2 * PANEL * stride);
        let (base, work) = work.split_at_mut(2 * stride);
        let (row, work) = work.split_at_mut(stride);
        let (parts, work) = work.split_at_mut(3 * PARTS * stride);
        row.fill(self.lanes.like(0.0));
        rows.fill(self.lanes.like(0.0));
        for i in 0..PANEL {
            let j = start + i;
            let top = j / BLOCK * BLOCK / V::WIDTH;
            let (vs, ws) = columns.split_at_mut(PANEL * stride);
            let (ys, us) = rows.split_at_mut(PANEL * stride);
            let (vs, v) = vs.split_at_mut(i * stride);
            let (ws, w) = ws.split_at_mut(i * stride);
            let (ys, y) = ys.split_at_mut(i * stride);
            let (us, u) = us.split_at_mut(i * stride);
            let (v, w, y, u) = (
                &mut v[..tall],
                &mut w[..tall],
                &mut y[..wide],
                &mut u[..wide],
            );
            let known = || {
                let columns = vs.chunks_exact(stride).zip(ws.chunks_exact(stride));
                columns.zip(ys.chunks_exact(stride).zip(us.chunks_exact(stride)))
            };
            let column = &mut self.a[j * stride..][..tall];
            for ((v, w), (y, u)) in known() {
                take(
                    &mut column[top..],
                    [(&v[top..tall], y), (&w[top..tall], u)],
                    j,
                );
            }
            (results.d[j], results.left[j]) = reflection(column, j, v, self.lanes);
            base.fill(self.lanes.like(0.0));
            let (product, row_base) = base.split_at_mut(stride);
            for ((known_v, known_w), (known_y, known_u)) in known() {
                let (known_v, known_w) = (&known_v[top..tall], &known_w[top..tall]);
                let along = dots(&v[top..], [known_v, known_w]);
                let at = j - top * V::WIDTH;
                let here = [known_v, known_w].map(|known| V::flat(known)[at].f64());
                let here = here.map(|factor| self.lanes.like(factor));
                let from = (j + 1) / V::WIDTH;
                let known = known_y[from..wide].iter().zip(&known_u[from..wide]);
                let to = product[from..].iter_mut().zip(&mut row_base[from..]);
                for ((product, row), (y, u)) in to.zip(known) {
                    *product = u.neg_mul_add(along[1], y.neg_mul_add(along[0], *product));
                    *row = u.neg_mul_add(here[1], y.neg_mul_add(here[0], *row));
                }
            }
            let step = Gemver {
                stride,
                top,
                end: tall,
                which: j + 1..places(self.n, line::<V>()),
                row: j,
                v,
                tau: results.left[j].f64(),
                update: [(v, v); 2],
                base: [product, row_base],
            };
            self.multiply(&step, [y, row, w], parts);
            let made = self.reflect_row(j, row, u, results);
            self.begin(w, j, &made);
            let from = made.top;
            for ((known_v, known_w), (known_y, known_u)) in known() {
                let along = dots(&u[from..], [&known_y[from..wide], &known_u[from..wide]]);
                let known = known_v[top..tall].iter().zip(&known_w[top..tall]);
                for (to, (v, w)) in w[top..].iter_mut().zip(known) {
                    *to = w.neg_mul_add(along[1], v.neg_mul_add(along[0], *to));
                }
            }
            let [along] = dots(&u[from..], [&y[from..]]);
            let factor = self.lanes.like(made.tau);
            for (w, v) in w[top..].iter_mut().zip(&v[top..]) {
                *w = factor * v.neg_mul_add(along, *w);
            }
            clear(w, j + 1);
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
            work,
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

    /// As [`gemvt`](super::gemver::gemvt), by several threads.
    #[inline(always)]
    fn multiply(&self, step: &Gemver<'_, V>, [y, x, w]: [&mut [V]; 3], parts: &mut [V]) {
        let (a, stride) = (&*self.a, self.stride);
        let operations = 4 * step.which.len() * (self.m - step.row);
        if !worth_it(operations) {
            V::gemvt(a, step, [y, x, w]);
            return;
        }
        let line = line::<V>();
        let first = step.which.start;
        let start = |at: usize| match at {
            0 => first,
            _ => (first + step.which.len() * at / PARTS).next_multiple_of(line),
        };
        let least = 1;
        share_by(
            least,
            self.together,
            operations,
            (&mut *parts, 3 * stride),
            &mut [],
            &|at, part, _| {
                for (part, at) in part.chunks_exact_mut(3 * stride).zip(at..) {
                    let (y, part) = part.split_at_mut(stride);
                    let (x, w) = part.split_at_mut(stride);
                    let step = Gemver {
                        which: start(at)..start(at + 1),
                        ..step.clone()
                    };
                    V::gemvt(a, &step, [y, x, w]);
                }
            },
        );
        w[step.top..step.end].fill(self.lanes.like(0.0));
        for (at, part) in parts.chunks_exact(3 * stride).enumerate() {
            let (own_y, part) = part.split_at(stride);
            let (own_x, own_w) = part.split_at(stride);
            let which = start(at) / line * line / V::WIDTH..start(at + 1) / V::WIDTH;
            y[which.clone()].copy_from_slice(&own_y[which.clone()]);
            x[which.clone()].copy_from_slice(&own_x[which]);
            let own = &own_w[step.top..step.end];
            for (w, own) in w[step.top..step.end].iter_mut().zip(own) {
                *w += *own;
            }
        }
    }

    /// The reflection of row `j` right of the diagonal, which `x` is; `u` becomes its vector.
    #[inline(always)]
    fn reflect_row(
        &self,
        j: usize,
        x: &mut [V],
        u: &mut [V],
        results: &mut Reduced<'_, V::Float>,
    ) -> Made {
        let first = j + 1;
        let (line, zero) = (line::<V>(), self.lanes.like(0.0));
        let x = &mut x[..self.wide];
        let from = first / line * line / V::WIDTH;
        // What is that small is rounding of the largest elements, which are near 1; its squares would be inexact.
        let [square] = dots(&x[from..], [&x[from..]]);
        let alpha = V::flat(x)[first];
        if square.any_less(Range::like(zero).tiny) {
            x[from..].fill(zero);
            V::flat_mut(x)[first] = alpha;
        }
        (results.e[j], results.right[j]) = reflection(x, first, &mut u[..self.wide], self.lanes);
        if !results.reflections.is_empty() {
            let to = &mut results.reflections[j * self.n..][first..self.n];
            to.copy_from_slice(&V::flat(u)[first..self.n]);
        }
        Made {
            alpha: alpha.f64(),
            beta: results.e[j].f64(),
            tau: results.right[j].f64(),
            top: first / BLOCK * BLOCK / V::WIDTH,
        }
    }

    /// The product of the matrix with row `j` becomes that with the vector of the row's reflection.
    #[inline(always)]
    fn begin(&self, w: &mut [V], j: usize, made: &Made) {
        let top = j / BLOCK * BLOCK / V::WIDTH;
        let w = &mut w[top..self.tall];
        if made.tau == 0.0 {
            return w.fill(self.lanes.like(0.0));
        }
        let beta = self.lanes.like(made.beta);
        let factor = self.lanes.like(1.0) / self.lanes.like(made.alpha - made.beta);
        let column = &self.a[(j + 1) * self.stride..][top..self.tall];
        for (w, column) in w.iter_mut().zip(column) {
            *w = column.neg_mul_add(beta, *w) * factor;
        }
    }
}

/// A reflection of a row: it takes `alpha` to `beta`, and its vector begins in a line from vector `top` on.
struct Made {
    alpha: f64,
    beta: f64,
    tau: f64,
    top: usize,
}

/// The rows of the line of row `row - 1` before `row` become 0.
#[inline(always)]
fn clear<V: Lanes>(w: &mut [V], row: usize) {
    let first = (row - 1) / BLOCK * BLOCK;
    V::flat_mut(w)[first..row].fill(V::Float::of(0.0));
}

#[inline(always)]
fn four<V>(values: &mut [V], stride: usize) -> [&mut [V]; 4] {
    let mut values = values.chunks_exact_mut(stride);
    std::array::from_fn(|_| values.next().unwrap_or_default())
}
