//! Householder's reduction of one Hermitian matrix to tridiagonal form, by panels as that of a large symmetric one
//! (`reduce.rs`). Reflections are `I - tau v vᴴ` with a real `tau`, so what they leave beside the diagonal is
//! complex: a diagonal matrix of numbers of size 1 makes that real. Real and imaginary parts are matrices of their
//! own, so that products of real columns serve.

use super::product::packed;
use super::reduce::{dots, square, PARTS};
use super::reflect::BLOCK;
use super::reflector::reflection;
use super::share::{share, share_by, worth_it};
use super::sweep::line;
use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Hemv, Product};
use crate::together::Together;

/// Reflections of a panel.
const PANEL: usize = 16;

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

/// The parts of `v` and `w` of a panel's reflection `k`, in some rows.
#[inline(always)]
fn parts_of<V>(known: &[V], stride: usize, k: usize, rows: std::ops::Range<usize>) -> [&[V]; 4] {
    let at = |part: usize| (part * PANEL + k) * stride;
    [
        &known[at(0)..][rows.clone()],
        &known[at(1)..][rows.clone()],
        &known[at(2)..][rows.clone()],
        &known[at(3)..][rows],
    ]
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
                self.take(j, parts_of(known, stride, k, 0..len));
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
                let (re, im) = (V::flat(&x[..stride]), V::flat(&x[stride..]));
                let x = re[j + 1..n].iter().zip(&im[j + 1..n]);
                for (to, (re, im)) in to.chunks_exact_mut(2).zip(x) {
                    (to[0], to[1]) = (*re, *im);
                }
            }
            self.multiply(x, j + 1, p, parts);
            let top = (j + 1) / BLOCK * BLOCK / V::WIDTH;
            for k in 0..i {
                less_known(p, x, stride, top, parts_of(known, stride, k, top..len));
            }
            complete((p, &*x), (stride, len), j + 1, tau);
            for (part, from) in x
                .chunks_exact(stride)
                .chain(p.chunks_exact(stride))
                .enumerate()
            {
                known[(part * PANEL + i) * stride..][..stride].copy_from_slice(from);
            }
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
        let plane = PANEL * stride;
        for (to, from) in [(0, 3), (1, 2), (2, 1), (3, 0)] {
            let to = &mut factors[to * plane..][..plane];
            let from = &known[from * plane..][..plane];
            to.copy_from_slice(from);
        }
        for at in [0, 2 * plane] {
            for factor in &mut factors[at..][..plane] {
                *factor = -*factor;
            }
        }
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
            work,
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

    /// Takes `v wᴴ + w vᴴ` from column `j`.
    #[inline(always)]
    fn take(&mut self, j: usize, known: [&[V]; 4]) {
        let (len, stride) = (self.len, self.stride);
        let (re, im) = self.a.split_at_mut(self.n * stride);
        let mut factors = [re[0]; 4];
        for (factor, known) in factors.iter_mut().zip(known) {
            *factor = factor.like(V::flat(known)[j].f64());
        }
        let [vr_j, vi_j, wr_j, wi_j] = factors;
        let top = j / V::WIDTH;
        let rows = len - top;
        let (re, im) = (
            &mut re[j * stride + top..][..rows],
            &mut im[j * stride + top..][..rows],
        );
        let [vr, vi, wr, wi] = known;
        let (vr, vi) = (&vr[top..][..rows], &vi[top..][..rows]);
        let (wr, wi) = (&wr[top..][..rows], &wi[top..][..rows]);
        for i in 0..rows {
            let value = vi[i].neg_mul_add(wi_j, vr[i].neg_mul_add(wr_j, re[i]));
            re[i] = wi[i].neg_mul_add(vi_j, wr[i].neg_mul_add(vr_j, value));
            let value = vr[i].mul_add(wi_j, vi[i].neg_mul_add(wr_j, im[i]));
            im[i] = wr[i].mul_add(vi_j, wi[i].neg_mul_add(vr_j, value));
        }
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

/// From `p`, in rows from vector `top` on, what `v wᴴ + w vᴴ` makes of `x` is taken.
#[inline(always)]
fn less_known<V: Lanes>(p: &mut [V], x: &[V], stride: usize, top: usize, known: [&[V]; 4]) {
    let rows = known[0].len();
    let (re, im) = x.split_at(stride);
    let [vr_re, vi_re, wr_re, wi_re] = dots(&re[top..][..rows], known);
    let [vr_im, vi_im, wr_im, wi_im] = dots(&im[top..][..rows], known);
    let (v_re, v_im) = (vr_re + vi_im, vr_im - vi_re);
    let (w_re, w_im) = (wr_re + wi_im, wr_im - wi_re);
    let [vr, vi, wr, wi] = known;
    let (vi, wr, wi) = (&vi[..rows], &wr[..rows], &wi[..rows]);
    let (re, im) = p.split_at_mut(stride);
    let (re, im) = (&mut re[top..][..rows], &mut im[top..][..rows]);
    for i in 0..rows {
        let value = vi[i].mul_add(w_im, vr[i].neg_mul_add(w_re, re[i]));
        re[i] = wi[i].mul_add(v_im, wr[i].neg_mul_add(v_re, value));
        let value = vi[i].neg_mul_add(w_re, vr[i].neg_mul_add(w_im, im[i]));
        im[i] = wi[i].neg_mul_add(v_re, wr[i].neg_mul_add(v_im, value));
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
