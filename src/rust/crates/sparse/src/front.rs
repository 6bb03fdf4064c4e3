//! The inverse at the entries of a supernode, on the processor's vector unit.

use lanes::{vectorised, Task};

use crate::blocked::{subtract_product, subtract_product_in_place};
use crate::kernels::{in_columns, BLOCK, PART};
use crate::number::Number;
use crate::tile::Operand;

/// Completes the inverse in a square front, of which the part at the rows below the panel's own is there. The panel is
/// lost; `work` has as many elements as two panels.
pub(crate) fn invert_front<T: Number>(
    front: &mut [T],
    panel: &mut [T],
    work: &mut [T],
    height: usize,
) {
    vectorised(InvertFront {
        front,
        panel,
        work,
        height,
    });
}

struct InvertFront<'a, T> {
    front: &'a mut [T],
    panel: &'a mut [T],
    work: &'a mut [T],
    height: usize,
}

impl<T: Number> Task for InvertFront<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (panel, height) = (self.panel, self.height);
        let width = panel.len() / height;
        let below = height - width;
        for begin in (0..width).step_by(PART).rev() {
            let end = width.min(begin + PART);
            times_done(panel, height, begin, end, self.work);
            for first in (begin..end).step_by(BLOCK).rev() {
                times_inverse::<T, FMA>(panel, height, first, end.min(first + BLOCK), end);
            }
        }
        // The panel, `L⁻¹` over `Y = B L⁻¹`, transposed.
        let (across, product) = self.work.split_at_mut(width * height);
        for (j, column) in panel.chunks_exact(height).enumerate() {
            for (to, &x) in across[j..].iter_mut().step_by(width).zip(column) {
                *to = x;
            }
        }
        let product = &mut product[..width * below];
        product.fill(T::ZERO);
        let (own, rest) = self.front.split_at_mut(width * height);
        let across_of = |at: usize| Operand {
            data: &across[at * width..],
            down: 1,
            right: width,
        };
        square_of_inverse(own, panel, across, (width, height));
        if below > 0 {
            let y = in_columns(&panel[width..], height);
            let z = in_columns(&rest[width..], height);
            subtract_product(product, below, (below, width, below), z, y, false);
            let size = (width, width, below);
            let (left, right) = (across_of(width), in_columns(product, below));
            subtract_product(own, height, size, left, right, true);
        }
        for (to, from) in own
            .chunks_exact_mut(height)
            .zip(product.chunks_exact(below.max(1)))
        {
            to[width..].copy_from_slice(from);
        }
        // What is above the diagonal is its mirror image.
        for j in 0..width {
            for i in 0..j {
                own[j * height + i] = own[i * height + j];
            }
        }
        for (i, to) in rest.chunks_exact_mut(height).enumerate() {
            for (to, &x) in to[..width]
                .iter_mut()
                .zip(product[i..].iter().step_by(below))
            {
                *to = x;
            }
        }
    }
}

/// `L⁻ᵀ L⁻¹` on and below the diagonal of the first rows of `own`, from the first rows of `panel`, which are `L⁻¹`, and
/// `across`, the panel's transpose.
fn square_of_inverse<T: Number>(
    own: &mut [T],
    panel: &[T],
    across: &[T],
    (width, height): (usize, usize),
) {
    // With the sign that products are subtracted with.
    for column in own.chunks_exact_mut(height) {
        column[..width].fill(T::ZERO);
    }
    // Row `i` of `L⁻ᵀ` begins at its diagonal: the rows of a part need no columns before those.
    for top in (0..width).step_by(PART) {
        let tall = PART.min(width - top);
        let left = Operand {
            data: &across[top * width + top..],
            down: 1,
            right: width,
        };
        let (before, from) = own.split_at_mut(top * height);
        let deep = width - top;
        if top > 0 {
            let right = in_columns(&panel[top..], height);
            let size = (tall, top, deep);
            subtract_product(&mut before[top..], height, size, left, right, false);
        }
        let right = in_columns(&panel[top * height + top..], height);
        let size = (tall, tall, deep);
        subtract_product(&mut from[top..], height, size, left, right, true);
    }
    for column in own.chunks_exact_mut(height) {
        for x in &mut column[..width] {
            *x = -*x;
        }
    }
}

