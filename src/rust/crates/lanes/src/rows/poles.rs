//! What the secular equation's poles and roots are compared by: eigenvalues by themselves, singular values by their
//! squares. Of a difference of squares both factors are exact to the last digits, as the difference of the poles and
//! roots is.

use crate::lanes::Lanes;

/// By what.
pub(super) trait Compare {
    /// `difference` of `a` and `b`, or that of their squares.
    fn apart<V: Lanes>(difference: V, a: V, b: V) -> V;
    /// How far `root` moves where what it is compared by moves that far.
    fn moved<V: Lanes>(root: V, by: V) -> V;
}

/// By the numbers themselves.
pub(super) struct Numbers;

impl Compare for Numbers {
    #[inline(always)]
    fn apart<V: Lanes>(difference: V, _: V, _: V) -> V {
        difference
    }
    #[inline(always)]
    fn moved<V: Lanes>(_: V, by: V) -> V {
        by
    }
}

/// By their squares; none is negative.
pub(super) struct Squares;

impl Compare for Squares {
    #[inline(always)]
    fn apart<V: Lanes>(difference: V, a: V, b: V) -> V {
        difference * (a + b)
    }
    #[inline(always)]
    fn moved<V: Lanes>(root: V, by: V) -> V {
        let zero = root.like(0.0);
        let square = root.mul_add(root, by);
        by / (root + zero.if_less(square, square, zero).sqrt())
    }
}
