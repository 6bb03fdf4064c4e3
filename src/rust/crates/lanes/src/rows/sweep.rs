//! Passes over the lower triangle of a symmetric matrix, one for each reflection of a reduction to tridiagonal form:
//! what the time of that goes into. Each element is read once, for its own row and for that of its mirror image.
//!
//! A line is what the widest vectors hold. The squares of a line's rows and columns on the diagonal are kept whole; so
//! all rows are whole lines, and how the numbers are added up does not depend on the vectors' width.

use crate::lanes::{Float, Lanes};
use crate::operands::Sweep;
use crate::scratch::Line;
use crate::tridiagonal::columns;
use std::ops::Range;

/// Numbers of a line at most.
pub(super) const LINE: usize = 16;

/// Numbers of a line.
pub(crate) const fn line<V: Lanes>() -> usize {
    size_of::<Line>() / size_of::<V::Float>()
}

/// `p` becomes the product of the matrix, in the columns of `a`, with `x`, once `v wᵀ + w vᵀ` is taken from it: in rows
/// from the first one on; before that it is anything.
#[inline(always)]
pub(crate) fn sweep<V: Lanes>(a: &mut [V], step: &Sweep<'_, V>, p: &mut [V]) {
    match line::<V>() / V::WIDTH {
        1 => sweep_blocks::<V, 1, 4>(a, step, p),
        2 => sweep_blocks::<V, 2, 2>(a, step, p),
        _ => sweep_blocks::<V, 4, 2>(a, step, p),
    }
}

/// `p` becomes the sum of what the columns of `which` give to the product of the matrix with `x`.
#[inline(always)]
pub(crate) fn multiply<V: Lanes>(p: &mut [V], a: &[V], step: &Sweep<'_, V>, which: Range<usize>) {
    match line::<V>() / V::WIDTH {
        1 => multiply_blocks::<V, 1, 8>(p, a, step, which),
        2 => multiply_blocks::<V, 2, 2>(p, a, step, which),
        _ => multiply_blocks::<V, 4, 4>(p, a, step, which),
    }
}

#[inline(always)]
fn sweep_blocks<V: Lanes, const TALL: usize, const G: usize>(
    a: &mut [V],
    step: &Sweep<'_, V>,
    p: &mut [V],
) {
    let line = TALL * V::WIDTH;
    let zero = step.x[0].like(0.0);
    let mut start = step.first / line * line;
    p[start / V::WIDTH..].fill(zero);
    while start < step.n {
        let top = start / V::WIDTH;
        let end = step.n.min(start + line);
        let mut sums = [[zero; TALL]; LINE];
        let mut c = step.first.max(start);
        while c < end {
            let (group, sums) = (&mut a[c * step.stride..], &mut sums[c - start..]);
            if end - c >= G {
                sweep_columns::<V, G, TALL>(group, step, (c, top), p, sums);
                c += G;
            } else {
                sweep_columns::<V, 1, TALL>(group, step, (c, top), p, sums);
                c += 1;
            }
        }
        add_up(&mut sums, &mut p[top..]);
        start += line;
    }
}

/// The columns from `c` on, from vector `top` on.
#[inline(always)]
fn sweep_columns<V: Lanes, const G: usize, const TALL: usize>(
    group: &mut [V],
    step: &Sweep<'_, V>,
    (c, top): (usize, usize),
    p: &mut [V],
    sums: &mut [[V; TALL]],
) {
    let zero = step.x[0].like(0.0);
    let len = step.x.len() - top;
    let (x, p) = (&step.x[top..][..len], &mut p[top..][..len]);
    let (v, w) = (&step.v[top..][..len], &step.w[top..][..len]);
    let mut columns = columns::<V, G>(&mut group[..G * step.stride], step.stride, top);
    let mut factors = [[zero; 3]; G];
    for g in 0..G {
        let column = std::mem::take(&mut columns[g]);
        columns[g] = &mut column[..len];
        for (to, from) in factors[g].iter_mut().zip([step.x, step.v, step.w]) {
            *to = zero.like(V::flat(from)[c + g].f64());
        }
    }
    for i in 0..TALL {
        let mut sum = p[i];
        for (column, [x, vc, wc]) in columns.iter_mut().zip(factors) {
            let value = w[i].neg_mul_add(vc, v[i].neg_mul_add(wc, column[i]));
            column[i] = value;
            sum = value.mul_add(x, sum);
        }
        p[i] = sum;
    }
    let mut mirrored = [[zero; TALL]; G];
    for at in (TALL..len).step_by(TALL) {
        for i in at..at + TALL {
            let (xi, vi, wi, mut sum) = (x[i], v[i], w[i], p[i]);
            for g in 0..G {
                let [xc, vc, wc] = factors[g];
                let value = wi.neg_mul_add(vc, vi.neg_mul_add(wc, columns[g][i]));
                columns[g][i] = value;
                sum = value.mul_add(xc, sum);
                mirrored[g][i - at] = value.mul_add(xi, mirrored[g][i - at]);
            }
            p[i] = sum;
        }
    }
    sums[..G].copy_from_slice(&mirrored);
}

