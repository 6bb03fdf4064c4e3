//! The QR algorithm for bidiagonal matrices, as LAPACK's `bdsqr`: with a shift, or, where a diagonal
//! element is negligible and so a singular value nearly 0, without, which takes it out at once.

use super::lanes::{Float, Lanes};
use super::rotation::{negligible_square, not_zero, rotation, span, Active};

/// Sweeps, per column, before it is given up.
const SWEEPS: usize = 60;

/// What an element right of the diagonal may have of its neighbours' sum, in roundings, to be
/// negligible. LAPACK allows 10 and more of them: with less, some elements never get there.
const TOLERANCE: f64 = 4.0;

/// The matrices whose columns take part in the rotations, the left and the right one, and their rows.
type Factors<'a, V> = Option<[(&'a mut [V], usize); 2]>;

/// The singular values of a bidiagonal matrix become `d`, with either sign; the factors are
/// multiplied by the rotations that take it there. Returns how many of the elements `e` right of
/// the diagonal are not negligible in the end.
#[inline(always)]
pub(crate) fn diagonal<V: Lanes>(d: &mut [V], e: &mut [V], mut factors: Factors<'_, V>) -> V {
    let (zero, one) = (d[0].like(0.0), d[0].like(1.0));
    let n = d.len();
    let mut end = n - 1;
    for _ in 0..SWEEPS * n {
        let block = last_block(d, e, end);
        let range = span(block.first, block.last);
        if range.is_empty() {
            return zero;
        }
        end = range.end;
        let never = one.like(-1.0);
        let shifted = block.singular.if_equal(zero, block.last, never);
        let mut sweep = Sweep {
            d: &mut *d,
            e: &mut *e,
            factors: factors.as_mut(),
        };
        let some = span(block.first, shifted);
        if !some.is_empty() {
            sweep.shifted(block.first, shifted, some, block.start);
        }
        let direct = block.singular.if_equal(zero, never, block.last);
        let some = span(block.first, direct);
        if !some.is_empty() {
            sweep.direct(block.first, direct, some);
        }
    }
    not_zero(&e[..n - 1], zero)
}

/// [`diagonal`] with factors, whose code vectors share; a lane alone has none to share, and whoever calls this has its
/// instructions.
#[inline(always)]
pub(crate) fn iterate<V: Lanes>(d: &mut [V], e: &mut [V], factors: [(&mut [V], usize); 2]) -> V {
    if V::WIDTH == 1 {
        return diagonal(d, e, Some(factors));
    }
    let mut failed = d[0];
    V::bdsqr(d, e, factors, &mut failed);
    failed
}

/// [`diagonal`] of matrices of which `failed` shows that there are some, and becomes what is returned.
#[inline(always)]
pub(crate) fn bdsqr<V: Lanes>(
    d: &mut [V],
    e: &mut [V],
    factors: [(&mut [V], usize); 2],
    failed: &mut V,
) {
    *failed = diagonal(d, e, Some(factors));
}

/// Of each lane the last rows of its bidiagonal matrix that are not diagonal yet.
struct Block<V> {
    /// Its first row.
    first: V,
    /// Its last row, not larger where there is no such block.
    last: V,
    /// 0, or 1 where a diagonal element is negligible.
    singular: V,
    /// What the first rotation is of, shifted, where it is not.
    start: (V, V),
}

/// Finds the block in rows up to `end`, and clears the elements that are negligible on the way.
#[inline(always)]
fn last_block<V: Lanes>(d: &[V], e: &mut [V], end: usize) -> Block<V> {
    let (zero, one) = (d[0].like(0.0), d[0].like(1.0));
    let eps = one.like(V::Float::ROUNDING.f64());
    let tolerance = one.like(TOLERANCE * V::Float::ROUNDING.f64());
    let floor = negligible_square(one).sqrt();
    let (mut first, mut last, mut singular) = (zero, zero, zero);
    let (mut begins, mut smallest, mut largest) = (zero, one, zero);
    // The first elements of what may be the block, and of the block.
    let (mut begin, mut beside, mut top, mut right) = (one, zero, one, zero);
    // The block's last elements.
    let (mut above, mut between, mut bottom) = (one, zero, one);
    let (mut index, mut before) = (zero, zero);
    for i in 0..end {
        let (here, next) = (d[i].abs(), d[i + 1].abs());
        let bound = tolerance.mul_add(here + next, floor);
        let size = e[i].abs();
        e[i] = size.if_less(bound, zero, e[i]);
        // Where the element before is 0 the block begins here.
        begins = before.if_equal(zero, index, begins);
        begin = before.if_equal(zero, d[i], begin);
        beside = before.if_equal(zero, e[i], beside);
        smallest = before.if_equal(zero, here, smallest);
        smallest = next.if_less(smallest, next, smallest);
        largest = before.if_equal(zero, here, largest).max(next).max(size);
        before = e[i];
        index += one;
        // Where this one is not 0 it is the last one so far.
        first = before.if_equal(zero, first, begins);
        top = before.if_equal(zero, top, begin);
        right = before.if_equal(zero, right, beside);
        last = before.if_equal(zero, last, index);
        let negligible = (eps * largest).if_less(smallest, zero, one);
        singular = before.if_equal(zero, singular, negligible);
        above = before.if_equal(zero, above, here);
        between = before.if_equal(zero, between, size);
        bottom = before.if_equal(zero, bottom, next);
    }
    // The smaller singular value of the last two rows: a quotient, as a difference would be
    // inexact.
    let (sum, difference) = (above + bottom, above - bottom);
    let square = between * between;
    let sizes = sum.mul_add(sum, square).sqrt() + difference.mul_add(difference, square).sqrt();
    let shift = one.like(2.0) * above * bottom / sizes;
    let sign = one.copysign(top);
    let start = (top.abs() - shift) * (sign + shift / top);
    Block {
        first,
        last,
        singular,
        start: (start, right),
    }
}

