//! Householder's reduction of one symmetric matrix to tridiagonal form.

use super::panel::{total, Reflection};
use super::reflect::BLOCK;
use super::sweep::line;
use super::lanes_of;
use crate::lanes::{Float, Lanes};
use crate::operands::Sweep;
use crate::together::Together;

/// Vectors from one column to the next of matrices that have lines whole.
pub(crate) fn stride(n: usize, line: usize, width: usize) -> usize {
    (n.div_ceil(line) | 1) * (line / width)
}

/// Vectors that [`tridiagonal`] works in.
pub(crate) fn work_to_reduce(stride: usize) -> usize {
    4 * stride
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
    _together: Together<'_>,
) {
    let lanes = lanes_of(a[0]);
    let zero = lanes.like(0.0);
    let len = n.div_ceil(line::<V>()) * (line::<V>() / V::WIDTH);
    let (mut v, work) = work.split_at_mut(stride);
    let (mut w, work) = work.split_at_mut(stride);
    let (mut x, p) = work.split_at_mut(stride);
    let mut p = &mut p[..stride];
    v.fill(zero);
    w.fill(zero);
    for j in 0..n {
        let column = &mut a[j * stride..][..len];
        let top = j / V::WIDTH;
        let (vj, wj) = (V::flat(v)[j].f64(), V::flat(w)[j].f64());
        let (vj, wj) = (zero.like(vj), zero.like(wj));
        for ((to, v), w) in column[top..].iter_mut().zip(&v[top..]).zip(&w[top..]) {
            *to = w.neg_mul_add(vj, v.neg_mul_add(wj, *to));
        }
        d[j] = V::flat(column)[j];
        if j + 1 == n {
            break;
        }
        (e[j], tau[j]) = reflection(column, j + 1, &mut x[..len], lanes);
        let step = Sweep {
            n,
            stride,
            first: j + 1,
            x: &x[..len],
            v: &v[..len],
            w: &w[..len],
        };
        V::sweep(a, &step, p);
        complete(&mut p[..len], &x[..len], j + 1, tau[j]);
        (v, w, x, p) = (x, p, v, w);
    }
}

/// The reflection of what is below the row before `row`: its element there and the factor. `x` becomes the vector, 0 in
/// the rows of its first block before it.
#[inline(always)]
fn reflection<V: Lanes>(
    column: &mut [V],
    row: usize,
    x: &mut [V],
    lanes: V,
) -> (V::Float, V::Float) {
    let first = row / BLOCK * BLOCK;
    let top = first / V::WIDTH;
    let mut made = Reflection::of(&mut column[top..], row - first, lanes);
    let tau = made.make();
    let beside = V::flat(column)[row];
    x[top..].copy_from_slice(&column[top..]);
    let x = V::flat_mut(x);
    x[first..row].fill(V::Float::of(0.0));
    x[row] = V::Float::of(1.0);
    (beside, tau)
}

/// `p = A x` becomes the `w` with which `v wᵀ + w vᵀ` is to be taken from `A` for the reflection of `v = x`.
#[inline(always)]
fn complete<V: Lanes>(p: &mut [V], x: &[V], row: usize, tau: V::Float) {
    let first = row / BLOCK * BLOCK;
    let top = first / V::WIDTH;
    V::flat_mut(p)[first..row].fill(V::Float::of(0.0));
    let (p, x) = (&mut p[top..], &x[top..]);
    let tau = x[0].like(tau.f64());
    let half = tau.like(-0.5) * tau * tau;
    let alpha = half * tau.like(dot(p, x).f64());
    for (p, x) in p.iter_mut().zip(x) {
        *p = alpha.mul_add(*x, *p * tau);
    }
}

/// The inner product, in an order that does not depend on the vectors' width.
#[inline(always)]
fn dot<V: Lanes>(x: &[V], y: &[V]) -> V::Float {
    let tall = BLOCK / V::WIDTH;
    let mut sums = [x[0].like(0.0); BLOCK];
    for (x, y) in x.chunks(tall).zip(y.chunks(tall)) {
        for ((x, y), sum) in x.iter().zip(y).zip(&mut sums[..tall]) {
            *sum = x.mul_add(*y, *sum);
        }
    }
    total(sums, tall)
}
