//! Reflections multiplied up.

use super::field::Field;
use super::householder::reflect;
use super::lanes::Lanes;

/// The columns, of `m` rows, of the product of reflections, as LAPACK's `org2l` and `ung2l`: reflection `k`
/// begins in row `k + offset` (0 or 1), its vector stands in column `k` below that row.
#[inline(always)]
pub(crate) fn form<F: Field>(q: &mut [F], m: usize, offset: usize, tau: &[F]) {
    let any = q[0].re();
    let (zero, one) = (F::of(any.like(0.0)), F::of(any.like(1.0)));
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
        for v in below.iter_mut() {
            *v = -tau.by(*v);
        }
        head.fill(zero);
        head[j] = one - tau;
    }
}
