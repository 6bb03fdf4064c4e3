//! Householder's reduction of one symmetric matrix to tridiagonal form. While the matrix is larger than the cache, a
//! panel of reflections at a time, as LAPACK's `latrd` (Dongarra, Hammarling and Sorensen, Block reduction of matrices
//! to condensed forms for eigenvalue computations, LAPACK Working Note 2): what they take from the rest is taken at
//! once, so that a reflection reads it and does not write it. Then one by one, each in the same pass as the next one's
//! product.

use super::lanes_of;
use super::panel::{total, Reflection};
use super::product::{packed, room};
use super::reflect::BLOCK;
use super::share::{share, share_by, worth_it};
use super::sweep::line;
use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Product, Sweep};
use crate::scratch::Line;
use crate::together::Together;

/// Reflections of a panel.
const PANEL: usize = 32;

/// Bytes of a triangle that are read and written as fast as they are read.
const CACHE: usize = 512 * 1024;

/// Parts of a product with a large matrix: so many whoever helps, as they are added up one after the other.
pub(super) const PARTS: usize = 8;

/// Vectors from one column to the next of matrices that have lines whole.
pub(crate) fn stride(n: usize, line: usize, width: usize) -> usize {
    (n.div_ceil(line) | 1) * (line / width)
}

/// Vectors that [`tridiagonal`] works in.
pub(crate) fn work_to_reduce(stride: usize, width: usize) -> usize {
    (3 * PANEL + PARTS) * stride + packed(stride, 2 * PANEL, width)
}

/// A matrix that is being reduced: its columns, rows as vectors, and vectors from one column to the next.
struct Matrix<'a, V> {
    n: usize,
    len: usize,
    stride: usize,
    a: &'a mut [V],
    lanes: V,
    together: Together<'a>,
}

/// The diagonal, the elements beside it, and the factors of the reflections; each of them has `n` places.
pub(crate) type Results<'a, T> = (&'a mut [T], &'a mut [T], &'a mut [T]);

/// `Qᵀ A Q` tridiagonal, of the lower triangle of a matrix that is 0 in the rows after its own, and whose squares of a
/// line on the diagonal are whole. The reflections stay in `a`, below the elements beside the diagonal.
#[inline(always)]
pub(crate) fn tridiagonal<V: Lanes>(
    (n, stride): (usize, usize),
    a: &mut [V],
    (d, e, tau): Results<'_, V::Float>,
    work: &mut [V],
    together: Together<'_>,
) {
    let mut matrix = Matrix {
        n,
        len: n.div_ceil(line::<V>()) * (line::<V>() / V::WIDTH),
        stride,
        lanes: lanes_of(a[0]),
        a,
        together,
    };
    let mut done = 0;
    while (n - done) * (n - done) / 2 * size_of::<V::Float>() > CACHE {
        matrix.by_panel(done, (&mut *d, &mut *e, &mut *tau), work);
        done += PANEL;
    }
    matrix.one_by_one(done, (d, e, tau), work);
}

