//! LU factorisation with partial pivoting: right-looking, as LAPACK's `getf2`.

use super::block::{finite, scatter};
use super::dtype::InParts;
use super::field::{Field, FieldOf};
use super::kernel::{run_by_block, Blocks, Kernel, Most, Run};
use super::lanes::{Float, Lanes};
use super::pair::Pair;
use super::rows;
use super::update::{largest, subtract, subtract_panel, PANEL};
use matrices::Element;
use std::ops::Range;

/// Rows and columns up to which this beats LAPACK's `getrf`.
pub const MOST: Most = Most {
    real: 2048,
    complex: 2048,
};

/// Rows and columns up to which blocks of matrices beat one after the other.
pub const BLOCKS: Blocks = Blocks::up_to(64);

/// The same for complex matrices, which are in blocks up to there, alone too.
pub const COMPLEX_BLOCKS: Blocks = Blocks::up_to(32);

/// A run of matrices, their pivots and `info`s.
pub struct Lu<'a, T> {
    /// They become `L` and `U`.
    pub run: Run<'a, T>,
    /// `min(m, n)` each.
    pub pivots: &'a mut [i32],
    /// One each.
    pub info: &'a mut [i32],
}

impl<T: InParts> Kernel<T> for Lu<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        let Run { m, n, .. } = self.run;
        m * n * T::PARTS + m.min(n)
    }

    #[inline(always)]
    fn alone_in_rows(&self) -> bool {
        true
    }

    #[inline(always)]
    fn block_pays(&self, width: usize, matrices: usize) -> bool {
        BLOCKS.hold(self.run.m, self.run.n) && 2 * matrices > width
    }

    #[inline(always)]
    fn complex_in_rows(&self) -> bool {
        !COMPLEX_BLOCKS.hold(self.run.m, self.run.n)
    }

    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        let Run { m, n, .. } = self.run;
        let stride = rows::stride(m * T::PARTS, width);
        (n + T::PARTS - 1) * stride + rows::packed(stride, n * T::PARTS, width)
    }

    #[inline(always)]
    fn run_rows<V: Lanes<Float = T>>(&mut self, one: usize, scratch: &mut [V])
    where
        T: Float,
    {
        self.alone::<V, 1>(one, scratch);
    }

    #[inline(always)]
    fn run_rows_complex<V: Lanes<Float = T::Real>>(&mut self, one: usize, scratch: &mut [V]) {
        self.alone::<V, 2>(one, scratch);
    }

    run_by_block!();
}

impl<T: InParts> Lu<'_, T> {
    /// Matrix `one`, whose numbers have that many parts, with its rows in lanes.
    #[inline(always)]
    fn alone<V: Lanes<Float = T::Real>, const PARTS: usize>(
        &mut self,
        one: usize,
        scratch: &mut [V],
    ) {
        let Run { m, n, .. } = self.run;
        let pivots = &mut self.pivots[one * m.min(n)..][..m.min(n)];
        let (x, mut matrix, finite) = self.run.load(one, n, scratch);
        if !finite {
            not_finite(x, pivots, &mut self.info[one]);
            return;
        }
        self.info[one] = rows::lu::factor::<V, PARTS>(&mut matrix, pivots);
        matrix.store(x);
        for pivot in pivots {
            *pivot += 1;
        }
    }

    /// The matrices of `range`, as real or complex numbers.
    #[inline(always)]
    fn block<F: FieldOf<T::Real>>(&mut self, range: Range<usize>, scratch: &mut [F::Real]) {
        let Run { m, n, .. } = self.run;
        let (size, rank) = (m * n, m.min(n));
        let (block, rows) = scratch.split_at_mut(size * T::PARTS);
        let a = self.run.gather(range.clone(), block);
        let finite = finite(block);
        let singular = factor(m, F::numbers(block), rows);
        scatter(block, T::parts_mut(a));
        let pivots = self.pivots[range.start * rank..range.end * rank].chunks_exact_mut(rank);
        let matrices = a.chunks_exact_mut(size).zip(pivots);
        for (lane, ((a, pivots), info)) in matrices.zip(&mut self.info[range]).enumerate() {
            if finite.as_slice()[lane] == T::Real::ZERO {
                for (pivot, row) in pivots.iter_mut().zip(&*rows) {
                    *pivot = row.as_slice()[lane].f64() as i32 + 1;
                }
                *info = singular.as_slice()[lane].f64() as i32;
            } else {
                not_finite(a, pivots, info);
            }
        }
    }
}

