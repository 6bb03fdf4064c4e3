//! Householder's reduction of one Hermitian matrix to tridiagonal form, by panels as that of a large symmetric one
//! (`reduce.rs`). Reflections are `I - tau v vᴴ` with a real `tau`, so what they leave beside the diagonal is
//! complex: a diagonal matrix of numbers of size 1 makes that real. Real and imaginary parts are matrices of their
//! own, so that products of real columns serve.

use super::planes::{along, both, conjugated, interleave, keep, take, turn, two_of, Two, PANEL};
use super::product::{packed, room};
use super::reduce::{dots, square, PARTS};
use super::reflect::BLOCK;
use super::reflector::reflection;
use super::share::{share, share_by, worth_it};
use super::sweep::line;
use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Hemv, Product};
use crate::together::Together;

/// Vectors that [`hetrd`] works in.
pub(super) fn work_to_reduce(stride: usize, width: usize) -> usize {
    (8 * PANEL + 4 + 2 * PARTS) * stride + packed(stride, 4 * PANEL, width)
}

/// What becomes of a matrix of `n` columns.
pub(super) struct Results<'a, T> {
    /// The diagonal.
    pub(super) d: &'a mut [T],
    /// Two parts for each element below that.
    pub(super) beside: &'a mut [T],
    /// The factors of the reflections, complex numbers whose imaginary parts are 0: one for the row that each begins
    /// with, 0 for the first row.
    pub(super) tau: &'a mut [T],
    /// The vectors of the reflections in the columns before that row, as complex numbers; nothing if not wanted.
    pub(super) vectors: &'a mut [T],
}

struct Matrix<'a, V> {
    n: usize,
    len: usize,
    stride: usize,
    /// The real parts, then the imaginary parts.
    a: &'a mut [V],
    together: Together<'a>,
}

/// `Qᴴ A Q` tridiagonal, of the lower triangle of a matrix that is 0 in the rows after its own.
#[inline(always)]
pub(super) fn hetrd<V: Lanes>(
    (n, stride): (usize, usize),
    a: &mut [V],
    results: &mut Results<'_, V::Float>,
    work: &mut [V],
    together: Together<'_>,
) {
    let mut matrix = Matrix {
        n,
        len: n.div_ceil(line::<V>()) * (line::<V>() / V::WIDTH),
        stride,
        a,
        together,
    };
    matrix.squares(0);
    results.tau[..2].fill(V::Float::of(0.0));
    let mut done = 0;
    while done < n {
        matrix.by_panel(done, results, work);
        done += PANEL;
    }
}

