//! A reflection `I - tau v vᴴ` of complex numbers with a real factor, `v` beginning with 1: what it makes of a column
//! is a complex number.

use super::reduce::dots;
use super::reflect::BLOCK;
use crate::householder::Range;
use crate::lanes::{Apart, Float, Lanes};

/// The reflection of what a column, in two parts, has from `row` on: its element there and the factor. `x`, whose
/// parts are the halves of it, becomes the vector, 0 in the rows of its first block before it.
#[inline(always)]
pub(super) fn reflection<V: Lanes>(
    column: [&[V]; 2],
    row: usize,
    x: &mut [V],
) -> ([V::Float; 2], V::Float) {
    let (zero, any) = (V::Float::of(0.0), x[0]);
    let mut made = ([zero; 2], zero);
    let making = Making {
        column,
        row,
        x,
        made: &mut made,
    };
    V::apart(making, any);
    made
}

/// A column and what becomes of it.
struct Making<'a, V: Lanes> {
    column: [&'a [V]; 2],
    row: usize,
    x: &'a mut [V],
    made: &'a mut ([V::Float; 2], V::Float),
}

impl<V: Lanes> Apart for Making<'_, V> {
    #[inline(always)]
    fn run(self) {
        let Making {
            column,
            row,
            x,
            made,
        } = self;
        let first = row / BLOCK * BLOCK;
        let top = first / V::WIDTH;
        let len = column[0].len();
        let (re, im) = x.split_at_mut(x.len() / 2);
        let zero = re[0].like(0.0);
        let one = zero.like(1.0);
        let mut alpha = [zero; 2];
        for (part, x) in [&mut *re, &mut *im].into_iter().enumerate() {
            x[top..len].copy_from_slice(&column[part][top..]);
            let x = V::flat_mut(x);
            alpha[part] = zero.like(x[row].f64());
            x[first..=row].fill(V::Float::of(0.0));
        }
        let (re, im) = (&mut re[top..len], &mut im[top..len]);
        let mut largest = zero;
        for value in re.iter().chain(im.iter()) {
            largest = largest.max(value.abs());
        }
        let nothing = !zero.any_less(largest);
        let range = Range::like(zero);
        let mut scale = one;
        if !nothing {
            let total = squares([re, im], alpha);
            if total.any_less(range.tiny) {
                scale = range.up;
            } else if range.huge.any_less(total) {
                scale = range.down;
            }
            alpha = [alpha[0] * scale, alpha[1] * scale];
        }
        *made = (
            [V::flat(&alpha)[0], V::flat(&alpha)[V::WIDTH]],
            V::Float::of(0.0),
        );
        let row_at = row - first;
        if !nothing {
            if scale.any_less(one) || one.any_less(scale) {
                for value in re.iter_mut().chain(im.iter_mut()) {
                    *value = *value * scale;
                }
            }
            // A square without all of its digits belongs to what is negligible beside a matrix near 1. The norm is without
            // it, too: else the reflection would not be unitary where the rest of the column is as small.
            let square = alpha[1].mul_add(alpha[1], alpha[0] * alpha[0]);
            let least = zero.like(V::Float::SMALLEST.f64() / V::Float::ROUNDING.f64());
            let counted = |number| square.if_less(least, zero, number);
            alpha = [counted(alpha[0]), counted(alpha[1])];
            let size = counted(square.sqrt());
            let norm = squares([re, im], alpha).sqrt();
            let along = |part, other| size.if_equal(zero, other, part / size);
            let (cosine, sine) = (along(alpha[0], one), along(alpha[1], zero));
            // `v` begins with `(size + norm) (cosine + i sine)`, and is divided by that.
            let inverse = one / (size + norm);
            let (cosine_there, sine_there) = (cosine * inverse, sine * inverse);
            for (re, im) in re.iter_mut().zip(im.iter_mut()) {
                let (x, y) = (*re, *im);
                *re = y.mul_add(sine_there, x * cosine_there);
                *im = x.neg_mul_add(sine_there, y * cosine_there);
            }
            let back = -norm / scale;
            let beside = [back * cosine, back * sine];
            *made = (
                [V::flat(&beside)[0], V::flat(&beside)[V::WIDTH]],
                V::flat(&[(size + norm) / norm])[0],
            );
        }
        V::flat_mut(re)[row_at] = V::Float::of(1.0);
    }
}

/// The sum of squares of a column's parts, and of those of one number.
#[inline(always)]
fn squares<V: Lanes>([re, im]: [&[V]; 2], [x, y]: [V; 2]) -> V {
    let ([a], [b]) = (dots(re, [re]), dots(im, [im]));
    y.mul_add(y, x.mul_add(x, a + b))
}
