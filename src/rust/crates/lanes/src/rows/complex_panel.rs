//! The columns of one block of complex reflections, one after the other. The parts of a complex number are two rows of a
//! real column, so a reflection's vector `v` is two real columns, `v` and `i v`: their products with a column are the
//! parts of `vᴴ c`.

use super::panel::total;
use super::reflect::{times_i, BLOCK};
use crate::householder::Range;
use crate::lanes::{Float, Lanes};
use std::ops;

/// Columns whose inner products with a reflection are summed at a time, if there are registers for so many sums.
const MANY: usize = 4;

/// Vectors that [`geqr2`] works in.
pub(super) const fn work_to_eliminate(stride: usize) -> usize {
    2 * stride
}

/// Factors the columns of a panel, of which `vectors` are left, as LAPACK's `geqr2`; the first reflection begins in the
/// first of them. The factors are complex numbers, too.
#[inline(always)]
pub(crate) fn geqr2<V: Lanes>(
    panel: &mut [V],
    stride: usize,
    vectors: ops::Range<usize>,
    tau: &mut [V::Float],
    work: &mut [V],
) {
    let (first, len) = (vectors.start, vectors.len());
    let (v, iv) = work.split_at_mut(stride);
    let (v, iv) = (&mut v[..len], &mut iv[..len]);
    let mut rest = panel;
    for (c, tau) in tau.chunks_exact_mut(2).enumerate() {
        let (column, others) = rest.split_at_mut(stride);
        let factor = reflection(&mut column[vectors.clone()], 2 * c, [v, iv]);
        if let Some([re, im]) = factor {
            // Registers hold the sums and what they are made of.
            if 4 * MANY * BLOCK / V::WIDTH <= V::REGISTERS {
                act::<V, MANY>([v, iv], [re, -im], others, stride, first);
            } else {
                act::<V, 1>([v, iv], [re, -im], others, stride, first);
            }
        }
        let [re, im] = factor.unwrap_or([0.0; 2]);
        (tau[0], tau[1]) = (V::Float::of(re), V::Float::of(im));
        rest = others;
    }
}

/// Makes the reflection of what a column has from `row` on, as [`crate::householder::reflection`]: its vector and `i`
/// times that, and its factor if it is not 0.
#[inline(always)]
fn reflection<V: Lanes>(column: &mut [V], row: usize, [v, iv]: [&mut [V]; 2]) -> Option<[f64; 2]> {
    v.copy_from_slice(column);
    let zero = v[0].like(0.0);
    let head = V::flat_mut(v);
    let [mut re, mut im] = [head[row].f64(), head[row + 1].f64()];
    head[..row + 2].fill(V::Float::of(0.0));
    let squares = |v: &[V]| sum(v, |value, sum| value.mul_add(value, sum));
    let rest = squares(v);
    if rest == 0.0 && im == 0.0 && sum(v, |value, sum| value.abs() + sum) == 0.0 {
        return None;
    }
    let mut total = re * re + im * im + rest;
    let range = Range::like(zero);
    let number = |vector: V| vector.as_slice()[0].f64();
    let mut scale = 1.0;
    if total < number(range.tiny) {
        scale = number(range.up);
    } else if total > number(range.huge) {
        scale = number(range.down);
    }
    if scale != 1.0 {
        (re, im) = (re * scale, im * scale);
        for value in &mut *v {
            *value = *value * zero.like(scale);
        }
        total = re * re + im * im + squares(v);
    }
    let beta = -total.sqrt().copysign(re);
    // `v` is divided by `alpha - beta`.
    let along = re - beta;
    let size = along * along + im * im;
    let (x, y) = (zero.like(along / size), zero.like(-im / size));
    times_i(v, iv);
    for (v, iv) in v.iter_mut().zip(&*iv) {
        *v = iv.mul_add(y, *v * x);
    }
    let (known, to) = (V::flat_mut(v), V::flat_mut(column));
    known[row] = V::Float::of(1.0);
    (to[row], to[row + 1]) = (V::Float::of(beta / scale), V::Float::of(0.0));
    to[row + 2..].copy_from_slice(&known[row + 2..]);
    times_i(v, iv);
    Some([(beta - re) / beta, -im / beta])
}

/// The sum of what `term` makes of all elements.
#[inline(always)]
fn sum<V: Lanes>(values: &[V], term: impl Fn(V, V) -> V) -> f64 {
    let mut sums = [values[0].like(0.0); BLOCK];
    for values in values.chunks(BLOCK / V::WIDTH) {
        for (sum, &value) in sums.iter_mut().zip(values) {
            *sum = term(value, *sum);
        }
    }
    total(sums, BLOCK / V::WIDTH).f64()
}

/// The reflection of a vector and a factor, of the columns behind, `N` at a time.
#[inline(always)]
fn act<V: Lanes, const N: usize>(
    [v, iv]: [&[V]; 2],
    [re, im]: [f64; 2],
    others: &mut [V],
    stride: usize,
    first: usize,
) {
    let zero = v[0].like(0.0);
    let (len, tall) = (v.len(), BLOCK / V::WIDTH);
    let iv = &iv[..len];
    for group in others.chunks_mut(N * stride) {
        // Those that are not there are the last one again.
        let last = group.len() / stride - 1;
        let mut columns = [&group[first..][..len]; N];
        for (j, column) in columns.iter_mut().enumerate() {
            *column = &group[j.min(last) * stride + first..][..len];
        }
        let mut sums = [[[zero; BLOCK]; 2]; N];
        for at in (0..len).step_by(tall) {
            for q in 0..tall {
                if at + q < len {
                    let (v, iv) = (v[at + q], iv[at + q]);
                    for ([re, im], column) in sums.iter_mut().zip(&columns) {
                        re[q] = v.mul_add(column[at + q], re[q]);
                        im[q] = iv.mul_add(column[at + q], im[q]);
                    }
                }
            }
        }
        let mut factors = [[zero; 2]; N];
        for (factor, sums) in factors.iter_mut().zip(sums) {
            let [x, y] = sums.map(|sums| total(sums, tall).f64());
            *factor = [zero.like(re * x - im * y), zero.like(re * y + im * x)];
        }
        for (column, [x, y]) in group.chunks_exact_mut(stride).zip(factors) {
            let column = &mut column[first..][..len];
            for (to, (v, iv)) in column.iter_mut().zip(v.iter().zip(iv)) {
                *to = iv.neg_mul_add(y, v.neg_mul_add(x, *to));
            }
        }
    }
}