impl<V: Lanes> Matrix<'_, V> {
    /// The reflections from `start` on.
    #[inline(always)]
    fn one_by_one(&mut self, start: usize, (d, e, tau): Results<'_, V::Float>, work: &mut [V]) {
        let (n, len, stride) = (self.n, self.len, self.stride);
        let zero = self.lanes.like(0.0);
        let (mut v, work) = work.split_at_mut(stride);
        let (mut w, work) = work.split_at_mut(stride);
        let (mut x, p) = work.split_at_mut(stride);
        let mut p = &mut p[..stride];
        v.fill(zero);
        w.fill(zero);
        for j in start..n {
            let column = &mut self.a[j * stride..][..len];
            let top = j / V::WIDTH;
            take(&mut column[top..], [(&v[top..], w), (&w[top..], v)], j);
            d[j] = V::flat(column)[j];
            if j + 1 == n {
                break;
            }
            (e[j], tau[j]) = reflection(column, j + 1, &mut x[..len]);
            let step = Sweep {
                n,
                stride,
                first: j + 1,
                x: &x[..len],
                v: &v[..len],
                w: &w[..len],
            };
            V::sweep(self.a, &step, p);
            complete(&mut p[..len], &x[..len], j + 1, tau[j]);
            (v, w, x, p) = (x, p, v, w);
        }
    }

    /// So many reflections as a panel has, from `start` on.
    #[inline(always)]
    fn by_panel(&mut self, start: usize, (d, e, tau): Results<'_, V::Float>, work: &mut [V]) {
        let (n, len, stride) = (self.n, self.len, self.stride);
        let (known, work) = work.split_at_mut(3 * PANEL * stride);
        let (parts, work) = work.split_at_mut(PARTS * stride);
        for i in 0..PANEL {
            let j = start + i;
            let (vs, ws) = known.split_at_mut(PANEL * stride);
            let (vs, x) = vs.split_at_mut(i * stride);
            let (ws, p) = ws.split_at_mut(i * stride);
            let (x, p) = (&mut x[..len], &mut p[..len]);
            let column = &mut self.a[j * stride..][..len];
            let top = j / V::WIDTH;
            for (v, w) in vs.chunks_exact(stride).zip(ws.chunks_exact(stride)) {
                let (v, w) = (&v[..len], &w[..len]);
                take(&mut column[top..], [(&v[top..], w), (&w[top..], v)], j);
            }
            d[j] = V::flat(column)[j];
            (e[j], tau[j]) = reflection(column, j + 1, x);
            self.multiply(x, j + 1, p, parts);
            let top = (j + 1) / BLOCK * BLOCK / V::WIDTH;
            for (v, w) in vs.chunks_exact(stride).zip(ws.chunks_exact(stride)) {
                let (v, w) = (&v[top..len], &w[top..len]);
                let [vx, wx] = dots(&x[top..], [v, w]);
                for ((p, v), w) in p[top..].iter_mut().zip(v).zip(w) {
                    *p = w.neg_mul_add(vx, v.neg_mul_add(wx, *p));
                }
            }
            complete(p, x, j + 1, tau[j]);
        }
        let end = start + PANEL;
        let (left, again) = known.split_at_mut(2 * PANEL * stride);
        again.copy_from_slice(&left[..PANEL * stride]);
        let known = &*known;
        let step = Product {
            stride,
            rows: end / V::WIDTH..len,
            known: &known[..2 * PANEL * stride],
            first: (0, end),
            factors: Factors::Beside(&known[PANEL * stride..]),
        };
        let to = &mut self.a[end * stride..n * stride];
        let operations = 2 * PANEL * to.len() * V::WIDTH;
        share(
            self.together,
            operations,
            to,
            stride,
            room(work, stride, 2 * PANEL),
            &|at, part, work| {
                let first = end + at;
                let step = Product {
                    rows: first / V::WIDTH..len,
                    first: (0, first),
                    ..step.clone()
                };
                V::product(part, &step, work);
            },
        );
        square(self.a, end..n, stride);
    }

    /// `p` becomes the product with `x` of what there is from row and column `first` on.
    #[inline(always)]
    fn multiply(&self, x: &[V], first: usize, p: &mut [V], parts: &mut [V]) {
        let (n, len, stride) = (self.n, self.len, self.stride);
        let step = &Sweep {
            n,
            stride,
            first,
            x,
            v: x,
            w: x,
        };
        let a = &*self.a;
        let operations = 2 * (n - first) * (n - first);
        if !worth_it(operations) {
            V::multiply(p, a, step, first..n);
            return;
        }
        // The columns are as many numbers in each part.
        let line = size_of::<Line>() / size_of::<V::Float>();
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
        let all = (&mut *parts, stride);
        share_by(
            least,
            self.together,
            operations,
            all,
            &mut [],
            &|at, part, _| {
                for (p, at) in part.chunks_exact_mut(stride).zip(at..) {
                    V::multiply(&mut p[..len], a, step, start(at)..start(at + 1));
                }
            },
        );
        let top = first / line * line / V::WIDTH;
        p[top..].fill(x[0].like(0.0));
        for (at, part) in parts.chunks_exact(stride).enumerate() {
            // The rows before its columns are none of a part's.
            let top = start(at) / line * line / V::WIDTH;
            for (p, part) in p[top..].iter_mut().zip(&part[top..len]) {
                *p += *part;
            }
        }
    }
}

