//! The roots of the secular equation: the eigenvalues of `diag(d) + rho z zᵀ` (Gu and Eisenstat, A divide-and-conquer
//! algorithm for the symmetric tridiagonal eigenproblem, SIAM J. Matrix Anal. Appl. 16, 1995), or the singular values
//! of `diag(d)` with `z` in place of its first row (the same, A divide-and-conquer algorithm for the bidiagonal SVD,
//! ibid.).
//!
//! Each lane has a root of its own. A root is kept as its distance from the nearer pole, as only so its distances from
//! all poles are exact to the last digits.

use super::poles::{Compare, Numbers, Squares};
use crate::lanes::{Float, Lanes};
use crate::operands::{Roots, Secular, Spectrum};

/// Steps before a root is given up; a few are enough.
const STEPS: usize = 100;

/// Steps after which every second one halves what is known of the exponent, or of the digits.
const RATIONAL: usize = 8;

/// Vectors of [`Roots`] for so many.
pub(crate) fn room_for_roots(count: usize, width: usize) -> usize {
    2 * count.div_ceil(width)
}

impl<V: Lanes> Roots<'_, V> {
    /// A root: the pole and the distance; NaN where it was not found.
    #[inline(always)]
    pub(crate) fn at(&self, j: usize) -> (f64, f64) {
        let pair = &self.pairs[j / V::WIDTH * 2..][..2];
        let of = |q: usize| pair[q].as_slice()[j % V::WIDTH].f64();
        (of(0), of(1))
    }
}

/// The sums over the poles up to a root and over those above it, with their derivatives, and how much rounding may
/// have changed them, in roundings.
struct Sums<V> {
    below: V,
    below_slope: V,
    above: V,
    above_slope: V,
    error: V,
}

/// Roots from that of group `first` on, as [`Roots`].
#[inline(always)]
pub(crate) fn roots<V: Lanes>(pairs: &mut [V], equation: &Secular<'_, V::Float>, first: usize) {
    match equation.spectrum {
        Spectrum::Eigenvalues => roots_by::<V, Numbers>(pairs, equation, first),
        Spectrum::SingularValues => roots_by::<V, Squares>(pairs, equation, first),
    }
}

#[inline(always)]
fn roots_by<V: Lanes, C: Compare>(pairs: &mut [V], equation: &Secular<'_, V::Float>, first: usize) {
    for (group, pair) in pairs.chunks_exact_mut(2).enumerate() {
        let (pole, distance) = solve::<V, C>(equation, (first + group) * V::WIDTH, pair[0]);
        pair[0] = pole;
        pair[1] = distance;
    }
}

/// The roots from `start` on, one to a lane; lanes too many have the last one.
#[inline(always)]
fn solve<V: Lanes, C: Compare>(equation: &Secular<'_, V::Float>, start: usize, any: V) -> (V, V) {
    let zero = any.like(0.0);
    let (inverse, eps) = (
        any.like(1.0 / equation.rho),
        any.like(V::Float::ROUNDING.f64()),
    );
    let root = Interval::of::<C>(equation, start, any);
    let (gap, half) = (root.gap, root.gap * any.like(0.5));
    // From the middle it is seen which pole is the nearer one.
    let sums = root.sums::<C>(equation, root.left, half);
    let middle = inverse + sums.below + sums.above;
    let nearer = |left, right| {
        root.last
            .if_equal(zero, middle.if_less(zero, right, left), left)
    };
    let pole = nearer(root.left, root.right);
    let (from_left, from_right) = (nearer(zero, -gap), nearer(gap, zero));
    let (zl, zr) = (root.zl * root.zl, root.zr * root.zr);
    // A root is not nearer to its pole than the other terms, with their values in the middle, would have it.
    let least = any.like(0.5);
    let low = C::moved(root.left, least * zl / (inverse + sums.above));
    let low = nearer(low, -half);
    let high = nearer(half, C::moved(root.right, least * zr / sums.below));
    let beyond = |yes, no| root.last.if_equal(zero, no, middle.if_less(zero, yes, no));
    let (mut low, mut high) = (beyond(half, low), beyond(gap, high));
    // All poles but the two beside it are taken to be as far away as from the middle.
    let at = root.left + half;
    let rest = middle + zl / C::apart(half, root.left, at) - zr / C::apart(half, root.right, at);
    let (size, gap) = (zl + zr, C::apart(gap, root.left, root.right));
    let a = nearer(rest.mul_add(gap, size), rest.neg_mul_add(gap, size));
    let b = nearer(zl * gap, -(zr * gap));
    let mut distance = inside(C::moved(pole, smaller_root(a, b, rest)), low, high);
    let mut open = any.like(1.0);
    for step in 0..STEPS {
        let sums = root.sums::<C>(equation, pole, distance);
        let at = pole + distance;
        let value = inverse + sums.below + sums.above;
        let slope = sums.below_slope + sums.above_slope;
        let eight = any.like(8.0);
        let error = (sums.above - sums.below).mul_add(eight, sums.error + inverse);
        let error = eps * C::apart(distance.abs(), at, at).mul_add(slope, error);
        // Closed, too, where no number is left between the bounds. NaN stays open.
        let wide = any.like(4.0) * eps * low.abs().max(high.abs());
        let still = error.if_less(value.abs(), wide.if_less(high - low, open, zero), zero);
        open = value.if_equal(value, still, open);
        if !zero.any_less(open) {
            return (pole, distance);
        }
        let negative = |yes, no| value.if_less(zero, yes, no);
        low = negative(distance, low);
        high = negative(high, distance);
        // R.-C. Li, Solving secular equations stably and efficiently, LAPACK Working Note 89: the middle way.
        let left = C::apart(from_left - distance, root.left, at);
        let right = C::apart(from_right - distance, root.right, at);
        let product = left * right;
        let a = product.neg_mul_add(slope, (left + right) * value);
        let b = product * value;
        let c = value - left * sums.below_slope - right * sums.above_slope;
        let mut next = distance + C::moved(at, smaller_root(a, b, c));
        if step >= RATIONAL && step % 2 == 0 {
            next = low + low - high;
        }
        let next = inside(next, low, high);
        distance = zero.if_less(open, next, distance);
    }
    (pole, zero.if_less(open, any.like(f64::NAN), distance))
}