/// What a matrix with NaN or an infinity gives.
#[cold]
pub fn not_finite<T: Element>(a: &mut [T], pivots: &mut [i32], info: &mut i32) {
    a.fill(T::NAN);
    pivots.iter_mut().zip(1..).for_each(|(p, i)| *p = i);
    *info = 0;
}

/// Factors in place; `rows` become the rows of the pivots, counted from 0. Returns the first column,
/// counted from 1, where the pivot is 0, or 0.
#[inline(always)]
fn factor<F: Field>(m: usize, a: &mut [F], rows: &mut [F::Real]) -> F::Real {
    let zero = a[0].re().like(0.0);
    let (mut singular, mut place) = (zero, zero);
    let rank = rows.len();
    for start in (0..rank).step_by(PANEL) {
        let end = rank.min(start + PANEL);
        let (done, rest) = a.split_at_mut(end * m);
        let panel = &mut done[start * m..];
        for j in start..end {
            let column = &panel[(j - start) * m..][..m];
            rows[j] = largest_row(&column[j..], place);
            for column in panel.chunks_exact_mut(m) {
                exchange(column, j, rows[j]);
            }
            place += zero.like(1.0);
            let (done, others) = panel.split_at_mut((j + 1 - start) * m);
            let (head, below) = done[(j - start) * m..].split_at_mut(j + 1);
            let pivot = head[j];
            singular = singular.if_equal(zero, pivot.size().if_equal(zero, place, zero), singular);
            divide(below, pivot);
            for other in others.chunks_exact_mut(m) {
                let top = other[j];
                subtract(&mut other[j + 1..], [&*below], [top]);
            }
        }
        // The columns behind follow the panel, each at one go.
        for other in rest.chunks_exact_mut(m) {
            let mut factors = [F::of(zero); PANEL];
            for (j, &row) in (start..end).zip(&rows[start..end]) {
                exchange(other, j, row);
            }
            for (c, column) in panel.chunks_exact(m).enumerate() {
                let j = start + c;
                factors[c] = other[j];
                subtract(&mut other[j + 1..end], [&column[j + 1..end]], [factors[c]]);
            }
            subtract_panel(other, panel, m, end..m, &factors[..end - start]);
        }
    }
    // And those before it, in the end.
    for (c, column) in a.chunks_exact_mut(m).take(rank).enumerate() {
        for (j, &row) in rows.iter().enumerate().skip((c / PANEL + 1) * PANEL) {
            exchange(column, j, row);
        }
    }
    singular
}

/// Divides by the pivot, unless that is 0, as then all are.
#[inline(always)]
fn divide<F: Field>(column: &mut [F], pivot: F) {
    let size = pivot.size();
    let (zero, one) = (size.like(0.0), F::of(size.like(1.0)));
    let smallest = size.like(<F::Real as Lanes>::Float::SMALLEST.f64());
    let pivot = F::if_equal(size, zero, one, pivot);
    let size = pivot.size();
    let inverse = pivot.reciprocal();
    if size.any_less(smallest) {
        // The reciprocal may be infinite.
        for l in column {
            *l = F::if_less(size, smallest, l.over(pivot), l.by(inverse));
        }
    } else {
        for l in column {
            *l = l.by(inverse);
        }
    }
}

/// The row, from `first` on, of the first element that is largest in magnitude.
#[inline(always)]
fn largest_row<F: Field>(column: &[F], first: F::Real) -> F::Real {
    if F::Real::WIDTH == 1 {
        let size = largest(first.like(0.0), column);
        for (value, row) in column.iter().zip(0_u32..) {
            let value = value.size();
            if !value.any_less(size) {
                return first + first.like(row.into());
            }
        }
    }
    let one = first.like(1.0);
    let (mut size, mut at, mut row) = (first.like(-1.0), first, first);
    for value in column {
        let value = value.size();
        at = size.if_less(value, row, at);
        size = size.if_less(value, value, size);
        row += one;
    }
    at
}

/// Exchanges row `j` of a column with the row in `at`, which is not above it.
#[inline(always)]
fn exchange<F: Field>(column: &mut [F], j: usize, at: F::Real) {
    if F::Real::WIDTH == 1 || column.len() - j > 2 * F::Real::WIDTH {
        for (lane, row) in at.as_slice().iter().enumerate() {
            F::exchange(column, lane, j, row.f64() as usize);
        }
        return;
    }
    let one = at.like(1.0);
    let (head, below) = column.split_at_mut(j + 1);
    let (old, mut new) = (head[j], head[j]);
    let mut row = at.like(j as f64);
    for value in below {
        row += one;
        new = F::if_equal(at, row, *value, new);
        *value = F::if_equal(at, row, old, *value);
    }
    head[j] = new;
}