/// From the column `j`, `v wᵀ + w vᵀ`: of each pair the rows that are left, and a whole vector with the factor.
#[inline(always)]
pub(super) fn take<V: Lanes>(to: &mut [V], [(v, w_all), (w, v_all)]: [(&[V], &[V]); 2], j: usize) {
    let (vj, wj) = (V::flat(v_all)[j].f64(), V::flat(w_all)[j].f64());
    let (vj, wj) = (to[0].like(vj), to[0].like(wj));
    for ((to, v), w) in to.iter_mut().zip(v).zip(w) {
        *to = w.neg_mul_add(vj, v.neg_mul_add(wj, *to));
    }
}

/// The reflection of what is below the row before `row`: its element there and the factor. `x` becomes the vector, 0 in
/// the rows of its first block before it.
#[inline(always)]
pub(super) fn reflection<V: Lanes>(
    column: &mut [V],
    row: usize,
    x: &mut [V],
) -> (V::Float, V::Float) {
    let mut results = [V::Float::of(0.0); 2];
    V::larfg(column, row, x, &mut results);
    let [beside, tau] = results;
    (beside, tau)
}

/// See [`reflection`].
#[inline(always)]
pub(crate) fn larfg<V: Lanes>(
    column: &mut [V],
    row: usize,
    x: &mut [V],
    results: &mut [V::Float; 2],
) {
    let first = row / BLOCK * BLOCK;
    let top = first / V::WIDTH;
    let lanes = lanes_of(column[0]);
    let mut made = Reflection::of(&mut column[top..], row - first, lanes);
    let tau = made.make();
    *results = [V::flat(column)[row], tau];
    x[top..].copy_from_slice(&column[top..]);
    let x = V::flat_mut(x);
    x[first..row].fill(V::Float::of(0.0));
    x[row] = V::Float::of(1.0);
}

/// `p = A x` becomes the `w` with which `v wᵀ + w vᵀ` is to be taken from `A` for the reflection of `v = x`.
#[inline(always)]
fn complete<V: Lanes>(p: &mut [V], x: &[V], row: usize, tau: V::Float) {
    let first = row / BLOCK * BLOCK;
    let top = first / V::WIDTH;
    V::flat_mut(p)[first..row].fill(V::Float::of(0.0));
    let (p, x) = (&mut p[top..], &x[top..]);
    let tau = x[0].like(tau.f64());
    let [product] = dots(p, [x]);
    let alpha = tau.like(-0.5) * tau * tau * product;
    for (p, x) in p.iter_mut().zip(x) {
        *p = alpha.mul_add(*x, *p * tau);
    }
}

/// Inner products with `x`, in an order that does not depend on the vectors' width, in all lanes.
#[inline(always)]
pub(super) fn dots<V: Lanes, const N: usize>(x: &[V], columns: [&[V]; N]) -> [V; N] {
    let tall = BLOCK / V::WIDTH;
    let zero = x[0].like(0.0);
    let mut sums = [[zero; BLOCK]; N];
    let mut at = 0;
    while at < x.len() {
        for q in 0..tall.min(x.len() - at) {
            for (column, sums) in columns.iter().zip(&mut sums) {
                sums[q] = x[at + q].mul_add(column[at + q], sums[q]);
            }
        }
        at += tall;
    }
    let mut results = [zero; N];
    for (result, sums) in results.iter_mut().zip(sums) {
        *result = zero.like(total(sums, tall).f64());
    }
    results
}

/// Makes the squares of a line on the diagonal whole, in these columns.
#[inline(always)]
pub(super) fn square<V: Lanes>(a: &mut [V], which: std::ops::Range<usize>, stride: usize) {
    let (line, rows) = (line::<V>(), stride * V::WIDTH);
    let a = V::flat_mut(a);
    for j in which.clone() {
        for i in j + 1..which.end.min(j / line * line + line) {
            a[i * rows + j] = a[j * rows + i];
        }
    }
}