/// Subtracts the columns from `end` on, which are done, times `L` there from the columns `begin..end`.
fn times_done<T: Number>(panel: &mut [T], height: usize, begin: usize, end: usize, work: &mut [T]) {
    let (before, done) = panel.split_at_mut(end * height);
    let part = &mut before[begin * height..];
    let behind = done.len() / height;
    if behind == 0 {
        return;
    }
    // `L` is where the product goes.
    let l = &mut work[..behind * (end - begin)];
    for (to, column) in l
        .chunks_exact_mut(behind)
        .zip(part.chunks_exact_mut(height))
    {
        let from = &mut column[end..end + behind];
        to.copy_from_slice(from);
        from.fill(T::ZERO);
    }
    // Columns of the inverse have nothing above their diagonal.
    for at in (0..behind).step_by(PART) {
        let size = (height - end - at, end - begin, PART.min(behind - at));
        let a = in_columns(&done[at * height + end + at..], height);
        let b = in_columns(&l[at..], behind);
        subtract_product(&mut part[end + at..], height, size, a, b, false);
    }
}

/// The columns `first..end` of `B L⁻¹`, and of `L⁻¹` in the rows of `L`, where the columns `end..last` are done and
/// those behind them have been subtracted.
#[inline(always)]
fn times_inverse<T: Number, const FMA: bool>(
    panel: &mut [T],
    height: usize,
    first: usize,
    end: usize,
    last: usize,
) {
    let (before, done) = panel.split_at_mut(end * height);
    let block = &mut before[first * height..];
    let mut below = [[T::ZERO; BLOCK]; BLOCK];
    for (j, column) in block.chunks_exact(height).enumerate() {
        below[j][..end - first].copy_from_slice(&column[first..end]);
    }
    if end < last {
        // `L` below the block is where the product goes: a row of it at a time would be lost otherwise.
        for chunk in (end..last).step_by(BLOCK).rev() {
            let last = last.min(chunk + BLOCK);
            let mut l = [T::ZERO; BLOCK * BLOCK];
            for (j, column) in block.chunks_exact_mut(height).enumerate() {
                l[j * BLOCK..][..last - chunk].copy_from_slice(&column[chunk..last]);
                column[chunk..last].fill(T::ZERO);
            }
            // Columns of the inverse have nothing above their diagonal.
            let size = (height - chunk, end - first, last - chunk);
            let a = in_columns(&done[(chunk - end) * height + chunk..], height);
            let b = in_columns(&l, BLOCK);
            subtract_product_in_place::<T, FMA>(&mut block[chunk..], height, size, a, b, false);
        }
    }
    for j in (0..end - first).rev() {
        let (columns, others) = block.split_at_mut((j + 1) * height);
        let column = &mut columns[j * height..];
        let factor = below[j][j].recip();
        column[first..first + j].fill(T::ZERO);
        column[first + j] = factor;
        column[first + j + 1..end].fill(T::ZERO);
        for x in &mut column[end..] {
            *x = *x * factor;
        }
        for (k, other) in others.chunks_exact(height).enumerate() {
            let l = -(below[j][j + 1 + k] * factor);
            for (y, &x) in column[first + j + 1..]
                .iter_mut()
                .zip(&other[first + j + 1..])
            {
                *y = x.mul_add::<FMA>(l, *y);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{factor_panel, FactorPanel};

    /// A processor without a fused multiply-add has results that differ by rounding alone.
    #[test]
    fn a_processor_without_fused_multiply_add_gives_the_same_but_for_rounding() {
        let (height, width) = (29, 21);
        let mut panel = vec![0.0_f64; height * width];
        for (j, column) in panel.chunks_exact_mut(height).enumerate() {
            for (i, x) in column.iter_mut().enumerate().skip(j) {
                *x = if i == j {
                    40.0
                } else {
                    ((i * 7 + j * 3) % 11) as f64 / 5.0 - 1.0
                };
            }
        }
        let mut plain = panel.clone();
        assert_eq!(factor_panel(&mut panel, height), Ok(()));
        let task = FactorPanel {
            panel: &mut plain,
            height,
        };
        assert_eq!(task.run::<false>(), Ok(()));
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13);
        assert!(near(&panel, &plain));
        let front: Vec<f64> = (0..height * height)
            .map(|at| (at / height + at % height) as f64 / 50.0)
            .collect();
        let (mut fused, mut other) = (front.clone(), front);
        let mut work = vec![0.0; 2 * panel.len()];
        invert_front(&mut fused, &mut panel.clone(), &mut work, height);
        let task = InvertFront {
            front: &mut other,
            panel: &mut panel,
            work: &mut work,
            height,
        };
        task.run::<false>();
        assert!(near(&fused, &other));
    }
}
