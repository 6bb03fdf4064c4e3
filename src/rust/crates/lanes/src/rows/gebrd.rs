//! Householder's reduction of one complex matrix to upper bidiagonal form, by panels as that of a large real one
//! (`bidiagonal.rs`). Reflections are `I - tau v vᴴ` with a real `tau`, so what they leave is complex: diagonal
//! matrices of numbers of size 1 make it real.

use super::bidiagonal::places;
use super::pending::Pending;
use super::planes::{both, interleave, keep, turn, PANEL};
use super::product::{packed, room};
use super::reduce::dots;
use super::reflect::BLOCK;
use super::reflector::reflection;
use super::share::share;
use super::step::{Pass, PARTS};
use super::sweep::line;
use crate::householder;
use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Gemver, Product};
use crate::together::Together;

/// Vectors that [`gebrd`] works in.
pub(super) fn work_to_reduce(stride: usize, width: usize) -> usize {
    (12 * PANEL + 14 + 6 * PARTS) * stride + packed(stride, 4 * PANEL, width)
}

/// What becomes of a matrix of `n` columns, as parts of complex numbers.
pub(super) struct Reduced<'a, T> {
    /// The diagonal, and what is right of it.
    pub(super) d: &'a mut [T],
    pub(super) e: &'a mut [T],
    /// The factors of the left and the right reflections, complex numbers whose imaginary parts are 0.
    pub(super) left: &'a mut [T],
    pub(super) right: &'a mut [T],
    /// The vectors of the left reflections, as columns of `m` numbers, and of the right ones, conjugated, of `n`; nothing
    /// if not wanted.
    pub(super) left_vectors: &'a mut [T],
    pub(super) right_vectors: &'a mut [T],
}

/// A matrix that is being reduced, as its real parts, then its imaginary parts.
struct Matrix<'a, V> {
    m: usize,
    n: usize,
    /// Vectors of a column and of a row.
    tall: usize,
    wide: usize,
    stride: usize,
    a: &'a mut [V],
    together: Together<'a>,
}

/// `Qᴴ A P` bidiagonal, of `m` rows and no more columns, which stand in as many [`places`] as these have.
#[inline(always)]
pub(super) fn gebrd<V: Lanes>(
    (m, n, stride): (usize, usize, usize),
    a: &mut [V],
    results: &mut Reduced<'_, V::Float>,
    work: &mut [V],
    together: Together<'_>,
) {
    let mut matrix = Matrix {
        m,
        n,
        tall: places(m, line::<V>()) / V::WIDTH,
        wide: places(n, line::<V>()) / V::WIDTH,
        stride,
        a,
        together,
    };
    for start in (0..n).step_by(PANEL) {
        matrix.by_panel(start, results, work);
    }
}

/// A reflection of a row: its elements before and after it, and its factor.
struct Made {
    alpha: [f64; 2],
    beta: [f64; 2],
    tau: f64,
}

