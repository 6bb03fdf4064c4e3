//! The columns of one block of complex reflections, one after the other. The parts of a complex number are two rows of
//! a real column, so a reflection's vector `v` is two real columns, `v` and `i v`: their products with a column are the
//! parts of `vᴴ c`.

use super::larft::begin;
use super::panel::total;
use super::reflect::BLOCK;
use crate::householder::Range;
use crate::lanes::{Float, Lanes};
use std::ops;

/// Columns whose inner products with a reflection are summed at a time, if there are registers for so many sums.
const MANY: usize = 4;

/// Factors the columns of a panel, of which `vectors` are left, as LAPACK's `geqr2`; the first reflection begins in the
/// first of them. The factors are complex numbers, too. It works in one more column.
#[inline(always)]
pub(super) fn geqr2<V: Lanes>(
    panel: &mut [V],
    stride: usize,
    vectors: ops::Range<usize>,
    tau: &mut [V::Float],
    work: &mut [V],
) {
    let first = vectors.start;
    let v = &mut work[..vectors.len()];
    let mut rest = panel;
    for (c, tau) in tau.chunks_exact_mut(2).enumerate() {
        let (column, others) = rest.split_at_mut(stride);
        let factor = reflection(&mut column[vectors.clone()], 2 * c, v);
        if let Some([re, im]) = factor {
            act(v, [re, -im], others, stride, first);
        }
        let [re, im] = factor.unwrap_or([0.0; 2]);
        (tau[0], tau[1]) = (V::Float::of(re), V::Float::of(im));
        rest = others;
    }
}

/// The columns of `Q` in place of reflections that begin in the first row, as LAPACK's `org2r`; what is behind them is
/// acted on too. One after the other, for so few columns that a block does not pay. It works in one more column.
#[inline(always)]
pub(super) fn org2r<V: Lanes>(
    columns: &mut [V],
    stride: usize,
    len: usize,
    tau: &[V::Float],
    work: &mut [V],
) {
    let v = &mut work[..len];
    for (c, tau) in tau.chunks_exact(2).enumerate().rev() {
        let (known, others) = columns.split_at_mut((c + 1) * stride);
        let column = &mut known[c * stride..][..len];
        v.copy_from_slice(column);
        begin(v, c, 2);
        let (re, im) = (tau[0].f64(), tau[1].f64());
        act(v, [re, im], others, stride, 0);
        let (x, y) = (v[0].like(-re), v[0].signs() * v[0].like(-im));
        for (to, v) in column.iter_mut().zip(&*v) {
            *to = v.swap_parts().mul_add(y, *v * x);
        }
        let head = V::flat_mut(column);
        head[..2 * c].fill(V::Float::of(0.0));
        head[2 * c] = V::Float::of(1.0 - re);
    }
}

/// Makes the reflection of what a column has from `row` on, as [`crate::householder::reflection`]: its vector, and its
/// factor if it is not 0.
#[inline(always)]
fn reflection<V: Lanes>(column: &mut [V], row: usize, v: &mut [V]) -> Option<[f64; 2]> {
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
    let (x, y) = (
        zero.like(along / size),
        zero.signs() * zero.like(-im / size),
    );
    for v in &mut *v {
        *v = v.swap_parts().mul_add(y, *v * x);
    }
    let (known, to) = (V::flat_mut(v), V::flat_mut(column));
    known[row] = V::Float::of(1.0);
    (to[row], to[row + 1]) = (V::Float::of(beta / scale), V::Float::of(0.0));
    to[row + 2..].copy_from_slice(&known[row + 2..]);
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

/// The reflection of a vector and a factor, of the columns behind.
#[inline(always)]
fn act<V: Lanes>(v: &[V], tau: [f64; 2], others: &mut [V], stride: usize, first: usize) {
    // Registers hold the sums and what they are made of.
    if 4 * MANY * BLOCK / V::WIDTH <= V::REGISTERS {
        act_on::<V, MANY>(v, tau, others, stride, first);
    } else {
        act_on::<V, 1>(v, tau, others, stride, first);
    }
}

/// The same, `N` at a time.
#[inline(always)]
fn act_on<V: Lanes, const N: usize>(
    v: &[V],
    [re, im]: [f64; 2],
    others: &mut [V],
    stride: usize,
    first: usize,
) {
    let (zero, signs) = (v[0].like(0.0), v[0].signs());
    let (len, tall) = (v.len(), BLOCK / V::WIDTH);
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
                    let v = v[at + q];
                    let swapped = v.swap_parts();
                    for ([x, y], column) in sums.iter_mut().zip(&columns) {
                        x[q] = v.mul_add(column[at + q], x[q]);
                        y[q] = swapped.mul_add(column[at + q], y[q]);
                    }
                }
            }
        }
        let mut factors = [[zero; 2]; N];
        for (factor, [x, mut y]) in factors.iter_mut().zip(sums) {
            for y in &mut y[..tall] {
                *y = *y * signs;
            }
            let (x, y) = (total(x, tall).f64(), total(y, tall).f64());
            *factor = [
                zero.like(re * x - im * y),
                signs * zero.like(re * y + im * x),
            ];
        }
        for (column, [x, y]) in group.chunks_exact_mut(stride).zip(factors) {
            for (to, v) in column[first..][..len].iter_mut().zip(v) {
                *to = v.swap_parts().neg_mul_add(y, v.neg_mul_add(x, *to));
            }
        }
    }
}
