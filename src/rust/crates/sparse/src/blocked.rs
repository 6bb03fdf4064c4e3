//! Large products of dense matrices. Parts of both operands are copied in the order in which tiles read them, so that
//! they stay in the processor's caches: K. Goto, R. van de Geijn, "Anatomy of high-performance matrix multiplication",
//! ACM Transactions on Mathematical Software 34 (2008).

use lanes::{vectorised, Task};

use crate::number::Number;
use crate::scratch::zeros;
use crate::tile::{self, Operand};

/// Rows and columns of a tile: its sums take twelve registers of AVX2.
const TALL: usize = 8;
const WIDE: usize = 6;

/// Rows of a part of the left operand, and its columns, which are rows of the right one.
const ROWS: usize = 64;
const DEPTH: usize = 256;

/// From so many multiplications on copies are worth their time.
const LARGE: usize = 1 << 18;

/// `C -= A B`, as [`tile::subtract_product`], on the processor's vector unit.
pub(crate) fn subtract_product<T: Number>(
    c: &mut [T],
    stride: usize,
    size: (usize, usize, usize),
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    lower: bool,
) {
    let product = Product {
        c,
        stride,
        size,
        a,
        b,
        lower,
    };
    if T::LEN == 1 && is_large(size) {
        product.in_parts();
    } else {
        vectorised(product);
    }
}

/// The same. For numbers the code is in place, which saves a call; that for jets is long.
#[inline(always)]
pub(crate) fn subtract_product_in_place<T: Number, const FMA: bool>(
    c: &mut [T],
    stride: usize,
    size: (usize, usize, usize),
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    lower: bool,
) {
    if T::LEN > 1 || is_large(size) {
        subtract_product(c, stride, size, a, b, lower);
    } else {
        tile::subtract_product::<T, FMA>(c, stride, size, a, b, lower);
    }
}

fn is_large((rows, columns, depth): (usize, usize, usize)) -> bool {
    rows >= 2 * TALL && columns > 2 * WIDE && rows * columns * depth >= LARGE
}

struct Product<'a, T> {
    c: &'a mut [T],
    stride: usize,
    size: (usize, usize, usize),
    a: Operand<'a, T>,
    b: Operand<'a, T>,
    lower: bool,
}

impl<T: Number> Product<'_, T> {
    /// Where there is no memory for the parts tiles read where the operands are.
    fn in_parts(self) {
        match zeros(DEPTH.min(self.size.2) * (ROWS + WIDE)) {
            Ok(mut work) => vectorised(Parts {
                product: self,
                work: &mut work,
            }),
            Err(_) => vectorised(self),
        }
    }
}

/// By tiles that read where the operands are.
impl<T: Number> Task for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Product {
            c,
            stride,
            size,
            a,
            b,
            lower,
        } = self;
        tile::subtract_product::<T, FMA>(c, stride, size, a, b, lower);
    }
}

struct Parts<'a, 'w, T> {
    product: Product<'a, T>,
    work: &'w mut [T],
}

impl<T: Number> Task for Parts<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Product {
            c,
            stride,
            size: (rows, columns, depth),
            a,
            b,
            lower,
        } = self.product;
        for from in (0..depth).step_by(DEPTH) {
            let deep = DEPTH.min(depth - from);
            let (left, right) = self.work.split_at_mut(ROWS * deep);
            let right = &mut right[..WIDE * deep];
            for top in (0..rows).step_by(ROWS) {
                let tall = ROWS.min(rows - top);
                copy_left(left, &a.data[from * a.right + top..], a.right, tall, deep);
                for column in (0..columns).step_by(WIDE) {
                    if lower && top + tall <= column {
                        break;
                    }
                    let wide = WIDE.min(columns - column);
                    let b = Operand {
                        data: &b.data[from * b.down + column * b.right..],
                        ..b
                    };
                    copy_right(right, b, wide, deep);
                    let skipped = if lower {
                        column.saturating_sub(top) / TALL
                    } else {
                        0
                    };
                    let strips = left.chunks_exact(TALL * deep).enumerate();
                    for (at, strip) in strips.take(tall.div_ceil(TALL)).skip(skipped) {
                        let row = at * TALL;
                        let c = &mut c[column * stride + top + row..];
                        let there = (TALL.min(tall - row), wide);
                        copied_tile::<T, FMA>(c, stride, there, strip, right);
                    }
                }
            }
        }
    }
}

