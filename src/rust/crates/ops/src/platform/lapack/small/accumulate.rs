//! Reflections multiplied up, and what else the reductions share.

use super::householder::reflect;
use super::Lanes;

/// `xᵀ y`, in sums that do not wait for one another.
#[inline(always)]
pub(super) fn dot<V: Lanes>(x: &[V], y: &[V]) -> V {
    let mut sums = [V::of(0.0); 4];
    let (mut xs, mut ys) = (x.chunks_exact(4), y.chunks_exact(4));
    for (x, y) in (&mut xs).zip(&mut ys) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum = x.mul_add(*y, *sum);
        }
    }
    for ((sum, x), y) in sums.iter_mut().zip(xs.remainder()).zip(ys.remainder()) {
        *sum = x.mul_add(*y, *sum);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The columns, of `m` rows, of the product of reflections, as LAPACK's `org2l`: reflection `k`
/// begins in row `k + offset` (0 or 1), its vector stands in column `k` below that row.
#[inline(always)]
pub(super) fn form<V: Lanes>(q: &mut [V], m: usize, offset: usize, tau: &[V]) {
    let (zero, one) = (V::of(0.0), V::of(1.0));
    for j in (0..q.len() / m).rev() {
        let (done, rest) = q.split_at_mut((j + 1) * m);
        let (before, column) = done.split_at_mut(j * m);
        let (head, below) = column.split_at_mut((j + 1).min(m));
        if j < offset || j - offset >= tau.len() {
            below.fill(zero);
            head.fill(zero);
            head[j] = one;
            continue;
        }
        if offset > 0 {
            below.copy_from_slice(&before[(j - offset) * m + j + 1..][..below.len()]);
        }
        let tau = tau[j - offset];
        reflect(below, tau, rest, m, j);
        below.iter_mut().for_each(|v| *v = -(tau * *v));
        head.fill(zero);
        head[j] = one - tau;
    }
}
