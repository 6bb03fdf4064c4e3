//! Householder's reflections `H = I - tau v vᴴ`, `v` beginning with 1, by LAPACK's conventions.

use super::field::Field;
use super::lanes::{Float, Lanes};
use super::update::{self, products, subtract};

/// Powers of 2 that bring what is too small or too large to be squared into range, and the bounds
/// of a sum of squares that is right without.
pub(crate) struct Range<V> {
    pub(crate) tiny: V,
    pub(crate) huge: V,
    pub(crate) up: V,
    pub(crate) down: V,
}

impl<V: Lanes> Range<V> {
    #[inline(always)]
    pub(crate) fn like(vector: V) -> Self {
        let (smallest, eps) = (V::Float::SMALLEST.f64(), V::Float::ROUNDING.f64());
        // 2⁻¹⁰²² and 2⁻⁵³, or 2⁻¹²⁶ and 2⁻²⁴. A square that underflows is too small to matter
        // beside `tiny`. `up` lifts the smallest subnormal number to where its square is normal,
        // `down` brings the largest number's square below the largest number.
        let (up, down) = if smallest < 1e-300 {
            (600, -600)
        } else {
            (90, -75)
        };
        Range {
            tiny: vector.like(smallest / eps / eps),
            huge: vector.like(0.25 / smallest),
            up: vector.like(2_f64.powi(up)),
            down: vector.like(2_f64.powi(down)),
        }
    }
}

/// The reflection that takes `(alpha, x)` to `(beta, 0)`: returns `beta` and `tau`; `x` becomes the
/// rest of `v`. `Hᴴ` does; it is `H` where all is real. Where `x` is 0 (and `alpha` real) that is the identity, with
/// `tau` 0. `dlarfg`, with the scaling in one step.
#[inline(always)]
pub(crate) fn reflection<F: Field>(alpha: F, x: &mut [F]) -> (F, F) {
    let any = alpha.re();
    let (zero, one) = (any.like(0.0), any.like(1.0));
    let range = Range::like(any);
    let largest = update::largest(zero, x) + alpha.imaginary_size();
    let [squares] = products(x, [&*x], [F::of(zero)]);
    let total = alpha.square(squares.re());
    let mut scale = one;
    let (mut scaled_alpha, mut total_scaled) = (alpha, total);
    let nothing = |yes: F, no: F| F::if_equal(largest, zero, yes, no);
    let judged = largest.if_equal(zero, one, total);
    if judged.any_less(range.tiny) || range.huge.any_less(judged) {
        scale = judged.if_less(range.tiny, range.up, one);
        scale = range.huge.if_less(judged, range.down, scale);
        scaled_alpha = alpha.times(scale);
        update::scale(x, scale);
        let [squares] = products(x, [&*x], [F::of(zero)]);
        total_scaled = scaled_alpha.square(squares.re());
    }
    let beta = -total_scaled.sqrt().copysign(scaled_alpha.re());
    let tau = (F::of(beta) - scaled_alpha).per(largest.if_equal(zero, one, beta));
    let inverse = nothing(F::of(one), scaled_alpha - F::of(beta)).reciprocal();
    for v in x {
        *v = v.by(inverse);
    }
    (
        nothing(alpha, F::of(beta / scale)),
        nothing(F::of(zero), tau),
    )
}

/// `H C` in place, for the columns of `columns` (`m` rows each) from row `first` on; `v` are the
/// elements of `v` after its 1.
#[inline(always)]
pub(crate) fn reflect<F: Field>(v: &[F], tau: F, columns: &mut [F], m: usize, first: usize) {
    let mut rest = columns;
    if F::Real::WIDTH == 1 {
        // Registers hold that many sums.
        let mut fours = rest.chunks_exact_mut(4 * m);
        for four in &mut fours {
            let (a, others) = four.split_at_mut(m);
            let (b, others) = others.split_at_mut(m);
            let (c, d) = others.split_at_mut(m);
            let columns = [
                &mut a[first..],
                &mut b[first..],
                &mut c[first..],
                &mut d[first..],
            ];
            reflect_columns(v, tau, columns);
        }
        rest = fours.into_remainder();
    }
    for column in rest.chunks_exact_mut(m) {
        reflect_columns(v, tau, [&mut column[first..]]);
    }
}

/// Several at a time, so that their sums do not wait for one another.
#[inline(always)]
fn reflect_columns<F: Field, const N: usize>(v: &[F], tau: F, columns: [&mut [F]; N]) {
    let (mut heads, mut tails) = ([tau; N], [v; N]);
    for (column, (head, tail)) in columns.iter().zip(heads.iter_mut().zip(&mut tails)) {
        (*head, *tail) = (column[0], &column[1..]);
    }
    let sums = products(v, tails, heads);
    for (sum, column) in sums.into_iter().zip(columns) {
        let sum = sum.by(tau);
        column[0] = column[0] - sum;
        subtract(&mut column[1..], [v], [sum]);
    }
}