#[inline(always)]
fn multiply_blocks<V: Lanes, const TALL: usize, const G: usize>(
    p: &mut [V],
    a: &[V],
    step: &Sweep<'_, V>,
    which: Range<usize>,
) {
    let line = TALL * V::WIDTH;
    let zero = step.x[0].like(0.0);
    let mut start = which.start / line * line;
    p[start / V::WIDTH..].fill(zero);
    while start < which.end {
        let top = start / V::WIDTH;
        let end = which.end.min(start + line);
        let mut sums = [[zero; TALL]; LINE];
        let mut c = which.start.max(start);
        while c < end {
            let sums = &mut sums[c - start..];
            if end - c >= G {
                multiply_columns::<V, G, TALL>(p, a, step, (c, top), sums);
                c += G;
            } else {
                multiply_columns::<V, 1, TALL>(p, a, step, (c, top), sums);
                c += 1;
            }
        }
        add_up(&mut sums, &mut p[top..]);
        start += line;
    }
}

/// As [`sweep_columns`], of a matrix that is left as it is.
#[inline(always)]
fn multiply_columns<V: Lanes, const G: usize, const TALL: usize>(
    p: &mut [V],
    a: &[V],
    step: &Sweep<'_, V>,
    (c, top): (usize, usize),
    sums: &mut [[V; TALL]],
) {
    let zero = step.x[0].like(0.0);
    let len = step.x.len() - top;
    let (x, p) = (&step.x[top..][..len], &mut p[top..][..len]);
    let (mut columns, mut factors) = ([x; G], [zero; G]);
    for g in 0..G {
        columns[g] = &a[(c + g) * step.stride + top..][..len];
        factors[g] = zero.like(V::flat(step.x)[c + g].f64());
    }
    for i in 0..TALL {
        let mut sum = p[i];
        for (column, x) in columns.iter().zip(factors) {
            sum = column[i].mul_add(x, sum);
        }
        p[i] = sum;
    }
    let mut mirrored = [[zero; TALL]; G];
    for at in (TALL..len).step_by(TALL) {
        for i in at..at + TALL {
            let (xi, mut sum) = (x[i], p[i]);
            for g in 0..G {
                let value = columns[g][i];
                sum = value.mul_add(factors[g], sum);
                mirrored[g][i - at] = value.mul_add(xi, mirrored[g][i - at]);
            }
            p[i] = sum;
        }
    }
    sums[..G].copy_from_slice(&mirrored);
}

/// Adds the lanes of the sums of a line's columns to the rows of their numbers, halves first.
#[inline(always)]
pub(super) fn add_up<V: Lanes, const TALL: usize>(sums: &mut [[V; TALL]; LINE], p: &mut [V]) {
    for (sums, p) in sums.chunks_exact_mut(V::WIDTH).zip(&mut p[..TALL]) {
        let mut square = [*p; LINE];
        for (to, sums) in square.iter_mut().zip(sums) {
            let mut half = TALL / 2;
            while half > 0 {
                for q in 0..half {
                    sums[q] += sums[q + half];
                }
                half /= 2;
            }
            *to = sums[0];
        }
        V::transpose(&mut square[..V::WIDTH]);
        let mut half = V::WIDTH / 2;
        while half > 0 {
            for i in 0..half {
                square[i] += square[i + half];
            }
            half /= 2;
        }
        *p += square[0];
    }
}
