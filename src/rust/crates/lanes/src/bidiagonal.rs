//! Householder's reduction to upper bidiagonal form, as LAPACK's `gebd2`.

use super::householder::{reflect, reflection};
use super::lanes::Lanes;
use super::tridiagonal::{columns, multiply, AT_ONCE};

/// `Qᵀ A P` bidiagonal, of `m` × `n` with `m >= n`: its diagonal and the elements right of it, the
/// factors of the left and the right reflections, of which the vectors stay in `a`, below the
/// diagonal and right of the element beside it. `work` is `m + n` long.
#[inline(always)]
pub(crate) fn bidiagonal<V: Lanes>(
    m: usize,
    n: usize,
    a: &mut [V],
    (d, e): (&mut [V], &mut [V]),
    (left, right): (&mut [V], &mut [V]),
    work: &mut [V],
) {
    let (row, sums) = work.split_at_mut(n);
    for k in 0..n {
        let (done, rest) = a.split_at_mut((k + 1) * m);
        let (head, v) = done[k * m..].split_at_mut(k + 1);
        (d[k], left[k]) = reflection(head[k], v);
        reflect(v, left[k], rest, m, k);
        if k + 1 == n {
            break;
        }
        let row = &mut row[k + 1..n];
        for (x, column) in row.iter_mut().zip(rest.chunks_exact(m)) {
            *x = column[k];
        }
        let (first, others) = row.split_at_mut(1);
        (e[k], right[k]) = reflection(first[0], others);
        if k + 2 == n {
            continue;
        }
        first[0] = first[0].like(1.0);
        for (x, column) in row.iter().zip(rest.chunks_exact_mut(m)) {
            column[k] = *x;
        }
        reflect_rows(row, right[k], rest, m, &mut sums[..m - k - 1]);
    }
}

/// `C H` in place, for the last rows of `columns` (`m` rows each), as many as `sums` holds; `v` is
/// all of the reflection's vector.
#[inline(always)]
fn reflect_rows<V: Lanes>(v: &[V], tau: V, matrix: &mut [V], m: usize, sums: &mut [V]) {
    let first = m - sums.len();
    sums.fill(tau.like(0.0));
    let mut factors = v.chunks_exact(AT_ONCE);
    let mut groups = matrix.chunks_exact_mut(AT_ONCE * m);
    for (group, v) in (&mut groups).zip(&mut factors) {
        let columns = columns::<V, AT_ONCE>(group, m, first);
        multiply(&columns, std::array::from_fn(|i| v[i]), sums);
    }
    let rest = groups.into_remainder().chunks_exact_mut(m);
    for (column, v) in rest.zip(factors.remainder()) {
        multiply(&[&mut column[first..]], [*v], sums);
    }
    for sum in sums.iter_mut() {
        *sum = *sum * tau;
    }
    for (column, v) in matrix.chunks_exact_mut(m).zip(v) {
        for (x, sum) in column[first..].iter_mut().zip(&*sums) {
            *x = sum.neg_mul_add(*v, *x);
        }
    }
}