impl<V: Lanes> Matrix<'_, V> {
    /// Makes the squares of a line on the diagonal whole, from column `first` on.
    #[inline(always)]
    fn squares(&mut self, first: usize) {
        let (re, im) = self.a.split_at_mut(self.n * self.stride);
        square(re, first..self.n, self.stride);
        let (line, rows) = (line::<V>(), self.stride * V::WIDTH);
        let im = V::flat_mut(im);
        for j in first..self.n {
            im[j * rows + j] = V::Float::of(0.0);
            for i in j + 1..self.n.min(j / line * line + line) {
                im[i * rows + j] = V::Float::of(-im[j * rows + i].f64());
            }
        }
    }

    /// So many reflections as a panel has, or as there are, from `start` on.
    #[inline(always)]
    fn by_panel(&mut self, start: usize, results: &mut Results<'_, V::Float>, work: &mut [V]) {
        let (n, len, stride) = (self.n, self.len, self.stride);
        let (known, work) = work.split_at_mut(4 * PANEL * stride);
        let (factors, work) = work.split_at_mut(4 * PANEL * stride);
        let (x, work) = work.split_at_mut(2 * stride);
        let (p, work) = work.split_at_mut(2 * stride);
        let (parts, work) = work.split_at_mut(2 * PARTS * stride);
        for i in 0..PANEL.min(n - start) {
            let j = start + i;
            for k in 0..i {
                self.take(j, two_of(known, stride, k, j / V::WIDTH..len));
            }
            results.d[j] = V::flat(&self.a[j * stride..][..stride])[j];
            if j + 1 == n {
                return;
            }
            let of = |part: usize| &self.a[(part * n + j) * stride..][..len];
            let ([re, im], tau) = reflection([of(0), of(1)], j + 1, x);
            (results.beside[2 * j], results.beside[2 * j + 1]) = (re, im);
            (results.tau[2 * j + 2], results.tau[2 * j + 3]) = (tau, V::Float::of(0.0));
            if !results.vectors.is_empty() {
                let to = &mut results.vectors[2 * n * j..][2 * j + 2..2 * n];
                interleave(x.split_at(stride), j + 1..n, to, false);
            }
            self.multiply(x, j + 1, p, parts);
            let top = (j + 1) / BLOCK * BLOCK / V::WIDTH;
            for k in 0..i {
                let known = two_of(known, stride, k, top..len);
                let (re, im) = x.split_at(stride);
                let [v, w] = along([&re[top..len], &im[top..len]], known);
                take(both(p, stride, top..len), known, [w, v]);
            }
            complete((p, &*x), (stride, len), j + 1, tau);
            keep(known, stride, i, [&*x, &*p]);
        }
        let end = start + PANEL;
        if end >= n {
            return;
        }
        // What belongs to the real parts of `v` and `w` and to their imaginary parts.
        let half = 2 * PANEL * stride;
        factors[..half].copy_from_slice(&known[half..]);
        factors[half..].copy_from_slice(&known[..half]);
        self.update(0, end, (known, factors), work);
        turn(factors, stride);
        self.update(1, end, (known, factors), work);
        self.squares(end);
    }

    /// From a part of the columns from `end` on, the products of known columns with their factors are taken.
    #[inline(always)]
    fn update(&mut self, part: usize, end: usize, (known, factors): (&[V], &[V]), work: &mut [V]) {
        let (n, len, stride) = (self.n, self.len, self.stride);
        let to = &mut self.a[part * n * stride..][end * stride..n * stride];
        let operations = 4 * PANEL * to.len() * V::WIDTH;
        share(
            self.together,
            operations,
            to,
            stride,
            room(work, stride, 4 * PANEL),
            &|at, columns, work| {
                let first = end + at;
                let step = Product {
                    stride,
                    rows: first / V::WIDTH..len,
                    known,
                    first: (0, first),
                    factors: Factors::Beside(factors),
                };
                V::product(columns, &step, work);
            },
        );
    }

    /// Takes `v wᴴ + w vᴴ` from column `j`, from its vector on.
    #[inline(always)]
    fn take(&mut self, j: usize, known: Two<'_, V>) {
        let [v, w] = conjugated(known, j % V::WIDTH);
        let (re, im) = self.a.split_at_mut(self.n * self.stride);
        let rows = j * self.stride + j / V::WIDTH..j * self.stride + self.len;
        take([&mut re[rows.clone()], &mut im[rows]], known, [w, v]);
    }

    /// `p` becomes the product with `x` of what there is from row and column `first` on.
    #[inline(always)]
    fn multiply(&self, x: &[V], first: usize, p: &mut [V], parts: &mut [V]) {
        let (n, len, stride) = (self.n, self.len, self.stride);
        let step = &Hemv { stride, len, x };
        let a = &*self.a;
        let operations = 8 * (n - first) * (n - first);
        if !worth_it(operations) {
            V::hemv(p, a, step, first..n);
            return;
        }
        // The columns are as many numbers in each part.
        let line = line::<V>();
        let start = |at: usize| match at {
            0 => first,
            PARTS => n,
            _ => {
                let left = (1.0 - at as f64 / PARTS as f64).sqrt();
                let column = n - ((n - first) as f64 * left) as usize;
                column.next_multiple_of(line).clamp(first, n)
            }
        };
        let least = 1;
        let all = (&mut *parts, 2 * stride);
        share_by(
            least,
            self.together,
            operations,
            all,
            &mut [],
            &|at, part, _| {
                for (p, at) in part.chunks_exact_mut(2 * stride).zip(at..) {
                    V::hemv(p, a, step, start(at)..start(at + 1));
                }
            },
        );
        let top = first / line * line / V::WIDTH;
        for p in p.chunks_exact_mut(stride) {
            p[top..len].fill(x[0].like(0.0));
        }
        for (at, part) in parts.chunks_exact(2 * stride).enumerate() {
            // The rows before its columns are none of a part's.
            let top = start(at) / line * line / V::WIDTH;
            for (p, part) in p.chunks_exact_mut(stride).zip(part.chunks_exact(stride)) {
                for (p, part) in p[top..len].iter_mut().zip(&part[top..len]) {
                    *p += *part;
                }
            }
        }
    }
}

/// `p = A x` becomes the `w` with which `v wᴴ + w vᴴ` is to be taken from `A` for the reflection of `v = x`.
#[inline(always)]
fn complete<V: Lanes>(
    (p, x): (&mut [V], &[V]),
    (stride, len): (usize, usize),
    row: usize,
    tau: V::Float,
) {
    let first = row / BLOCK * BLOCK;
    let top = first / V::WIDTH;
    let tau = x[0].like(tau.f64());
    let mut product = tau.like(0.0);
    for (p, x) in p.chunks_exact_mut(stride).zip(x.chunks_exact(stride)) {
        V::flat_mut(p)[first..row].fill(V::Float::of(0.0));
        let [of_part] = dots(&p[top..len], [&x[top..len]]);
        product += of_part;
    }
    let alpha = tau.like(-0.5) * tau * tau * product;
    for (p, x) in p.chunks_exact_mut(stride).zip(x.chunks_exact(stride)) {
        for (p, x) in p[top..len].iter_mut().zip(&x[top..len]) {
            *p = alpha.mul_add(*x, *p * tau);
        }
    }
}
