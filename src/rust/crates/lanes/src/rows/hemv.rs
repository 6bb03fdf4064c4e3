//! Passes over the lower triangle of a Hermitian matrix, one for each reflection of a reduction to tridiagonal form, as
//! those of a symmetric one (`sweep.rs`): each element is read once, for its own row and for that of its mirror image.
//! Real and imaginary parts are matrices of their own, one after the other; so are those of vectors.

use super::sweep::{add_up, line, LINE};
use crate::lanes::{Float, Lanes};
use crate::operands::Hemv;
use std::ops::Range;

/// `p` becomes the sum of what the columns of `which` give to the product of the matrix with `x`.
#[inline(always)]
pub(crate) fn hemv<V: Lanes>(p: &mut [V], a: &[V], step: &Hemv<'_, V>, which: Range<usize>) {
    match line::<V>() / V::WIDTH {
        1 => blocks::<V, 1, 4>(p, a, step, which),
        2 => blocks::<V, 2, 1>(p, a, step, which),
        _ => blocks::<V, 4, 2>(p, a, step, which),
    }
}

#[inline(always)]
fn blocks<V: Lanes, const TALL: usize, const G: usize>(
    p: &mut [V],
    a: &[V],
    step: &Hemv<'_, V>,
    which: Range<usize>,
) {
    let line = TALL * V::WIDTH;
    let zero = step.x[0].like(0.0);
    let (p_re, p_im) = p.split_at_mut(step.stride);
    let mut start = which.start / line * line;
    p_re[start / V::WIDTH..step.len].fill(zero);
    p_im[start / V::WIDTH..step.len].fill(zero);
    while start < which.end {
        let top = start / V::WIDTH;
        let end = which.end.min(start + line);
        let (mut re, mut im) = ([[zero; TALL]; LINE], [[zero; TALL]; LINE]);
        let mut c = which.start.max(start);
        while c < end {
            let p = [&mut p_re[top..step.len], &mut p_im[top..step.len]];
            let sums = [&mut re[c - start..], &mut im[c - start..]];
            if end - c >= G {
                columns::<V, G, TALL>(p, a, step, (c, top), sums);
                c += G;
            } else {
                columns::<V, 1, TALL>(p, a, step, (c, top), sums);
                c += 1;
            }
        }
        add_up(&mut re, &mut p_re[top..]);
        add_up(&mut im, &mut p_im[top..]);
        start += line;
    }
}

/// The columns from `c` on, from vector `top` on.
#[inline(always)]
fn columns<V: Lanes, const G: usize, const TALL: usize>(
    [p_re, p_im]: [&mut [V]; 2],
    a: &[V],
    step: &Hemv<'_, V>,
    (c, top): (usize, usize),
    [sums_re, sums_im]: [&mut [[V; TALL]]; 2],
) {
    let (zero, len) = (step.x[0].like(0.0), step.len - top);
    let (a_re, a_im) = a.split_at(a.len() / 2);
    let (x_re, x_im) = step.x.split_at(step.stride);
    let (p_re, p_im) = (&mut p_re[..len], &mut p_im[..len]);
    let (mut columns_re, mut columns_im) = ([&a_re[..0]; G], [&a_im[..0]; G]);
    let mut factors = [[zero; 2]; G];
    for g in 0..G {
        let at = (c + g) * step.stride + top;
        columns_re[g] = &a_re[at..][..len];
        columns_im[g] = &a_im[at..][..len];
        factors[g] = [
            zero.like(V::flat(x_re)[c + g].f64()),
            zero.like(V::flat(x_im)[c + g].f64()),
        ];
    }
    let (x_re, x_im) = (&x_re[top..][..len], &x_im[top..][..len]);
    for i in 0..TALL {
        let (mut sum_re, mut sum_im) = (p_re[i], p_im[i]);
        for g in 0..G {
            let (re, im, [xr, xi]) = (columns_re[g][i], columns_im[g][i], factors[g]);
            sum_re = im.neg_mul_add(xi, re.mul_add(xr, sum_re));
            sum_im = im.mul_add(xr, re.mul_add(xi, sum_im));
        }
        (p_re[i], p_im[i]) = (sum_re, sum_im);
    }
    let (mut mirrored_re, mut mirrored_im) = ([[zero; TALL]; G], [[zero; TALL]; G]);
    for at in (TALL..len).step_by(TALL) {
        for i in at..at + TALL {
            let (mut sum_re, mut sum_im) = (p_re[i], p_im[i]);
            let (x, y) = (x_re[i], x_im[i]);
            for g in 0..G {
                let (re, im, [xr, xi]) = (columns_re[g][i], columns_im[g][i], factors[g]);
                sum_re = im.neg_mul_add(xi, re.mul_add(xr, sum_re));
                sum_im = im.mul_add(xr, re.mul_add(xi, sum_im));
                mirrored_re[g][i - at] = im.mul_add(y, re.mul_add(x, mirrored_re[g][i - at]));
                mirrored_im[g][i - at] = im.neg_mul_add(x, re.mul_add(y, mirrored_im[g][i - at]));
            }
            (p_re[i], p_im[i]) = (sum_re, sum_im);
        }
    }
    sums_re[..G].copy_from_slice(&mirrored_re);
    sums_im[..G].copy_from_slice(&mirrored_im);
}