/// Rows in strips of as many as a tile has, column after column in each; zeros where there are no more rows.
#[inline(always)]
fn copy_left<T: Number>(to: &mut [T], from: &[T], stride: usize, rows: usize, depth: usize) {
    for (at, strip) in to.chunks_exact_mut(TALL * depth).enumerate() {
        let first = at * TALL;
        if first >= rows {
            return;
        }
        let count = TALL.min(rows - first);
        for (to, from) in strip.chunks_exact_mut(TALL).zip(from.chunks(stride)) {
            let from = &from[first..first + count];
            if count == TALL {
                to.copy_from_slice(from);
            } else {
                to[..count].copy_from_slice(from);
                to[count..].fill(T::ZERO);
            }
        }
    }
}

/// Columns of a tile, row after row; zeros where there are no more columns.
#[inline(always)]
fn copy_right<T: Number>(to: &mut [T], from: Operand<'_, T>, columns: usize, depth: usize) {
    if columns < WIDE {
        to.fill(T::ZERO);
    }
    for n in 0..columns {
        let from = from.data[n * from.right..].iter().step_by(from.down);
        let to = to[n..].iter_mut().step_by(WIDE);
        for (to, &from) in to.zip(from).take(depth) {
            *to = from;
        }
    }
}

/// A tile of `C`, of which only `rows` and `columns` may be there.
#[inline(always)]
fn copied_tile<T: Number, const FMA: bool>(
    c: &mut [T],
    stride: usize,
    (rows, columns): (usize, usize),
    a: &[T],
    b: &[T],
) {
    if rows == TALL && columns == WIDE {
        return whole_tile::<T, FMA>(c, stride, a, b);
    }
    let mut whole = [T::ZERO; TALL * WIDE];
    whole_tile::<T, FMA>(&mut whole, TALL, a, b);
    for (c, products) in c
        .chunks_mut(stride)
        .zip(whole.chunks_exact(TALL))
        .take(columns)
    {
        for (c, &product) in c[..rows].iter_mut().zip(products) {
            *c = *c + product;
        }
    }
}

#[inline(always)]
fn whole_tile<T: Number, const FMA: bool>(c: &mut [T], stride: usize, a: &[T], b: &[T]) {
    let mut sums = [[T::ZERO; TALL]; WIDE];
    for (left, factors) in a.chunks_exact(TALL).zip(b.chunks_exact(WIDE)) {
        tile::add_product::<T, FMA, TALL, WIDE>(&mut sums, left, factors);
    }
    tile::subtract(c, stride, &sums);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole tiles and parts of them, one part of the depth and two, `B` in columns and in rows.
    #[test]
    fn large_products_are_those_of_tiles_in_place() {
        for (rows, columns, depth) in [(64, 48, 90), (137, 61, 301), (16, 13, 1300)] {
            assert!(rows * columns * depth >= LARGE);
            let numbers = |len: usize, step: usize| -> Vec<f64> {
                (0..len)
                    .map(|at| ((at * step) % 17) as f64 / 8.0 - 1.0)
                    .collect()
            };
            let stride = rows + 3;
            let (left, right) = (
                numbers(stride * depth, 7),
                numbers(columns.max(depth) * depth, 5),
            );
            let a = Operand {
                data: &left,
                down: 1,
                right: stride,
            };
            let in_columns = Operand {
                data: &right,
                down: 1,
                right: depth,
            };
            let in_rows = Operand {
                data: &right,
                down: columns,
                right: 1,
            };
            for (b, lower) in [(in_columns, false), (in_rows, false), (in_rows, true)] {
                let mut got = numbers(stride * columns, 3);
                let mut want = got.clone();
                let size = (rows, columns, depth);
                subtract_product(&mut got, stride, size, a, b, lower);
                tile::subtract_product::<_, false>(&mut want, stride, size, a, b, lower);
                for (at, (got, want)) in got.iter().zip(&want).enumerate() {
                    let (row, column) = (at % stride, at / stride);
                    let counts = row >= rows || !lower || row >= column;
                    let near = (got - want).abs() < 1e-10;
                    assert!(near || !counts, "{got}, not {want}, at {row}, {column}");
                }
            }
        }
    }
}