struct Sweep<'a, 'f, V> {
    d: &'a mut [V],
    e: &'a mut [V],
    factors: Option<&'a mut [(&'f mut [V], usize); 2]>,
}

impl<V: Lanes> Sweep<'_, '_, V> {
    /// A step of the QR algorithm in rows from `first` to `last`, which are in `range`.
    #[inline(always)]
    fn shifted(&mut self, first: V, last: V, range: std::ops::Range<usize>, start: (V, V)) {
        let one = first.like(1.0);
        let (mut f, mut g) = start;
        let mut index = one.like(range.start as f64);
        for i in range {
            let Some(active) = Active::between(first, index, last) else {
                index += one;
                continue;
            };
            let (c, s, r) = rotation(f, g);
            self.above(active, (first, index), i, r);
            index += one;
            let (di, ei, dn) = (self.d[i], self.e[i], self.d[i + 1]);
            let across = c.mul_add(di, s * ei);
            let ei = c * ei - s * di;
            let (cosine, sine, r) = rotation(across, s * dn);
            let dn = c * dn;
            let next = cosine.mul_add(ei, sine * dn);
            self.d[i] = active.pick(r, self.d[i]);
            self.d[i + 1] = active.pick(cosine * dn - sine * ei, self.d[i + 1]);
            f = active.pick(next, f);
            // The last step has no element to the right.
            self.e[i] = index.if_equal(last, next, self.e[i]);
            if let Some(e) = self.e.get_mut(i + 1) {
                g = index.if_less(last, active.pick(sine * *e, g), g);
                *e = index.if_less(last, active.pick(cosine * *e, *e), *e);
            }
            self.rotate(active, i, (cosine, sine), (c, s));
        }
    }

    /// The same with a shift of 0, in an order that is exact also where elements of the diagonal are
    /// 0.
    #[inline(always)]
    fn direct(&mut self, first: V, last: V, range: std::ops::Range<usize>) {
        let (zero, one) = (first.like(0.0), first.like(1.0));
        let (mut c, mut cosine, mut sine) = (one, one, zero);
        let mut index = one.like(range.start as f64);
        for i in range {
            let Some(active) = Active::between(first, index, last) else {
                index += one;
                continue;
            };
            let (c_here, s, r) = rotation(self.d[i] * c, self.e[i]);
            self.above(active, (first, index), i, sine * r);
            index += one;
            let (cosine_here, sine_here, r) = rotation(cosine * r, self.d[i + 1] * s);
            self.d[i] = active.pick(r, self.d[i]);
            c = active.pick(c_here, c);
            cosine = active.pick(cosine_here, cosine);
            sine = active.pick(sine_here, sine);
            let bottom = self.d[i + 1] * c;
            self.d[i + 1] = index.if_equal(last, bottom * cosine, self.d[i + 1]);
            self.e[i] = index.if_equal(last, bottom * sine, self.e[i]);
            self.rotate(active, i, (cosine_here, sine_here), (c_here, s));
        }
    }

    /// The element above row `index` becomes `value`, except above the first one.
    #[inline(always)]
    fn above(&mut self, active: Active<V>, (first, index): (V, V), i: usize, value: V) {
        if i > 0 {
            let above = &mut self.e[i - 1];
            *above = active.pick(first.if_less(index, value, *above), *above);
        }
    }

    #[inline(always)]
    fn rotate(&mut self, active: Active<V>, i: usize, left: (V, V), right: (V, V)) {
        if let Some([(u, u_rows), (v, v_rows)]) = &mut self.factors {
            active.rotate(u, *u_rows, i, left);
            active.rotate(v, *v_rows, i, right);
        }
    }
}
