//! Householder's reduction to real upper bidiagonal form, as LAPACK's `gebd2`.

use super::field::Field;
use super::householder::{reflect, reflection};
use super::lanes::Lanes;
use super::tridiagonal::{columns, multiply, AT_ONCE};

/// `Qᴴ A P` bidiagonal, of `m` × `n` with `m >= n`: its diagonal and the elements right of it, the
/// factors of the left and the right reflections, of which the vectors stay in `a`, below the
/// diagonal and right of the element beside it. `work` is `m + n` long.
#[inline(always)]
pub(crate) fn bidiagonal<F: Field>(
    m: usize,
    n: usize,
    a: &mut [F],
    (d, e): (&mut [F::Real], &mut [F::Real]),
    (left, right): (&mut [F], &mut [F]),
    work: &mut [F],
) {
    let one = F::of(a[0].re().like(1.0));
    let (row, sums) = work.split_at_mut(n);
    for k in 0..n {
        let (done, rest) = a.split_at_mut((k + 1) * m);
        let (head, v) = done[k * m..].split_at_mut(k + 1);
        let (diagonal, factor) = reflection(head[k], v);
        (d[k], left[k]) = (diagonal.re(), factor);
        reflect(v, factor.conj(), rest, m, k);
        if k + 1 == n {
            break;
        }
        let row = &mut row[k + 1..n];
        for (x, column) in row.iter_mut().zip(rest.chunks_exact(m)) {
            *x = column[k].conj();
        }
        let (first, others) = row.split_at_mut(1);
        let (beside, factor) = reflection(first[0], others);
        (e[k], right[k]) = (beside.re(), factor);
        if F::PARTS == 1 && k + 2 == n {
            // Of one real number that is nothing to do.
            continue;
        }
        first[0] = one;
        for (x, column) in row.iter().zip(rest.chunks_exact_mut(m)) {
            column[k] = *x;
        }
        reflect_rows(row, factor, rest, m, &mut sums[..m - k - 1]);
    }
}

/// `C H` in place, for the last rows of `columns` (`m` rows each), as many as `sums` holds; `v` is
/// all of the reflection's vector.
#[inline(always)]
fn reflect_rows<F: Field>(v: &[F], tau: F, matrix: &mut [F], m: usize, sums: &mut [F]) {
    let first = m - sums.len();
    sums.fill(F::of(tau.re().like(0.0)));
    let mut factors = v.chunks_exact(AT_ONCE);
    let mut groups = matrix.chunks_exact_mut(AT_ONCE * m);
    for (group, v) in (&mut groups).zip(&mut factors) {
        let columns = columns::<F, AT_ONCE>(group, m, first);
        multiply(&columns, std::array::from_fn(|i| v[i]), sums);
    }
    let rest = groups.into_remainder().chunks_exact_mut(m);
    for (column, v) in rest.zip(factors.remainder()) {
        multiply(&[&mut column[first..]], [*v], sums);
    }
    for sum in sums.iter_mut() {
        *sum = sum.by(tau);
    }
    for (column, v) in matrix.chunks_exact_mut(m).zip(v) {
        for (x, sum) in column[first..].iter_mut().zip(&*sums) {
            *x = x.less_product(*sum, v.conj());
        }
    }
}
