//! The columns of one block of reflections, one after the other.

use super::lanes_of;
use super::reflect::BLOCK;
use crate::householder::Range;
use crate::lanes::{Float, Lanes};
use std::ops;

/// Columns whose inner products with a reflection are summed at a time.
const MANY: usize = 4;
const FEW: usize = 2;

/// Factors the columns of a panel, of which `vectors` are left; the first reflection begins in the first of them.
#[inline(always)]
pub(crate) fn eliminate<V: Lanes>(
    panel: &mut [V],
    stride: usize,
    vectors: ops::Range<usize>,
    tau: &mut [V::Float],
) {
    let lanes = lanes_of(panel[0]);
    let mut rest = panel;
    for (c, tau) in tau.iter_mut().enumerate() {
        let (column, others) = rest.split_at_mut(stride);
        let mut v = Reflection::of(&mut column[vectors.clone()], c, lanes);
        *tau = v.make();
        if V::REGISTERS >= 32 {
            v.act::<MANY>(*tau, others, stride, vectors.start);
        } else {
            v.act::<FEW>(*tau, others, stride, vectors.start);
        }
        rest = others;
    }
}

/// The columns of `Q` in place of reflections that begin in the first row, for each of which there is a factor; what is
/// behind them is acted on too. One after the other, for so few columns that a block of reflections does not pay.
#[inline(always)]
pub(crate) fn unfold<V: Lanes>(columns: &mut [V], stride: usize, len: usize, tau: &[V::Float]) {
    let lanes = lanes_of(columns[0]);
    for (c, &tau) in tau.iter().enumerate().rev() {
        let (known, others) = columns.split_at_mut((c + 1) * stride);
        let mut v = Reflection::of(&mut known[c * stride..][..len], c, lanes);
        v.begin();
        if V::REGISTERS >= 32 {
            v.act::<MANY>(tau, others, stride, 0);
        } else {
            v.act::<FEW>(tau, others, stride, 0);
        }
        v.unfold(tau);
    }
}

/// What the reflections in the columns `known`, which begin in the first row, make of other columns, one after the other,
/// the last one first. They are as few as in [`unfold`].
#[inline(always)]
pub(super) fn reflect<V: Lanes>(
    columns: &mut [V],
    known: &mut [V],
    stride: usize,
    len: usize,
    tau: &[V::Float],
) {
    let lanes = lanes_of(columns[0]);
    for (c, &tau) in tau.iter().enumerate().rev() {
        let mut v = Reflection::of(&mut known[c * stride..][..len], c, lanes);
        v.begin();
        if V::REGISTERS >= 32 {
            v.act::<MANY>(tau, columns, stride, 0);
        } else {
            v.act::<FEW>(tau, columns, stride, 0);
        }
    }
}

/// A reflection that is in the making, or made.
pub(super) struct Reflection<'a, V> {
    /// The rows of the panel's triangle, with 0 above the reflection; there are [`BLOCK`] rows, or fewer.
    head: [V; BLOCK],
    /// In the matrix.
    column: &'a mut [V],
    /// Where it begins.
    row: usize,
    lanes: V,
}

impl<'a, V: Lanes> Reflection<'a, V> {
    /// Vectors of the head.
    const HEAD: usize = BLOCK / V::WIDTH;

    /// What is below the diagonal.
    #[inline(always)]
    pub(super) fn of(column: &'a mut [V], row: usize, lanes: V) -> Self {
        let zero = lanes.like(0.0);
        let mut head = [zero; BLOCK];
        for (q, (head, &value)) in head.iter_mut().zip(&*column).take(Self::HEAD).enumerate() {
            let rows = lanes + lanes.like((q * V::WIDTH) as f64);
            *head = lanes.like(row as f64).if_less(rows, value, zero);
        }
        Reflection {
            head,
            column,
            row,
            lanes,
        }
    }

    #[inline(always)]
    fn tail(&self) -> &[V] {
        &self.column[Self::HEAD.min(self.column.len())..]
    }

