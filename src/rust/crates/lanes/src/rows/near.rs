//! Matrices brought near 1, and what they become put where it belongs.

use super::all_zero;
use super::reflect::BLOCK;
use crate::block::finite;
use crate::lanes::{Apart, Float, Lanes};
use crate::scale::Scale;

/// A matrix brought near 1; none if it is not finite.
#[inline(always)]
pub(super) fn bring_near_1<V: Lanes>(matrix: &mut [V], stride: usize) -> Option<Scale<V>> {
    let zero = matrix[0].like(0.0);
    let (mut sum, mut largest) = (zero, zero);
    for column in matrix.chunks_exact(stride) {
        sum += finite(column);
        for value in column {
            largest = value.abs().max(largest);
        }
    }
    if !all_zero(sum) {
        return None;
    }
    let mut size = 0.0_f64;
    for lane in largest.as_slice() {
        size = size.max(lane.f64());
    }
    let scale = Scale::of(zero.like(size));
    scale.there(matrix);
    Some(scale)
}

/// What the largest element of a bidiagonal matrix is brought near.
const LIFTED: f64 = 1024.0;

/// What is negligible beside that; numbers between both have squares, and these too, that are neither too large nor too
/// small. Of f32 that is no more than rounding.
pub(super) fn negligible<T: Float>() -> f64 {
    if T::SMALLEST.f64() < 1e-300 {
        1e-40
    } else {
        4.0 * T::ROUNDING.f64() * LIFTED
    }
}

/// Brings a bidiagonal matrix near to that.
#[inline(always)]
pub(super) fn lift<V: Lanes>(elements: [&mut [V]; 2]) -> Scale<V> {
    let mut size = 0.0_f64;
    for values in &elements {
        for value in V::flat(values) {
            size = size.max(value.f64().abs());
        }
    }
    let scale = Scale::of(elements[0][0].like(size / LIFTED));
    for values in elements {
        scale.there(values);
    }
    scale
}

/// Singular values are brought back, and become `s` as they descend; `order`, their numbers as they ascend, is turned.
#[inline(always)]
pub(super) fn descending<V: Lanes>(
    scale: &Scale<V>,
    d: &mut [V],
    order: &mut [u16],
    s: &mut [V::Float],
) {
    scale.back(d);
    order.reverse();
    for (s, &from) in s.iter_mut().zip(&*order) {
        *s = V::flat(d)[usize::from(from)];
    }
}

/// Columns from `first` on, of elements of so many `parts`, become those of the identity.
#[inline(always)]
pub(super) fn unit<V: Lanes>(q: &mut [V], stride: usize, first: usize, parts: usize) {
    for (j, column) in q.chunks_exact_mut(stride).enumerate().skip(first) {
        column.fill(column[0].like(0.0));
        V::flat_mut(column)[j * parts] = V::Float::of(1.0);
    }
}

/// The columns, of `m` numbers, become those of `to`, or its `rows`: the first ones in that order, the others in their
/// own. So many numbers are an element.
#[inline(always)]
pub(super) fn write<V: Lanes, const PARTS: usize>(
    columns: (&[V], usize),
    m: usize,
    order: &[u16],
    to: &mut [V::Float],
    rows: bool,
) {
    let writing = Writing::<V, PARTS> {
        columns,
        m,
        order,
        to,
        rows,
    };
    V::apart(writing, columns.0[0]);
}

/// Columns and where they go.
struct Writing<'a, V: Lanes, const PARTS: usize> {
    columns: (&'a [V], usize),
    m: usize,
    order: &'a [u16],
    to: &'a mut [V::Float],
    rows: bool,
}

impl<V: Lanes, const PARTS: usize> Apart for Writing<'_, V, PARTS> {
    #[inline(always)]
    fn run(self) {
        let Writing {
            columns: (q, stride),
            m,
            order,
            to,
            rows,
        } = self;
        if !rows {
            for (j, to) in to.chunks_exact_mut(m).enumerate() {
                to.copy_from_slice(column((q, stride), m, order, j));
            }
            return;
        }
        let count = to.len() / m;
        // A few columns at a time, so that what is read stays in the cache.
        for first in (0..count).step_by(BLOCK) {
            let wide = BLOCK.min(count - first);
            let mut columns = [column((q, stride), m, order, first); BLOCK];
            for (c, to) in columns[..wide].iter_mut().enumerate() {
                *to = column((q, stride), m, order, first + c);
            }
            for (i, to) in to.chunks_exact_mut(count * PARTS).enumerate() {
                let to = &mut to[first * PARTS..][..wide * PARTS];
                for (to, column) in to.chunks_exact_mut(PARTS).zip(&columns) {
                    to.copy_from_slice(&column[i * PARTS..][..PARTS]);
                }
            }
        }
    }
}

/// The numbers of column `j` in that order, or in their own where there is none.
#[inline(always)]
fn column<'a, V: Lanes>(
    (q, stride): (&'a [V], usize),
    m: usize,
    order: &[u16],
    j: usize,
) -> &'a [V::Float] {
    let place = if j < order.len() {
        usize::from(order[j])
    } else {
        j
    };
    &V::flat(&q[place * stride..][..stride])[..m]
}
