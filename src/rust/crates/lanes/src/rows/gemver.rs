//! Passes over a matrix, one for each step of a reduction to bidiagonal form: what the time of that goes into. A few
//! columns at a time are multiplied by the reflection of the rows, which gives as many elements of the row that the
//! next reflection is of; so they can be added to the product with that one, too, while they are in the cache (Howell,
//! Demmel, Fulton, Hammarling and Marmol, Cache efficient bidiagonalization using BLAS 2.5 operators, ACM Trans. Math.
//! Softw. 34, 2008; the names are those of the BLAS).
//!
//! Lines are those of [`sweep`](super::sweep), so that the sums do not depend on the vectors' width.

use super::lanes_of;
use super::sweep::{add_up, line, LINE};
use crate::lanes::{Float, Lanes};
use crate::operands::{Gemver, Update};
use crate::tridiagonal::columns;

/// Takes `taken` from the columns `a`, and then does as [`gemvt`].
#[inline(always)]
pub(crate) fn gemver<V: Lanes>(
    a: &mut [V],
    step: &Gemver<'_, V>,
    taken: Update<'_, V>,
    results: [&mut [V]; 3],
) {
    match line::<V>() / V::WIDTH {
        1 => gemver_by_lines::<V, 1, 8>(a, step, taken, results),
        2 => gemver_by_lines::<V, 2, 2>(a, step, taken, results),
        _ => gemver_by_lines::<V, 4, 2>(a, step, taken, results),
    }
}

/// The first result becomes `tau Aᵀ v`, the row that is taken from the matrix with the column `v`; the second one `x`,
/// what is left of row `row`; the third one `A x`. The first two are 0 in a line of columns before the first one.
#[inline(always)]
pub(crate) fn gemvt<V: Lanes>(a: &[V], step: &Gemver<'_, V>, results: [&mut [V]; 3]) {
    match line::<V>() / V::WIDTH {
        1 => gemvt_by_lines::<V, 1, 8>(a, step, results),
        2 => gemvt_by_lines::<V, 2, 4>(a, step, results),
        _ => gemvt_by_lines::<V, 4, 4>(a, step, results),
    }
}

#[inline(always)]
fn gemver_by_lines<V: Lanes, const TALL: usize, const G: usize>(
    a: &mut [V],
    step: &Gemver<'_, V>,
    taken: Update<'_, V>,
    [y, x, w]: [&mut [V]; 3],
) {
    let line = TALL * V::WIDTH;
    let zero = step.v[0].like(0.0);
    w[step.top..step.end].fill(zero);
    for start in (step.which.start / line * line..step.which.end).step_by(line) {
        let mut sums = [[zero; TALL]; LINE];
        for (c, sums) in sums[..line].chunks_exact_mut(G).enumerate() {
            update::<V, TALL, G>(a, step, taken, start + c * G, sums);
        }
        row(a, step, start, &mut sums, (&mut *y, &mut *x));
        for c in (start..start + line).step_by(G) {
            add::<V, G>(a, step, c, x, w);
        }
    }
}

#[inline(always)]
fn gemvt_by_lines<V: Lanes, const TALL: usize, const G: usize>(
    a: &[V],
    step: &Gemver<'_, V>,
    [y, x, w]: [&mut [V]; 3],
) {
    let line = TALL * V::WIDTH;
    let zero = step.v[0].like(0.0);
    w[step.top..step.end].fill(zero);
    for start in (step.which.start / line * line..step.which.end).step_by(line) {
        let mut sums = [[zero; TALL]; LINE];
        for (c, sums) in sums[..line].chunks_exact_mut(G).enumerate() {
            multiply::<V, TALL, G>(a, step, start + c * G, sums);
        }
        row(a, step, start, &mut sums, (&mut *y, &mut *x));
        for c in (start..start + line).step_by(G) {
            add::<V, G>(a, step, c, x, w);
        }
    }
}

