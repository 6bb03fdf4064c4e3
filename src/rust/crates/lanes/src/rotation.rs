//! Plane rotations, and in which lanes and between which columns they are at work.

use super::lanes::{Float, Lanes};

/// Squares below this are too small for the digits that their sums need: what belongs to them is
/// taken for 0. The matrices are scaled, so that it is negligible.
#[inline(always)]
pub(crate) fn negligible_square<V: Lanes>(vector: V) -> V {
    let eps = V::Float::ROUNDING.f64();
    vector.like(V::Float::SMALLEST.f64() / eps / eps)
}

/// How many are not 0.
#[inline(always)]
pub(crate) fn not_zero<V: Lanes>(elements: &[V], zero: V) -> V {
    let mut count = zero;
    for element in elements {
        count += element.if_equal(zero, zero, zero.like(1.0));
    }
    count
}

/// `c`, `s` and `r` with `c f + s g = r` and `c g = s f`.
#[inline(always)]
pub(crate) fn rotation<V: Lanes>(f: V, g: V) -> (V, V, V) {
    let (zero, one) = (f.like(0.0), f.like(1.0));
    let square = f.mul_add(f, g * g);
    let tiny = negligible_square(f);
    let r = square.if_less(tiny, one, square).sqrt();
    let inverse = one / r;
    (
        square.if_less(tiny, one, f * inverse),
        square.if_less(tiny, zero, g * inverse),
        square.if_less(tiny, f, r),
    )
}

/// The lanes that take part in a step.
#[derive(Clone, Copy)]
pub(crate) struct Active<V> {
    on: V,
    all: bool,
}

impl<V: Lanes> Active<V> {
    /// Those where `first <= index < last`; none if there are none.
    #[inline(always)]
    pub(crate) fn between(first: V, index: V, last: V) -> Option<Self> {
        let (zero, one) = (index.like(0.0), index.like(1.0));
        let on = index.if_less(first, zero, index.if_less(last, one, zero));
        let all = !on.any_less(one);
        (all || zero.any_less(on)).then_some(Active { on, all })
    }

    /// `new` where they are, `old` elsewhere.
    #[inline(always)]
    pub(crate) fn pick(self, new: V, old: V) -> V {
        self.on.like(0.0).if_less(self.on, new, old)
    }

    /// Columns `at` and `at + 1`, of `rows` rows, rotated: `(x, y)` becomes
    /// `(c x + s y, c y - s x)`.
    #[inline(always)]
    pub(crate) fn rotate(self, columns: &mut [V], rows: usize, at: usize, (c, s): (V, V)) {
        let (x, y) = columns[at * rows..(at + 2) * rows].split_at_mut(rows);
        if self.all {
            for (x, y) in x.iter_mut().zip(y) {
                let (old, below) = (*x, *y);
                *x = s.mul_add(below, c * old);
                *y = s.neg_mul_add(old, c * below);
            }
        } else {
            for (x, y) in x.iter_mut().zip(y) {
                let (old, below) = (*x, *y);
                *x = self.pick(s.mul_add(below, c * old), old);
                *y = self.pick(s.neg_mul_add(old, c * below), below);
            }
        }
    }
}

/// The first and the last column that a rotation of some lane changes.
#[inline(always)]
pub(crate) fn span<V: Lanes>(first: V, last: V) -> std::ops::Range<usize> {
    let ends = first.as_slice().iter().zip(last.as_slice());
    let (mut low, mut high) = (usize::MAX, 0);
    for (first, last) in ends {
        // Small whole numbers, and -1, which becomes 0.
        let (first, last) = (first.f64() as usize, last.f64() as usize);
        if first < last {
            low = low.min(first);
            high = high.max(last);
        }
    }
    low.min(high)..high
}