/// The solution of `c x² - a x + b = 0` that is the smaller one where both have one sign.
#[inline(always)]
fn smaller_root<V: Lanes>(a: V, b: V, c: V) -> V {
    let (zero, two) = (a.like(0.0), a.like(2.0));
    let square = a.mul_add(a, -(a.like(4.0) * b * c));
    let root = zero.if_less(square, square, zero).sqrt();
    zero.if_less(a, (two * b) / (a + root), (a - root) / (two * c))
}

/// The number, or one between the bounds, which have one sign, where it is not between them: the geometric mean.
#[inline(always)]
fn inside<V: Lanes>(number: V, low: V, high: V) -> V {
    let mean = (low.abs().sqrt() * high.abs().sqrt()).copysign(low);
    low.if_less(number, number.if_less(high, number, mean), mean)
}

/// Where the roots of a group lie.
struct Interval<V> {
    /// The first one's number.
    start: usize,
    /// The numbers of the poles up to them, counted from the first one's.
    number: V,
    /// 1 in the lanes of the last root of all, which no pole is above.
    last: V,
    left: V,
    right: V,
    gap: V,
    zl: V,
    zr: V,
}

impl<V: Lanes> Interval<V> {
    #[inline(always)]
    fn of<C: Compare>(equation: &Secular<'_, V::Float>, start: usize, any: V) -> Self {
        let count = equation.poles.len();
        let zero = any.like(0.0);
        let mut root = Interval {
            start,
            number: zero,
            last: zero,
            left: zero,
            right: zero,
            gap: zero,
            zl: zero,
            zr: zero,
        };
        let mut square = 0.0;
        for z in equation.z {
            square += z.f64() * z.f64();
        }
        for lane in 0..V::WIDTH {
            let j = (start + lane).min(count - 1);
            let (pole, z) = (equation.poles[j].f64(), equation.z[j].f64());
            let set = |vector: &mut V, value: f64| {
                vector.as_mut_slice()[lane] = V::Float::of(value);
            };
            set(&mut root.number, (j - start) as f64);
            set(&mut root.left, pole);
            set(&mut root.zl, z);
            if j + 1 < count {
                let right = equation.poles[j + 1].f64();
                set(&mut root.right, right);
                set(&mut root.gap, right - pole);
                set(&mut root.zr, equation.z[j + 1].f64());
            } else {
                set(&mut root.last, 1.0);
                set(&mut root.gap, equation.rho * square);
            }
        }
        let gap = C::moved(root.left, root.gap);
        root.gap = root.last.if_equal(zero, root.gap, gap);
        root.right = root.last.if_equal(zero, root.right, root.left + gap);
        root
    }

    /// The sums where the roots are that far from those poles.
    #[inline(always)]
    fn sums<C: Compare>(&self, equation: &Secular<'_, V::Float>, pole: V, distance: V) -> Sums<V> {
        let (zero, at) = (pole.like(0.0), pole + distance);
        let count = equation.poles.len();
        let all = &equation.poles[..count];
        let z = &equation.z[..count];
        let (mixed, rest) = (self.start + 1, count.min(self.start + V::WIDTH));
        let mut sums = Sums {
            below: zero,
            below_slope: zero,
            above: zero,
            above_slope: zero,
            error: zero,
        };
        // Of the poles beside the roots, each is below some of these and above others.
        for i in 0..rest {
            let z = zero.like(z[i].f64());
            let d = zero.like(all[i].f64());
            let quotient = z / C::apart((d - pole) - distance, d, at);
            let number = zero.like(i as f64 - self.start as f64);
            let part = |value: V| {
                if i < mixed {
                    value
                } else {
                    self.number.if_less(number, zero, value)
                }
            };
            let quotient = part(quotient);
            sums.below = z.mul_add(quotient, sums.below);
            sums.below_slope = quotient.mul_add(quotient, sums.below_slope);
            sums.error = sums.error - part(sums.below);
        }
        for i in (mixed..count).rev() {
            let z = zero.like(z[i].f64());
            let d = zero.like(all[i].f64());
            let quotient = z / C::apart((d - pole) - distance, d, at);
            let number = zero.like(i as f64 - self.start as f64);
            let part = |value: V| {
                if i < rest {
                    self.number.if_less(number, value, zero)
                } else {
                    value
                }
            };
            let quotient = part(quotient);
            sums.above = z.mul_add(quotient, sums.above);
            sums.above_slope = quotient.mul_add(quotient, sums.above_slope);
            sums.error += part(sums.above);
        }
        sums
    }
}
