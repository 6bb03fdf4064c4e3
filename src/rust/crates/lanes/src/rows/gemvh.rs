//! Passes over a complex matrix, one for each step of a reduction to bidiagonal form, as those of a real one that is
//! left as it is ([`gemver`](super::gemver)). Real and imaginary parts are matrices of their own, one after the other;
//! so are those of vectors.

use super::lanes_of;
use super::sweep::{add_up, line, LINE};
use crate::lanes::{Float, Lanes};
use crate::operands::Gemver;

/// The first result becomes `y = tau Aᴴ v`: `v yᴴ` is taken from the matrix; the second one `x`, what is left of row
/// `row`, conjugated; the third one `A x`. The first two are 0 in a line of columns before the first one.
#[inline(always)]
pub(crate) fn gemvh<V: Lanes>(a: &[V], step: &Gemver<'_, V>, results: [&mut [V]; 3]) {
    match line::<V>() / V::WIDTH {
        1 => by_lines::<V, 1, 4>(a, step, results),
        2 => by_lines::<V, 2, 2>(a, step, results),
        _ => by_lines::<V, 4, 2>(a, step, results),
    }
}

#[inline(always)]
fn by_lines<V: Lanes, const TALL: usize, const G: usize>(
    a: &[V],
    step: &Gemver<'_, V>,
    [y, x, w]: [&mut [V]; 3],
) {
    let line = TALL * V::WIDTH;
    let zero = step.v[0].like(0.0);
    for w in w.chunks_exact_mut(step.stride) {
        w[step.top..step.end].fill(zero);
    }
    for start in (step.which.start / line * line..step.which.end).step_by(line) {
        let mut sums = [[[zero; TALL]; LINE]; 2];
        for c in (0..line).step_by(G) {
            multiply::<V, TALL, G>(a, step, start + c, c, &mut sums);
        }
        row(a, step, start, &mut sums, (&mut *y, &mut *x));
        for c in (start..start + line).step_by(G) {
            add::<V, G>(a, step, c, x, w);
        }
    }
}

/// The parts of the columns from `c` on, in the rows of the pass.
#[inline(always)]
fn columns<'a, V: Lanes, const G: usize>(
    a: &'a [V],
    step: &Gemver<'_, V>,
    c: usize,
) -> [[&'a [V]; G]; 2] {
    let (re, im) = a.split_at(a.len() / 2);
    let len = step.end - step.top;
    let mut columns = [[&re[..len]; G]; 2];
    for (columns, part) in columns.iter_mut().zip([re, im]) {
        for (g, column) in columns.iter_mut().enumerate() {
            let at = (c + g) * step.stride + step.top;
            *column = &part[at..][..len];
        }
    }
    columns
}

/// The products of the columns from `c` on, conjugated, with `v`, as sums over lines, which stand from `place` on.
#[inline(always)]
fn multiply<V: Lanes, const TALL: usize, const G: usize>(
    a: &[V],
    step: &Gemver<'_, V>,
    c: usize,
    place: usize,
    [sums_re, sums_im]: &mut [[[V; TALL]; LINE]; 2],
) {
    let zero = step.v[0].like(0.0);
    let rows = step.top..step.end;
    let len = rows.len();
    let (re, im) = step.v.split_at(step.stride);
    let (re, im) = (&re[rows.clone()], &im[rows]);
    let [columns_re, columns_im] = columns::<V, G>(a, step, c);
    let (mut all_re, mut all_im) = ([[zero; TALL]; G], [[zero; TALL]; G]);
    for at in (0..len).step_by(TALL) {
        for i in at..at + TALL {
            let (x, y) = (re[i], im[i]);
            for g in 0..G {
                let (re, im) = (columns_re[g][i], columns_im[g][i]);
                all_re[g][i - at] = im.mul_add(y, re.mul_add(x, all_re[g][i - at]));
                all_im[g][i - at] = im.neg_mul_add(x, re.mul_add(y, all_im[g][i - at]));
            }
        }
    }
    sums_re[place..][..G].copy_from_slice(&all_re);
    sums_im[place..][..G].copy_from_slice(&all_im);
}

/// The elements of the line of columns from `start` on of the first two results.
#[inline(always)]
fn row<V: Lanes, const TALL: usize>(
    a: &[V],
    step: &Gemver<'_, V>,
    start: usize,
    sums: &mut [[[V; TALL]; LINE]; 2],
    (y, x): (&mut [V], &mut [V]),
) {
    let zero = step.v[0].like(0.0);
    let (tau, first) = (zero.like(step.tau), zero.like(step.which.start as f64));
    let lanes = lanes_of(zero);
    let half = a.len() / 2;
    for (part, sums) in sums.iter_mut().enumerate() {
        let a = &a[part * half..];
        let sign = zero.like(if part == 0 { 1.0 } else { -1.0 });
        let mut products = [zero; TALL];
        add_up(sums, &mut products);
        for (q, product) in products.into_iter().enumerate() {
            let column = start + q * V::WIDTH;
            let at = part * step.stride + column / V::WIDTH;
            let mut row = zero;
            for (lane, to) in row.as_mut_slice().iter_mut().enumerate() {
                *to = V::flat(&a[(column + lane) * step.stride..])[step.row];
            }
            let numbers = lanes + zero.like(column as f64);
            let [base, row_base] = step.base;
            let product = tau * (product + base[at]);
            let left = (row * sign + row_base[at]) - product;
            y[at] = numbers.if_less(first, zero, product);
            x[at] = numbers.if_less(first, zero, left);
        }
    }
}

/// Adds the columns from `c` on, times the elements of `x`.
#[inline(always)]
fn add<V: Lanes, const G: usize>(a: &[V], step: &Gemver<'_, V>, c: usize, x: &[V], w: &mut [V]) {
    let zero = step.v[0].like(0.0);
    let rows = step.top..step.end;
    let len = rows.len();
    let (re, im) = w.split_at_mut(step.stride);
    let (re, im) = (&mut re[rows.clone()], &mut im[rows]);
    let [columns_re, columns_im] = columns::<V, G>(a, step, c);
    let mut factors = [[zero; 2]; G];
    let (x, y) = x.split_at(step.stride);
    for (g, factor) in factors.iter_mut().enumerate() {
        *factor = [
            zero.like(V::flat(x)[c + g].f64()),
            zero.like(V::flat(y)[c + g].f64()),
        ];
    }
    for i in 0..len {
        let (mut sum_re, mut sum_im) = (re[i], im[i]);
        for g in 0..G {
            let (re, im, [x, y]) = (columns_re[g][i], columns_im[g][i], factors[g]);
            sum_re = im.neg_mul_add(y, re.mul_add(x, sum_re));
            sum_im = im.mul_add(x, re.mul_add(y, sum_im));
        }
        (re[i], im[i]) = (sum_re, sum_im);
    }
}