    /// The sum of what `term` makes of the elements below the diagonal.
    #[inline(always)]
    fn sum(&self, term: impl Fn(V, V) -> V) -> V::Float {
        let mut sums = [self.lanes.like(0.0); BLOCK];
        for (sum, &value) in sums.iter_mut().zip(&self.head).take(Self::HEAD) {
            *sum = term(value, *sum);
        }
        for values in self.tail().chunks(Self::HEAD) {
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum = term(value, *sum);
            }
        }
        total(sums, Self::HEAD)
    }

    /// Each element below the diagonal times `factor`.
    #[inline(always)]
    fn scale(&mut self, factor: V) {
        for value in &mut self.head[..Self::HEAD] {
            *value = *value * factor;
        }
        let start = Self::HEAD.min(self.column.len());
        for value in &mut self.column[start..] {
            *value = *value * factor;
        }
    }

    /// Makes the reflection, whose factor it returns: [`crate::householder::reflection`] of one column.
    #[inline(always)]
    pub(super) fn make(&mut self) -> V::Float {
        let (zero, one) = (self.lanes.like(0.0), self.lanes.like(1.0));
        let range = Range::like(zero);
        let mut alpha = zero.like(V::flat(self.column)[self.row].f64());
        let mut scale = None;
        let beta = loop {
            let squares = self.sum(|value, sum| value.mul_add(value, sum));
            if squares == V::Float::of(0.0)
                && self.sum(|value, sum| value.abs() + sum) == V::Float::of(0.0)
            {
                return V::Float::of(0.0);
            }
            let total = alpha * alpha + zero.like(squares.f64());
            if scale.is_none() {
                let factor = if total.any_less(range.tiny) {
                    range.up
                } else if range.huge.any_less(total) {
                    range.down
                } else {
                    one
                };
                scale = Some(factor);
                if factor.any_less(one) || one.any_less(factor) {
                    alpha = alpha * factor;
                    self.scale(factor);
                    continue;
                }
            }
            break -total.sqrt().copysign(alpha);
        };
        self.scale(one / (alpha - beta));
        let size = beta / scale.unwrap_or(one);
        let row = zero.like(self.row as f64);
        for (q, (to, &v)) in self
            .column
            .iter_mut()
            .zip(&self.head)
            .take(Self::HEAD)
            .enumerate()
        {
            let rows = self.lanes + zero.like((q * V::WIDTH) as f64);
            *to = row.if_less(rows, v, row.if_equal(rows, size, *to));
        }
        self.begin();
        ((beta - alpha) / beta).as_slice()[0]
    }

    /// Puts the 1 that a reflection begins with, which is not in the matrix.
    #[inline(always)]
    fn begin(&mut self) {
        let (row, one) = (self.lanes.like(self.row as f64), self.lanes.like(1.0));
        for (q, v) in self.head.iter_mut().take(Self::HEAD).enumerate() {
            let rows = self.lanes + one.like((q * V::WIDTH) as f64);
            *v = row.if_equal(rows, one, *v);
        }
    }

    /// The reflection of its own column of the identity, in its place.
    #[inline(always)]
    fn unfold(self, tau: V::Float) {
        let (row, zero) = (self.lanes.like(self.row as f64), self.lanes.like(0.0));
        let factor = zero.like(-tau.f64());
        let first = zero.like(1.0) + factor;
        let start = Self::HEAD.min(self.column.len());
        let (top, tail) = self.column.split_at_mut(start);
        for (q, (to, &v)) in top.iter_mut().zip(&self.head).enumerate() {
            let rows = self.lanes + zero.like((q * V::WIDTH) as f64);
            *to = row.if_less(rows, v * factor, row.if_equal(rows, first, zero));
        }
        for value in tail {
            *value = *value * factor;
        }
    }

    /// The reflection of the columns behind, `N` at a time.
    #[inline(always)]
    fn act<const N: usize>(&self, tau: V::Float, others: &mut [V], stride: usize, first: usize) {
        let zero = self.lanes.like(0.0);
        let len = self.column.len();
        for group in others.chunks_mut(N * stride) {
            // Those that are not there are the last one again.
            let last = group.len() / stride - 1;
            let mut columns = [&group[first..][..len]; N];
            for (j, column) in columns.iter_mut().enumerate() {
                *column = &group[j.min(last) * stride + first..][..len];
            }
            let mut sums = [[zero; BLOCK]; N];
            for (sums, column) in sums.iter_mut().zip(&columns) {
                for q in 0..Self::HEAD.min(len) {
                    sums[q] = self.head[q] * column[q];
                }
            }
            let mut at = Self::HEAD;
            while at < len {
                for q in 0..Self::HEAD.min(len - at) {
                    let value = self.column[at + q];
                    for (sums, column) in sums.iter_mut().zip(&columns) {
                        sums[q] = value.mul_add(column[at + q], sums[q]);
                    }
                }
                at += Self::HEAD;
            }
            let mut factors = [zero; N];
            for (factor, sums) in factors.iter_mut().zip(sums) {
                *factor = zero.like(total(sums, Self::HEAD).f64()) * zero.like(tau.f64());
            }
            for (column, factor) in group.chunks_exact_mut(stride).zip(factors) {
                let column = &mut column[first..][..len];
                for (to, v) in column.iter_mut().zip(&self.head).take(Self::HEAD) {
                    *to = v.neg_mul_add(factor, *to);
                }
                let (from, at) = (self.tail(), Self::HEAD.min(len));
                for (to, v) in column[at..].iter_mut().zip(from) {
                    *to = v.neg_mul_add(factor, *to);
                }
            }
        }
    }
}

/// The sum over all lanes of the first vectors, which are a power of 2, halves first: so the width of a vector does not
/// matter.
#[inline(always)]
pub(super) fn total<V: Lanes>(mut sums: [V; BLOCK], vectors: usize) -> V::Float {
    let mut half = vectors;
    while half > 1 {
        half /= 2;
        for q in 0..half {
            sums[q] += sums[q + half];
        }
    }
    let lanes = sums[0].as_slice();
    let mut parts = [V::Float::of(0.0); BLOCK];
    parts[..V::WIDTH].copy_from_slice(lanes);
    let mut half = V::WIDTH;
    while half > 1 {
        half /= 2;
        for i in 0..half {
            parts[i] = V::Float::of(parts[i].f64() + parts[i + half].f64());
        }
    }
    parts[0]
}