impl<V: Lanes> Matrix<'_, V> {
    /// So many columns as a panel has, or as there are, from `start` on.
    #[inline(always)]
    fn by_panel(&mut self, start: usize, results: &mut Reduced<'_, V::Float>, work: &mut [V]) {
        let (n, stride) = (self.n, self.stride);
        let (columns, work) = work.split_at_mut(4 * PANEL * stride);
        let (rows, work) = work.split_at_mut(4 * PANEL * stride);
        let (factors, work) = work.split_at_mut(4 * PANEL * stride);
        let (base, work) = work.split_at_mut(4 * stride);
        let (vectors, work) = work.split_at_mut(10 * stride);
        let (parts, work) = work.split_at_mut(6 * PARTS * stride);
        rows.fill(self.a[0].like(0.0));
        vectors.fill(rows[0]);
        let mut vectors = vectors.chunks_exact_mut(2 * stride);
        let [v, y, x, u, w] = std::array::from_fn(|_| vectors.next().unwrap_or_default());
        for i in 0..PANEL.min(n - start) {
            let j = start + i;
            let known = Pending {
                columns: &*columns,
                rows: &*rows,
                count: i,
                stride,
                vectors: j / BLOCK * BLOCK / V::WIDTH..self.tall,
                wide: self.wide,
            };
            let top = known.vectors.start;
            let tau = self.reflect_column(j, &known, v, results);
            if j + 1 == n {
                return;
            }
            base.fill(rows[0].like(0.0));
            let (product, row) = base.split_at_mut(2 * stride);
            known.take_from_rows(v, j, [&mut *product, &mut *row]);
            let step = Gemver {
                stride,
                top,
                end: self.tall,
                which: j + 1..places(n, line::<V>()),
                row: j,
                v,
                tau,
                base: [product, row],
            };
            self.multiply(&step, [&mut *y, &mut *x, &mut *w], parts);
            let made = self.reflect_row(j, x, u, results);
            self.begin(w, j, &made);
            known.take_from_product(u, (j + 1) / BLOCK * BLOCK / V::WIDTH, w);
            self.finish(w, [v, y, u], j, made.tau);
            keep(columns, stride, i, [&*v, &*w]);
            keep(rows, stride, i, [&*y, &*u]);
        }
        let end = start + PANEL;
        if end < n {
            factors.copy_from_slice(rows);
            self.update(0, end, (columns, factors), work);
            turn(factors, stride);
            self.update(1, end, (columns, factors), work);
        }
    }

    /// Makes the left reflection of column `j`, `v`, and returns its factor.
    #[inline(always)]
    fn reflect_column(
        &mut self,
        j: usize,
        known: &Pending<'_, V>,
        v: &mut [V],
        results: &mut Reduced<'_, V::Float>,
    ) -> f64 {
        let (m, stride) = (self.m, self.stride);
        let (re, im) = self.a.split_at_mut(self.a.len() / 2);
        let (re, im) = (&mut re[j * stride..], &mut im[j * stride..]);
        let rows = known.vectors.clone();
        known.take_from([&mut re[rows.clone()], &mut im[rows]], j);
        let (beta, tau) = reflection([&re[..self.tall], &im[..self.tall]], j, v);
        results.d[2 * j..][..2].copy_from_slice(&beta);
        (results.left[2 * j], results.left[2 * j + 1]) = (tau, V::Float::of(0.0));
        if !results.left_vectors.is_empty() {
            let to = &mut results.left_vectors[2 * m * j..][2 * j..2 * m];
            interleave(v.split_at(stride), j..m, to, false);
        }
        tau.f64()
    }

    /// The reflection of row `j` right of the diagonal, which `x` is, conjugated; `u` becomes its vector.
    #[inline(always)]
    fn reflect_row(
        &self,
        j: usize,
        x: &mut [V],
        u: &mut [V],
        results: &mut Reduced<'_, V::Float>,
    ) -> Made {
        let (n, stride, first) = (self.n, self.stride, j + 1);
        let zero = x[0].like(0.0);
        let [re, im] = both(x, stride, 0..self.wide);
        let alpha = [V::flat(re)[first], V::flat(im)[first]];
        let from = first / line::<V>() * line::<V>() / V::WIDTH;
        // What is that small is rounding of the largest elements, which are near 1; its squares would be inexact.
        let [a] = dots(&re[from..], [&re[from..]]);
        let [b] = dots(&im[from..], [&im[from..]]);
        if (a + b).any_less(householder::Range::like(zero).tiny) {
            for (x, alpha) in [&mut *re, &mut *im].into_iter().zip(alpha) {
                x[from..].fill(zero);
                V::flat_mut(x)[first] = alpha;
            }
        }
        let (beta, tau) = reflection([&*re, &*im], first, u);
        results.e[2 * j] = beta[0];
        results.e[2 * j + 1] = V::Float::of(-beta[1].f64());
        (results.right[2 * j], results.right[2 * j + 1]) = (tau, V::Float::of(0.0));
        if !results.right_vectors.is_empty() {
            let to = &mut results.right_vectors[2 * n * j..][2 * first..2 * n];
            interleave(u.split_at(stride), first..n, to, true);
        }
        Made {
            alpha: [alpha[0].f64(), alpha[1].f64()],
            beta: [beta[0].f64(), beta[1].f64()],
            tau: tau.f64(),
        }
    }

    /// `w`, the product of the matrix with row `j`, conjugated, before its reflection, becomes that with the vector of
    /// the reflection, which is the row divided by `-beta tau` but for its first element, 1.
    #[inline(always)]
    fn begin(&self, w: &mut [V], j: usize, made: &Made) {
        let stride = self.stride;
        let top = j / BLOCK * BLOCK / V::WIDTH;
        let rows = (j + 1) * stride + top..(j + 1) * stride + self.tall;
        let (a_re, a_im) = self.a.split_at(self.a.len() / 2);
        let (a_re, a_im) = (&a_re[rows.clone()], &a_im[rows]);
        let [re, im] = both(w, stride, top..self.tall);
        let zero = a_re[0].like(0.0);
        if made.tau == 0.0 {
            re.fill(zero);
            im.fill(zero);
            return;
        }
        let ([x, y], [alpha, alpha_im]) = (made.beta, made.alpha);
        let size = -made.tau * (x * x + y * y);
        let (f, f_im) = (x / size, -y / size);
        let first = [
            1.0 - (f * alpha - f_im * alpha_im),
            -(f * alpha_im + f_im * alpha),
        ];
        let (f, f_im) = (zero.like(f), zero.like(f_im));
        let (first, first_im) = (zero.like(first[0]), zero.like(first[1]));
        for i in 0..re.len() {
            let (x, y, a, b) = (re[i], im[i], a_re[i], a_im[i]);
            re[i] = y.neg_mul_add(f_im, x.mul_add(f, b.neg_mul_add(first_im, a * first)));
            im[i] = y.mul_add(f, x.mul_add(f_im, b.mul_add(first, a * first_im)));
        }
    }

    /// `w` becomes what is to be taken from the matrix with the row `u`, once `y` is taken with the column `v`.
    #[inline(always)]
    fn finish(&self, w: &mut [V], [v, y, u]: [&[V]; 3], j: usize, tau: f64) {
        let (stride, first) = (self.stride, j / BLOCK * BLOCK);
        let top = (j + 1) / BLOCK * BLOCK / V::WIDTH;
        let ((y_re, y_im), (u_re, u_im)) = (y.split_at(stride), u.split_at(stride));
        let (y_re, y_im) = (&y_re[top..self.wide], &y_im[top..self.wide]);
        let [re_re, im_re] = dots(&u_re[top..self.wide], [y_re, y_im]);
        let [re_im, im_im] = dots(&u_im[top..self.wide], [y_re, y_im]);
        let (s, s_im, tau) = (re_re + im_im, re_im - im_re, re_re.like(tau));
        let rows = first / V::WIDTH..self.tall;
        let (v_re, v_im) = v.split_at(stride);
        let (v_re, v_im) = (&v_re[rows.clone()], &v_im[rows.clone()]);
        let [re, im] = both(w, stride, rows);
        for i in 0..re.len() {
            let (x, y) = (v_re[i], v_im[i]);
            re[i] = tau * y.mul_add(s_im, x.neg_mul_add(s, re[i]));
            im[i] = tau * y.neg_mul_add(s, x.neg_mul_add(s_im, im[i]));
        }
        for w in w.chunks_exact_mut(stride) {
            V::flat_mut(w)[first..=j].fill(V::Float::of(0.0));
        }
    }

    /// As [`gemvh`](super::gemvh::gemvh), by several threads.
    #[inline(always)]
    fn multiply(&self, step: &Gemver<'_, V>, results: [&mut [V]; 3], parts: &mut [V]) {
        let a = &*self.a;
        let pass = Pass {
            stride: self.stride,
            planes: 2,
            which: step.which.clone(),
            rows: step.top..step.end,
            operations: 16 * step.which.len() * (self.m - step.row),
        };
        pass.share(self.together, results, parts, &|which, results| {
            let step = Gemver {
                which,
                ..step.clone()
            };
            V::gemvh(a, &step, results);
        });
    }

    /// Takes from a part of the columns from `end` on what a panel before these leaves to be taken.
    #[inline(always)]
    fn update(&mut self, part: usize, end: usize, (columns, rows): (&[V], &[V]), work: &mut [V]) {
        let (stride, tall) = (self.stride, self.tall);
        let plane = self.a.len() / 2;
        let to = &mut self.a[part * plane..][end * stride..self.n * stride];
        let operations = 8 * PANEL * to.len() * V::WIDTH;
        share(
            self.together,
            operations,
            to,
            stride,
            room(work, stride, 4 * PANEL),
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
