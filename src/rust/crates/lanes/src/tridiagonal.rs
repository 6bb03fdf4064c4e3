//! Householder's reduction of symmetric or Hermitian matrices to real tridiagonal form, as LAPACK's `sytd2` and
//! `hetd2`. Both triangles are kept up to date: so all is done along columns.

use super::field::Field;
use super::householder::reflection;
use super::lanes::Lanes;
use super::update::products;

/// Columns that are read together, so that what is summed is loaded and stored less often.
pub(crate) const AT_ONCE: usize = 4;

/// `Qᴴ A Q` tridiagonal: its diagonal, the elements beside it and the factors of the reflections,
/// of which the vectors stay in `a`, from two rows below the diagonal on. `work` is `2 n` long.
#[inline(always)]
pub(crate) fn tridiagonal<F: Field>(
    n: usize,
    a: &mut [F],
    (d, e, tau): (&mut [F::Real], &mut [F::Real], &mut [F]),
    work: &mut [F],
) {
    let any = a[0].re();
    let (zero, one) = (F::of(any.like(0.0)), F::of(any.like(1.0)));
    let half = any.like(-0.5);
    let (mut w, mut p) = work.split_at_mut(n);
    for k in 0..n {
        let (done, rest) = a.split_at_mut((k + 1) * n);
        let (before, column) = done.split_at_mut(k * n);
        // What the last reflection does to this column, and, below, to those after it.
        let last = if k > 0 { &before[(k - 1) * n..] } else { &[] };
        if k > 0 {
            update(
                &mut [&mut column[k..]],
                &last[k..n],
                &w[k..n],
                [(last[k], w[k])],
            );
        }
        d[k] = column[k].re();
        if k + 1 == n {
            break;
        }
        let (beside, factor) = reflection(column[k + 1], &mut column[k + 2..]);
        (e[k], tau[k]) = (beside.re(), factor);
        column[k + 1] = one;
        let v = &column[k + 1..];
        let p_here = &mut p[k + 1..n];
        p_here.fill(zero);
        let mut j = k + 1;
        let mut groups = rest.chunks_exact_mut(AT_ONCE * n);
        for group in &mut groups {
            let mut columns = columns::<F, AT_ONCE>(group, n, k + 1);
            let at = [j, j + 1, j + 2, j + 3];
            if k > 0 {
                let factors = at.map(|j| (last[j], w[j]));
                update(&mut columns, &last[k + 1..n], &w[k + 1..n], factors);
            }
            multiply(&columns, at.map(|j| v[j - k - 1]), p_here);
            j += AT_ONCE;
        }
        for column in groups.into_remainder().chunks_exact_mut(n) {
            let mut columns = columns::<F, 1>(column, n, k + 1);
            if k > 0 {
                update(
                    &mut columns,
                    &last[k + 1..n],
                    &w[k + 1..n],
                    [(last[j], w[j])],
                );
            }
            multiply(&columns, [v[j - k - 1]], p_here);
            j += 1;
        }
        let tau = tau[k];
        for p in p_here.iter_mut() {
            *p = p.by(tau);
        }
        let [product] = products(p_here, [v], [zero]);
        // Real, but for rounding.
        let alpha = F::of(tau.times(half).by(product).re());
        for (p, v) in p_here.iter_mut().zip(v) {
            *p = p.plus_product(alpha, *v);
        }
        std::mem::swap(&mut w, &mut p);
    }
}

/// The columns, of `n` rows, of `group` from row `first` on.
#[inline(always)]
pub(crate) fn columns<V, const N: usize>(group: &mut [V], n: usize, first: usize) -> [&mut [V]; N] {
    let mut columns = group.chunks_exact_mut(n);
    std::array::from_fn(|_| match columns.next() {
        Some(column) => &mut column[first..],
        None => &mut [],
    })
}

/// Takes `v wᴴ + w vᴴ` from columns; their factors are `v` and `w` in the rows of their numbers.
#[inline(always)]
fn update<F: Field, const N: usize>(
    columns: &mut [&mut [F]; N],
    v: &[F],
    w: &[F],
    factors: [(F, F); N],
) {
    let w = &w[..v.len()];
    for column in columns.iter() {
        assert_eq!(column.len(), v.len());
    }
    for (i, (v, w)) in v.iter().zip(w).enumerate() {
        for (column, (vj, wj)) in columns.iter_mut().zip(factors) {
            column[i] = column[i]
                .less_product(*v, wj.conj())
                .less_product(*w, vj.conj());
        }
    }
}

/// Adds the columns times their factors.
#[inline(always)]
pub(crate) fn multiply<F: Field, const N: usize>(
    columns: &[&mut [F]; N],
    factors: [F; N],
    sum: &mut [F],
) {
    for column in columns {
        assert_eq!(column.len(), sum.len());
    }
    for (i, sum) in sum.iter_mut().enumerate() {
        let mut new = *sum;
        for (column, factor) in columns.iter().zip(factors) {
            new = new.plus_product(column[i], factor);
        }
        *sum = new;
    }
}
