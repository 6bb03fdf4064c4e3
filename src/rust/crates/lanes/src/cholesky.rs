//! Cholesky factorisation: right-looking, as LAPACK's `potf2`.

use super::block::{finite, gather, scatter, transpose};
use super::dtype::InParts;
use super::field::{Field, FieldOf};
use super::kernel::{run_by_block, Blocks, Kernel, Most};
use super::lanes::{Float, Lanes};
use super::pair::Pair;
use super::rows;
use super::together::Together;
use super::update::{scale, subtract, subtract_panel, PANEL};
use matrices::{Element, Triangle};
use std::ops::Range;

/// Rows up to which this beats LAPACK's `potrf`.
pub const MOST: Most = Most {
    real: 2048,
    complex: 2048,
};

/// Rows up to which blocks of matrices beat one after the other.
pub const BLOCKS: Blocks = Blocks::up_to(64);

/// The same for complex matrices, which are in blocks up to there, alone too.
pub const COMPLEX_BLOCKS: Blocks = Blocks::up_to(32);

/// What `info` is for a matrix with NaN or an infinity: no minor is positive definite.
pub const NOT_FINITE: i32 = 1;

/// A run of matrices of `n` × `n` and their `info`s.
pub struct Potrf<'a, T> {
    /// Rows and columns.
    pub n: usize,
    /// What is read and written.
    pub triangle: Triangle,
    /// The matrices, whose triangle becomes the factor. From the row and column on where the matrix
    /// is found not to be positive definite it becomes NaN.
    pub a: &'a mut [T],
    /// One each.
    pub info: &'a mut [i32],
    /// Who helps with a large matrix.
    pub together: Together<'a>,
}

impl<T: InParts> Kernel<T> for Potrf<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        self.n * self.n * T::PARTS
    }

    #[inline(always)]
    fn alone_in_rows(&self) -> bool {
        true
    }

    #[inline(always)]
    fn block_pays(&self, width: usize, matrices: usize) -> bool {
        BLOCKS.hold(self.n, self.n) && 2 * matrices > width
    }

    #[inline(always)]
    fn complex_in_rows(&self) -> bool {
        !COMPLEX_BLOCKS.hold(self.n, self.n)
    }

    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        let stride = rows::stride(self.n * T::PARTS, width);
        let columns = self.n + T::PARTS - 1;
        columns * stride + rows::packed(stride, self.n * T::PARTS, width)
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

impl<T: InParts> Potrf<'_, T> {
    /// Matrix `one`, whose numbers have that many parts, with its rows in lanes.
    #[inline(always)]
    fn alone<V: Lanes<Float = T::Real>, const PARTS: usize>(
        &mut self,
        one: usize,
        scratch: &mut [V],
    ) {
        let n = self.n;
        let rows = n * PARTS;
        let stride = rows::stride(rows, V::WIDTH);
        let x = &mut T::parts_mut(self.a)[one * n * rows..][..n * rows];
        let (a, work) = scratch.split_at_mut(n * stride);
        let upper = self.triangle == Triangle::Upper;
        let zero = a[0].like(0.0);
        let sum = if upper {
            a.fill(zero);
            for_each_tile(n, |j, below| {
                let column = &mut V::flat_mut(a)[j * stride * V::WIDTH..];
                for i in below {
                    conjugate::<_, PARTS>(&x[i * rows + j * PARTS..], &mut column[i * PARTS..]);
                }
            });
            finite(a)
        } else {
            let mut sum = zero;
            for (j, column) in a.chunks_exact_mut(stride).enumerate() {
                rows::load(column, &x[j * rows..], j * PARTS..rows);
                sum += finite(column);
            }
            sum
        };
        let mut matrix = rows::Columns {
            m: rows,
            stride,
            a,
            work,
            together: self.together,
        };
        if !rows::all_zero(sum) {
            x.fill(T::Real::NAN);
            self.info[one] = NOT_FINITE;
            return;
        }
        self.info[one] = rows::cholesky::factor::<V, PARTS>(&mut matrix);
        if upper {
            for_each_tile(n, |j, below| {
                let column = &V::flat(matrix.a)[j * stride * V::WIDTH..];
                for i in below {
                    conjugate::<_, PARTS>(&column[i * PARTS..], &mut x[i * rows + j * PARTS..]);
                }
            });
            return;
        }
        for (j, column) in matrix.a.chunks_exact(stride).enumerate() {
            x[j * rows..][j * PARTS..rows].copy_from_slice(&V::flat(column)[j * PARTS..rows]);
        }
    }

    /// The matrices of `range`, as real or complex numbers.
    #[inline(always)]
    fn block<F: FieldOf<T::Real>>(&mut self, range: Range<usize>, block: &mut [F::Real]) {
        let n = self.n;
        let size = n * n;
        let a = &mut self.a[range.start * size..range.end * size];
        gather(T::parts(a), block);
        let upper = self.triangle == Triangle::Upper;
        if upper {
            adjoint(F::numbers(block), n);
        }
        let mut sum = block[0].like(0.0);
        for (j, column) in block.chunks_exact(n * T::PARTS).enumerate() {
            sum += finite(&column[j * T::PARTS..]);
        }
        let failed = factor(n, F::numbers(block));
        if upper {
            adjoint(F::numbers(block), n);
        }
        // With the other triangle as it was.
        scatter(block, T::parts_mut(a));
        let matrices = a.chunks_exact_mut(size);
        for (lane, (a, info)) in matrices.zip(&mut self.info[range]).enumerate() {
            if sum.as_slice()[lane] == T::Real::ZERO {
                *info = failed.as_slice()[lane].f64() as i32;
            } else {
                a.fill(T::NAN);
                *info = NOT_FINITE;
            }
        }
    }
}