/// Takes the products from the columns from `c` on, of which those before the first one are left as they are, and gives
/// their products with `v`, as sums over lines.
#[inline(always)]
fn update<V: Lanes, const TALL: usize, const G: usize>(
    a: &mut [V],
    step: &Gemver<'_, V>,
    [(p, p_row), (q, q_row)]: Update<'_, V>,
    c: usize,
    sums: &mut [[V; TALL]],
) {
    let zero = step.v[0].like(0.0);
    let rows = step.top..step.end;
    let len = rows.len();
    let (v, p, q) = (&step.v[rows.clone()], &p[rows.clone()], &q[rows]);
    let (p_row, q_row) = (V::flat(p_row), V::flat(q_row));
    let group = &mut a[c * step.stride..][..G * step.stride];
    let mut columns = columns::<V, G>(group, step.stride, step.top);
    let mut factors = [[zero; 2]; G];
    for g in 0..G {
        let column = std::mem::take(&mut columns[g]);
        columns[g] = &mut column[..len];
        if c + g >= step.which.start {
            factors[g] = [p_row[c + g], q_row[c + g]].map(|factor| zero.like(factor.f64()));
        }
    }
    let mut all = [[zero; TALL]; G];
    for at in (0..len).step_by(TALL) {
        for i in at..at + TALL {
            let (vi, pi, qi) = (v[i], p[i], q[i]);
            for g in 0..G {
                let [p_factor, q_factor] = factors[g];
                let value = qi.neg_mul_add(q_factor, pi.neg_mul_add(p_factor, columns[g][i]));
                columns[g][i] = value;
                all[g][i - at] = value.mul_add(vi, all[g][i - at]);
            }
        }
    }
    sums.copy_from_slice(&all);
}

/// The products of the columns from `c` on with `v`, as sums over lines.
#[inline(always)]
fn multiply<V: Lanes, const TALL: usize, const G: usize>(
    a: &[V],
    step: &Gemver<'_, V>,
    c: usize,
    sums: &mut [[V; TALL]],
) {
    let zero = step.v[0].like(0.0);
    let rows = step.top..step.end;
    let len = rows.len();
    let v = &step.v[rows.clone()];
    let mut columns = [v; G];
    for (g, column) in columns.iter_mut().enumerate() {
        *column = &a[(c + g) * step.stride..][rows.clone()][..len];
    }
    let mut all = [[zero; TALL]; G];
    for at in (0..len).step_by(TALL) {
        for i in at..at + TALL {
            for g in 0..G {
                all[g][i - at] = columns[g][i].mul_add(v[i], all[g][i - at]);
            }
        }
    }
    sums.copy_from_slice(&all);
}

/// The elements of the line of columns from `start` on of the first two results.
#[inline(always)]
fn row<V: Lanes, const TALL: usize>(
    a: &[V],
    step: &Gemver<'_, V>,
    start: usize,
    sums: &mut [[V; TALL]; LINE],
    (y, x): (&mut [V], &mut [V]),
) {
    let zero = step.v[0].like(0.0);
    let (tau, first) = (zero.like(step.tau), zero.like(step.which.start as f64));
    let mut products = [zero; TALL];
    add_up(sums, &mut products);
    let lanes = lanes_of(zero);
    for (q, product) in products.into_iter().enumerate() {
        let column = start + q * V::WIDTH;
        let at = column / V::WIDTH;
        let mut row = zero;
        for (lane, to) in row.as_mut_slice().iter_mut().enumerate() {
            *to = V::flat(&a[(column + lane) * step.stride..])[step.row];
        }
        let numbers = lanes + zero.like(column as f64);
        let [base, row_base] = step.base;
        let product = tau * (product + base[at]);
        let left = (row + row_base[at]) - product;
        y[at] = numbers.if_less(first, zero, product);
        x[at] = numbers.if_less(first, zero, left);
    }
}

/// Adds the columns from `c` on, times the elements of `x`.
#[inline(always)]
fn add<V: Lanes, const G: usize>(a: &[V], step: &Gemver<'_, V>, c: usize, x: &[V], w: &mut [V]) {
    let zero = step.v[0].like(0.0);
    let rows = step.top..step.end;
    let len = rows.len();
    let w = &mut w[rows.clone()];
    let (mut columns, mut factors) = ([step.v; G], [zero; G]);
    for g in 0..G {
        columns[g] = &a[(c + g) * step.stride..][rows.clone()][..len];
        factors[g] = zero.like(V::flat(x)[c + g].f64());
    }
    for (i, w) in w.iter_mut().enumerate() {
        let mut sum = *w;
        for (column, factor) in columns.iter().zip(factors) {
            sum = column[i].mul_add(factor, sum);
        }
        *w = sum;
    }
}
