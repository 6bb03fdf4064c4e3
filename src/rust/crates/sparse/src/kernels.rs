//! What is done with the dense matrices of a supernode, in tiles, on the processor's vector unit.

use lanes::{vectorised, Task};

use crate::blocked::subtract_product_in_place;
use crate::number::Number;
use crate::tile::Operand;

/// Columns of a panel that are factored at a time; those before them are subtracted as a product: of the same part one
/// block at a time, of earlier parts all at once.
pub(crate) const BLOCK: usize = 8;
pub(crate) const PART: usize = 64;

/// Factors the columns of a panel of `height` rows; its own rows come first. Fails with the column whose pivot is none.
pub(crate) fn factor_panel<T: Number>(panel: &mut [T], height: usize) -> Result<(), usize> {
    vectorised(FactorPanel { panel, height })
}

/// Subtracts `B Bᵀ` from the lower triangle of a square matrix, `B` being the panel's rows below its own.
pub(crate) fn subtract_square<T: Number>(square: &mut [T], panel: &[T], height: usize) {
    vectorised(SubtractSquare {
        square,
        panel,
        height,
    });
}

pub(crate) struct FactorPanel<'a, T> {
    pub(crate) panel: &'a mut [T],
    pub(crate) height: usize,
}

impl<T: Number> Task for FactorPanel<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Result<(), usize> {
        let (panel, height) = (self.panel, self.height);
        let width = panel.len() / height;
        for begin in (0..width).step_by(PART) {
            let (done, rest) = panel.split_at_mut(begin * height);
            let part = &mut rest[..(width - begin).min(PART) * height];
            subtract_outer::<T, FMA>(part, done, height, begin);
            for first in (0..part.len() / height).step_by(BLOCK) {
                let (done, rest) = part.split_at_mut(first * height);
                let count = (rest.len() / height).min(BLOCK);
                let block = &mut rest[..count * height];
                let first = begin + first;
                subtract_outer::<T, FMA>(block, done, height, first);
                // Above the diagonal tiles leave what is of no interest.
                for (j, column) in block.chunks_exact_mut(height).enumerate() {
                    column[begin..first + j].fill(T::ZERO);
                }
                factor_columns::<T, FMA>(block, height, first)?;
            }
        }
        Ok(())
    }
}

/// Subtracts what columns that are done have in the columns that begin at row `first`.
#[inline(always)]
fn subtract_outer<T: Number, const FMA: bool>(
    columns: &mut [T],
    done: &[T],
    height: usize,
    first: usize,
) {
    if done.is_empty() {
        return;
    }
    let rows = &done[first..];
    let a = in_columns(rows, height);
    let b = Operand {
        data: rows,
        down: height,
        right: 1,
    };
    let size = (height - first, columns.len() / height, done.len() / height);
    subtract_product_in_place::<T, FMA>(&mut columns[first..], height, size, a, b, true);
}

/// Factors the columns of a block, of which the first one's diagonal is in row `first`.
#[inline(always)]
fn factor_columns<T: Number, const FMA: bool>(
    block: &mut [T],
    height: usize,
    first: usize,
) -> Result<(), usize> {
    let mut rest = block;
    let mut k = first;
    while !rest.is_empty() {
        let (column, others) = rest.split_at_mut(height);
        let column = &mut column[k..];
        if !column[0].is_pivot() {
            return Err(k);
        }
        column[0] = column[0].sqrt();
        let factor = column[0].recip();
        for x in &mut column[1..] {
            *x = *x * factor;
        }
        for (j, next) in others.chunks_exact_mut(height).enumerate() {
            let factor = -column[j + 1];
            for (y, &x) in next[k + 1 + j..].iter_mut().zip(&column[j + 1..]) {
                *y = x.mul_add::<FMA>(factor, *y);
            }
        }
        rest = others;
        k += 1;
    }
    Ok(())
}

struct SubtractSquare<'a, T> {
    square: &'a mut [T],
    panel: &'a [T],
    height: usize,
}

impl<T: Number> Task for SubtractSquare<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let width = self.panel.len() / self.height;
        let below = self.height - width;
        let rows = &self.panel[width..];
        let a = Operand {
            data: rows,
            down: 1,
            right: self.height,
        };
        let b = Operand {
            data: rows,
            down: self.height,
            right: 1,
        };
        let size = (below, below, width);
        subtract_product_in_place::<T, FMA>(self.square, below, size, a, b, true);
    }
}

/// A matrix whose columns are `stride` elements apart
pub(crate) fn in_columns<T>(data: &[T], stride: usize) -> Operand<'_, T> {
    Operand {
        data,
        down: 1,
        right: stride,
    }
}
