//! Products of dense matrices in columns, in tiles that fit into registers.

use crate::number::Number;

/// A matrix in memory: where its first element is, and how far it is to the next one below and to the right. One of
/// the two is 1.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a, T> {
    pub data: &'a [T],
    pub down: usize,
    pub right: usize,
}

/// Columns of a tile: 8 or 4 rows of them of numbers, 2 of jets.
const WIDE: usize = 4;

/// Longer jets are computed one by one: a tile of those along four directions is slower, and much code.
const LONGEST: usize = 8;

/// `C -= A B`: `C` has `rows` and `columns`, `A` and `C` are in columns of `a.right` and `stride` elements, `B` in any
/// way. With `lower`, what is above the diagonal of `C` may be left or change.
#[inline(always)]
pub(crate) fn subtract_product<T: Number, const FMA: bool>(
    c: &mut [T],
    stride: usize,
    (rows, columns, depth): (usize, usize, usize),
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    lower: bool,
) {
    let mut column = 0;
    while column < columns {
        let start = if lower { column } else { 0 };
        let c = &mut c[column * stride + start..];
        let a = Operand {
            data: &a.data[start..],
            ..a
        };
        let b = Operand {
            data: &b.data[column * b.right..],
            ..b
        };
        if T::LEN <= LONGEST && columns - column >= WIDE {
            strip::<T, FMA, WIDE>(c, stride, rows - start, depth, a, b);
            column += WIDE;
        } else {
            strip::<T, FMA, 1>(c, stride, rows - start, depth, a, b);
            column += 1;
        }
    }
}

/// As many columns of `C`.
#[inline(always)]
fn strip<T: Number, const FMA: bool, const N: usize>(
    c: &mut [T],
    stride: usize,
    rows: usize,
    depth: usize,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
) {
    let mut row = 0;
    while T::LEN == 1 && rows - row >= 8 {
        tile::<T, FMA, 8, N>(&mut c[row..], stride, depth, &a.data[row..], a.right, b);
        row += 8;
    }
    if T::LEN == 1 && rows - row >= 4 {
        tile::<T, FMA, 4, N>(&mut c[row..], stride, depth, &a.data[row..], a.right, b);
        row += 4;
    }
    while T::LEN > 1 && T::LEN <= LONGEST && rows - row >= 2 {
        tile::<T, FMA, 2, N>(&mut c[row..], stride, depth, &a.data[row..], a.right, b);
        row += 2;
    }
    while row < rows {
        tile::<T, FMA, 1, N>(&mut c[row..], stride, depth, &a.data[row..], a.right, b);
        row += 1;
    }
}

#[inline(always)]
fn tile<T: Number, const FMA: bool, const M: usize, const N: usize>(
    c: &mut [T],
    stride: usize,
    depth: usize,
    a: &[T],
    right: usize,
    b: Operand<'_, T>,
) {
    let mut sums = [[T::ZERO; M]; N];
    if b.down == 1 {
        let columns: [&[T]; N] = std::array::from_fn(|n| &b.data[n * b.right..][..depth]);
        for (k, left) in a.chunks(right).take(depth).enumerate() {
            let left = &left[..M];
            for n in 0..N {
                let factor = columns[n][k];
                for m in 0..M {
                    sums[n][m] = left[m].mul_add::<FMA>(factor, sums[n][m]);
                }
            }
        }
    } else {
        let rows = b.data.chunks(b.down).take(depth);
        for (left, factors) in a.chunks(right).zip(rows) {
            add_product::<T, FMA, M, N>(&mut sums, left, factors);
        }
    }
    subtract(c, stride, &sums);
}

/// Adds the product of a column of `M` and a row of `N` elements.
#[inline(always)]
pub(crate) fn add_product<T: Number, const FMA: bool, const M: usize, const N: usize>(
    sums: &mut [[T; M]; N],
    left: &[T],
    factors: &[T],
) {
    let (left, factors) = (&left[..M], &factors[..N]);
    for n in 0..N {
        for m in 0..M {
            sums[n][m] = left[m].mul_add::<FMA>(factors[n], sums[n][m]);
        }
    }
}

/// Subtracts the sums from a tile of `c`, whose columns are `stride` apart.
#[inline(always)]
pub(crate) fn subtract<T: Number, const M: usize, const N: usize>(
    c: &mut [T],
    stride: usize,
    sums: &[[T; M]; N],
) {
    for (n, sums) in sums.iter().enumerate() {
        for (c, &sum) in c[n * stride..][..M].iter_mut().zip(sums) {
            *c = *c - sum;
        }
    }
}
