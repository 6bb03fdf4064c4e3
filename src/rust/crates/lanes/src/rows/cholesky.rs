//! The Cholesky factor of one matrix.

use super::getf2::number;
use super::share::share;
use super::{lanes_of, panel, waiting, Below, Columns};
use crate::lanes::{Float, Lanes};
use crate::operands::{Factors, Product};

/// Factors the lower triangle of a square matrix in place, in room of [`packed`](super::packed) and that for a column if
/// numbers have two parts; above it anything may come. Returns the order of the first minor that is not positive
/// definite, or 0.
#[inline(always)]
pub(crate) fn factor<V: Lanes, const PARTS: usize>(matrix: &mut Columns<'_, V>) -> i32 {
    let (rows, stride, together, a, work) = matrix.parts();
    let n = rows / PARTS;
    let (turned, work) = work.split_at_mut((PARTS - 1) * stride);
    let lanes = lanes_of(a[0]);
    let zero = V::Float::of(0.0);
    let width = panel(V::WIDTH);
    let mut failed = 0;
    for done in 1..=n.div_ceil(width) {
        let (start, end) = ((done - 1) * width, n.min(done * width));
        for j in start..end {
            let (before, rest) = a.split_at_mut((j + 1) * stride);
            let column = &mut before[j * stride..];
            let below = Below::diagonal::<V>(PARTS * j + PARTS - 1);
            let at_j = &mut V::flat_mut(column)[PARTS * j..][..PARTS];
            let value = at_j[0];
            // NaN, of an overflow, is not positive.
            let value = if zero < value {
                value.f64()
            } else {
                if failed == 0 {
                    failed = j as i32 + 1;
                }
                f64::NAN
            };
            let diagonal = lanes.like(value).sqrt();
            at_j.fill(zero);
            at_j[0] = diagonal.as_slice()[0];
            let inverse = lanes.like(1.0) / diagonal;
            below.change(column, lanes, |l| l * inverse);
            if PARTS == 2 {
                below.times_i(column, turned);
            }
            // The rows between the diagonals are above that of the other column.
            for (other, c) in rest.chunks_exact_mut(stride).zip(j + 1..end) {
                if PARTS == 1 {
                    let factor = lanes.like(V::flat(column)[c].f64());
                    below.subtract(other, column, factor, lanes);
                } else {
                    let [re, im] = number(V::flat(column), c, lanes);
                    below.subtract_complex(other, (column, turned), [re, -im], lanes);
                }
            }
        }
        if end < n {
            let count = waiting(done);
            let (known, behind) = a.split_at_mut(end * stride);
            let known = &known[(end - count * width) * stride..];
            let step = Product {
                stride,
                rows: PARTS * end / V::WIDTH..rows.div_ceil(V::WIDTH),
                known,
                first: (end - count * width, end),
                factors: if PARTS == 1 {
                    Factors::Beside(known)
                } else {
                    Factors::ComplexBeside(known)
                },
            };
            let to = &mut behind[..(count * width).min(n - end) * stride];
            let operations = count * width * PARTS * to.len() * V::WIDTH * 2;
            share(together, operations, to, stride, work, &|at, part, work| {
                let first = end + at;
                let step = Product {
                    rows: PARTS * first / V::WIDTH..step.rows.end,
                    first: (step.first.0, first),
                    ..step
                };
                V::product(part, &step, work);
            });
        }
    }
    failed
}
