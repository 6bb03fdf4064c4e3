//! `L` and `U` of a panel of one matrix, column by column, as LAPACK's `getf2`. Rows of complex columns are two each, the
//! parts of numbers; such a column counts as two real ones, itself and itself times i.

use super::{lanes_of, Below};
use crate::field::Field;
use crate::lanes::{Float, Lanes};
use crate::pair::Pair;

/// The columns of a panel from column `start` of a matrix of `m` rows on.
pub(super) struct Panel<'a, V> {
    pub(super) m: usize,
    pub(super) stride: usize,
    pub(super) start: usize,
    pub(super) columns: &'a mut [V],
}

impl<V: Lanes> Panel<'_, V> {
    /// Factors in place; `rows` become the rows of the pivots. Room for a column is in `turned` if numbers have two
    /// parts. Returns the first column, counted from 1, where the pivot is 0, or 0.
    #[inline(always)]
    pub(super) fn eliminate<const PARTS: usize>(
        &mut self,
        rows: &mut [i32],
        turned: &mut [V],
    ) -> i32 {
        let Panel {
            m, stride, start, ..
        } = *self;
        let lanes = lanes_of(self.columns[0]);
        let mut singular = 0;
        for (c, to) in rows.iter_mut().enumerate() {
            let j = start + c;
            let row = largest_row::<V, PARTS>(&self.columns[c * stride..][..stride], j, m, lanes);
            *to = row as i32;
            for column in self.columns.chunks_exact_mut(stride) {
                exchange_rows::<_, PARTS>(V::flat_mut(column), j, row);
            }
            let (done, others) = self.columns.split_at_mut((c + 1) * stride);
            let column = &mut done[c * stride..];
            let below = Below::diagonal::<V>(PARTS * j + PARTS - 1);
            let zero = divide::<V, PARTS>(below, column, j, lanes);
            if zero && singular == 0 {
                singular = j as i32 + 1;
            }
            if PARTS == 1 {
                for other in others.chunks_exact_mut(stride) {
                    let factor = lanes.like(V::flat(other)[j].f64());
                    below.subtract(other, column, factor, lanes);
                }
                continue;
            }
            below.times_i(column, turned);
            for other in others.chunks_exact_mut(stride) {
                let factors = number(V::flat(other), j, lanes);
                below.subtract_complex(other, (column, turned), factors, lanes);
            }
        }
        singular
    }
}

/// The parts of complex number `j` of a column, each in all lanes.
#[inline(always)]
pub(super) fn number<V: Lanes>(column: &[V::Float], j: usize, any: V) -> [V; 2] {
    [
        any.like(column[2 * j].f64()),
        any.like(column[2 * j + 1].f64()),
    ]
}

/// Exchanges two rows of a column.
#[inline(always)]
pub(super) fn exchange_rows<T: Copy, const PARTS: usize>(column: &mut [T], a: usize, b: usize) {
    if PARTS == 1 {
        return column.swap(a, b);
    }
    // The parts of a number are moved at once.
    let pair = |at: usize| [column[2 * at], column[2 * at + 1]];
    let (x, y) = (pair(a), pair(b));
    column[2 * a..][..2].copy_from_slice(&y);
    column[2 * b..][..2].copy_from_slice(&x);
}

/// Divides what is below row `j` by the pivot there, unless that is 0, as then all are; whether it is.
#[inline(always)]
fn divide<V: Lanes, const PARTS: usize>(
    below: Below,
    column: &mut [V],
    j: usize,
    lanes: V,
) -> bool {
    let smallest = lanes.like(V::Float::SMALLEST.f64());
    if PARTS == 1 {
        let pivot = lanes.like(V::flat(column)[j].f64());
        if pivot.as_slice()[0] == V::Float::of(0.0) {
            return true;
        }
        if pivot.abs().any_less(smallest) {
            // The reciprocal may be infinite.
            below.change(column, lanes, |l| l / pivot);
        } else {
            let inverse = pivot.like(1.0) / pivot;
            below.change(column, lanes, |l| l * inverse);
        }
        return false;
    }
    let [re, im] = number(V::flat(column), j, lanes);
    let pivot = Pair { re, im };
    let size = pivot.size();
    if size.as_slice()[0] == V::Float::of(0.0) {
        return true;
    }
    if size.any_less(smallest) {
        let (near, size, square) = pivot.scaled();
        below.change(column, lanes, |l| {
            l.times_i().neg_mul_add(near.im, l * near.re) / square / size
        });
    } else {
        let Pair { re, im } = pivot.reciprocal();
        below.change(column, lanes, |l| l.times_i().mul_add(im, l * re));
    }
    false
}

/// The first of the rows from `j` to `m` with the element that is largest: of complex ones that whose parts have the
/// largest sum.
#[inline(always)]
fn largest_row<V: Lanes, const PARTS: usize>(column: &[V], j: usize, m: usize, lanes: V) -> usize {
    let size = |value: V| match PARTS {
        1 => value.abs(),
        _ => value.abs() + value.swap_parts().abs(),
    };
    let (first, row) = (PARTS * j / V::WIDTH, PARTS * j % V::WIDTH);
    let column = &column[first..];
    let none = column[0].like(-1.0);
    let head = lanes.if_less(lanes.like(row as f64), none, size(column[0]));
    // NaN is never the larger one.
    let mut parts = [head.max(none), none, none, none];
    let mut fours = column[1..].chunks_exact(4);
    for four in &mut fours {
        for (part, &value) in parts.iter_mut().zip(four) {
            *part = size(value).max(*part);
        }
    }
    for (part, &value) in parts.iter_mut().zip(fours.remainder()) {
        *part = size(value).max(*part);
    }
    let largest = parts[0].max(parts[1]).max(parts[2].max(parts[3]));
    let mut most = largest.as_slice()[0];
    for &other in &largest.as_slice()[1..] {
        most = if most < other { other } else { most };
    }
    let most = none.like(most.f64());
    let mut above = row;
    for (at, values) in column.chunks(64 / V::WIDTH).enumerate() {
        let mut equal = 0;
        for (i, &value) in values.iter().enumerate() {
            equal |= size(value).equal_bits(most) << (i * V::WIDTH);
        }
        equal = equal >> above << above;
        above = 0;
        if equal != 0 {
            let found = (first * V::WIDTH + at * 64 + equal.trailing_zeros() as usize) / PARTS;
            // A row of the padding, if there is nothing but NaN.
            return if found < m { found } else { j };
        }
    }
    j
}