/// A number, of so many parts, becomes the conjugate of another; 0 never becomes -0.
#[inline(always)]
fn conjugate<T: Float, const PARTS: usize>(from: &[T], to: &mut [T]) {
    to[0] = from[0];
    if PARTS == 2 {
        to[1] = T::of(0.0 - from[1].f64());
    }
}

/// Rows and columns of a matrix that are transposed at a time: what the first level of cache holds of columns that
/// follow one another at a power of 2.
const TILE: usize = 8;

/// Calls `f` with rows of each column of the lower triangle, tile by tile.
#[inline(always)]
fn for_each_tile(n: usize, mut f: impl FnMut(usize, Range<usize>)) {
    for left in (0..n).step_by(TILE) {
        for top in (left..n).step_by(TILE) {
            for j in left..n.min(left + TILE) {
                f(j, top.max(j)..n.min(top + TILE));
            }
        }
    }
}

/// Transposes and conjugates each matrix in place, the diagonal left as it is.
#[inline(always)]
fn adjoint<F: Field>(a: &mut [F], n: usize) {
    transpose(a, n);
    for (j, column) in a.chunks_exact_mut(n).enumerate() {
        for (i, value) in column.iter_mut().enumerate() {
            if i != j {
                *value = value.conj();
            }
        }
    }
}

/// Factors the lower triangle in place. Returns the order of the first minor that is not positive
/// definite, or 0.
#[inline(always)]
fn factor<F: Field>(n: usize, a: &mut [F]) -> F::Real {
    let any = a[0].re();
    let (zero, one, nan) = (any.like(0.0), any.like(1.0), any.like(f64::NAN));
    let (mut failed, mut order) = (zero, zero);
    for start in (0..n).step_by(PANEL) {
        let end = n.min(start + PANEL);
        for j in start..end {
            let (done, rest) = a.split_at_mut((j + 1) * n);
            let column = &mut done[j * n..];
            order += one;
            let value = column[j].re();
            let positive = |yes, no| zero.if_less(value, yes, no);
            failed = failed.if_equal(zero, positive(zero, order), failed);
            let diagonal = positive(value, nan).sqrt();
            let inverse = one / diagonal;
            column[j] = F::of(diagonal);
            scale(&mut column[j + 1..], inverse);
            // The other columns wait until the panel is done.
            for (other, c) in rest.chunks_exact_mut(n).zip(j + 1..end) {
                subtract(&mut other[c..], [&column[c..]], [column[c].conj()]);
            }
        }
        let (done, rest) = a.split_at_mut(end * n);
        let panel = &done[start * n..];
        for (other, c) in rest.chunks_exact_mut(n).zip(end..) {
            let mut factors = [F::of(zero); PANEL];
            for (factor, column) in factors.iter_mut().zip(panel.chunks_exact(n)) {
                *factor = column[c].conj();
            }
            subtract_panel(other, panel, n, c..n, &factors[..end - start]);
        }
    }
    failed
}
