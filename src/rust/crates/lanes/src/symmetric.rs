//! The QR algorithm for symmetric tridiagonal matrices, with Wilkinson's shift, as LAPACK's `steqr`.

use super::lanes::{Float, Lanes};
use super::rotation::{negligible_square, not_zero, rotation, span, Active};

/// Sweeps, per column, before it is given up.
const SWEEPS: usize = 30;

/// The eigenvalues of a tridiagonal matrix become `d`; `q`, of any rows, is multiplied by the rotations that take
/// it there. Returns how many of the elements `e` beside the diagonal are not negligible in the
/// end.
#[inline(always)]
pub(crate) fn diagonal<V: Lanes>(d: &mut [V], e: &mut [V], mut q: Option<&mut [V]>) -> V {
    let (zero, one) = (d[0].like(0.0), d[0].like(1.0));
    let n = d.len();
    let rows = q.as_ref().map_or(0, |q| q.len() / n);
    let mut end = n - 1;
    for _ in 0..SWEEPS * n {
        let block = last_block(d, e, end);
        let range = span(block.first, block.last);
        if range.is_empty() {
            return zero;
        }
        end = range.end;
        let (mut g, mut c, mut s, mut p) = (block.start, one, one, zero);
        let mut index = one.like(range.start as f64);
        for i in range {
            let Some(active) = Active::between(block.first, index, block.last) else {
                index += one;
                continue;
            };
            let (f, b) = (s * e[i], c * e[i]);
            let (cosine, sine, r) = rotation(g, f);
            if i > 0 {
                let above = block.first.if_less(index, r, e[i - 1]);
                e[i - 1] = active.pick(above, e[i - 1]);
            }
            let left = d[i] - p;
            let step = (d[i + 1] - left).mul_add(sine, one.like(2.0) * cosine * b);
            let shift = sine * step;
            d[i] = active.pick(left + shift, d[i]);
            g = active.pick(cosine * step - b, g);
            p = active.pick(shift, p);
            (c, s) = (active.pick(cosine, c), active.pick(sine, s));
            index += one;
            // The last step leaves what is to be the bottom of the block.
            d[i + 1] = index.if_equal(block.last, d[i + 1] - p, d[i + 1]);
            e[i] = index.if_equal(block.last, g, e[i]);
            if let Some(q) = &mut q {
                active.rotate(q, rows, i, (cosine, sine));
            }
        }
    }
    not_zero(&e[..n - 1], zero)
}

/// [`diagonal`] with a `q`, whose code vectors share; a lane alone has none to share, and whoever calls this has its
/// instructions.
#[inline(always)]
pub(crate) fn iterate<V: Lanes>(d: &mut [V], e: &mut [V], q: &mut [V]) -> V {
    if V::WIDTH == 1 {
        return diagonal(d, e, Some(q));
    }
    let mut failed = d[0];
    V::steqr(d, e, q, &mut failed);
    failed
}

/// [`diagonal`] of matrices of which `failed` shows that there are some, and becomes what is returned.
#[inline(always)]
pub(crate) fn steqr<V: Lanes>(d: &mut [V], e: &mut [V], q: &mut [V], failed: &mut V) {
    *failed = diagonal(d, e, Some(q));
}

/// Of each lane the last rows of its tridiagonal matrix that are not diagonal yet.
struct Block<V> {
    /// Its first row.
    first: V,
    /// Its last row, not larger where there is no such block.
    last: V,
    /// The first element of the first column, shifted.
    start: V,
}

/// Finds the block in rows up to `end`, and clears the elements that are negligible on the way.
#[inline(always)]
fn last_block<V: Lanes>(d: &[V], e: &mut [V], end: usize) -> Block<V> {
    let (zero, one) = (d[0].like(0.0), d[0].like(1.0));
    let eps = one.like(V::Float::ROUNDING.f64().powi(2));
    let floor = negligible_square(one);
    let (mut first, mut last, mut top) = (zero, zero, zero);
    let (mut begins, mut begin) = (zero, zero);
    // The block's last elements, and the one above.
    let (mut bottom, mut above, mut beside) = (zero, zero, one);
    let (mut index, mut before) = (zero, zero);
    for i in 0..end {
        let bound = (eps * d[i].abs()).mul_add(d[i + 1].abs(), floor);
        e[i] = (e[i] * e[i]).if_less(bound, zero, e[i]);
        begins = before.if_equal(zero, index, begins);
        begin = before.if_equal(zero, d[i], begin);
        before = e[i];
        index += one;
        let found = |new, old| before.if_equal(zero, old, new);
        first = found(begins, first);
        top = found(begin, top);
        last = found(index, last);
        (above, beside, bottom) = (
            found(d[i], above),
            found(before, beside),
            found(d[i + 1], bottom),
        );
    }
    // Wilkinson's shift, as `steqr` has it.
    let g = (above - bottom) / (beside + beside);
    let r = g.mul_add(g, one).sqrt().copysign(g);
    Block {
        first,
        last,
        start: top - bottom + beside / (g + r),
    }
}
