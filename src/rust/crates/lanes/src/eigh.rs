//! Eigenvalues of symmetric and Hermitian matrices: Householder's reduction to real tridiagonal form, then the QR
//! algorithm with Wilkinson's shift, as LAPACK's `sytd2`, `org2l` and `steqr`; large matrices, whose rows are in lanes,
//! by divide and conquer (`rows/eigh.rs`). Its rotations are real, so they act on the real and imaginary parts of
//! eigenvectors as on rows of their own.

use super::accumulate::form;
use super::block::gather;
use super::dtype::InParts;
use super::field::{Field, FieldOf};
use super::kernel::{run_by_block, Blocks, Kernel, Most};
use super::lanes::{Float, Lanes};
use super::pair::Pair;
use super::rows;
use super::rows::eigh::Eigh;
use super::rows::Failure;
use super::scale::Scale;
use super::sorted::{order, scatter_columns};
use super::symmetric::{diagonal, iterate};
use super::together::Together;
use super::tridiagonal::tridiagonal;
use matrices::{Element, Triangle};
use std::ops::Range;

/// Rows up to which this beats LAPACK's `syevd`.
pub const MOST: Most = Most {
    real: rows::eigh::MOST as i32,
    complex: rows::eigh::MOST as i32,
};

/// Rows up to which matrices are computed one to a lane, alone too: full blocks win up to 64 rows, a matrix alone from
/// 33 on with its rows in lanes.
pub const BLOCKS: Blocks = Blocks::up_to(48);

/// The same for complex matrices.
pub const COMPLEX_BLOCKS: Blocks = Blocks::up_to(32);

/// What `info` is for a matrix with NaN or an infinity: none of its eigenvalues was found.
pub const NOT_FINITE: i32 = 1;

/// A run of matrices of `n` × `n`.
pub struct Syevd<'a, T: Element> {
    /// Rows and columns, not 0.
    pub n: usize,
    /// Whether the matrices become the eigenvectors; else they are left as they are.
    pub vectors: bool,
    /// What is read.
    pub triangle: Triangle,
    /// The matrices.
    pub a: &'a mut [T],
    /// Their eigenvalues, ascending.
    pub w: &'a mut [T::Real],
    /// 0; or [`NOT_FINITE`], or another number where they were not found.
    pub info: &'a mut [i32],
    /// Who helps with a large matrix.
    pub together: Together<'a>,
}

impl<'a, T: Element> Syevd<'a, T> {
    /// What is done with a large matrix.
    #[inline(always)]
    fn alone(&self) -> Eigh<'a> {
        Eigh {
            n: self.n,
            vectors: self.vectors,
            triangle: self.triangle,
            together: self.together,
        }
    }
}

impl<T: InParts> Kernel<T> for Syevd<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        self.n * (self.n + 3) * T::PARTS + 2 * self.n
    }

    #[inline(always)]
    fn alone_in_rows(&self) -> bool {
        !BLOCKS.hold(self.n, self.n)
    }

    #[inline(always)]
    fn complex_in_rows(&self) -> bool {
        !COMPLEX_BLOCKS.hold(self.n, self.n)
    }

    #[inline(always)]
    fn block_pays(&self, width: usize, matrices: usize) -> bool {
        !self.alone_in_rows() && matrices > width / 4
    }

    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        if !T::COMPLEX && !self.alone_in_rows() {
            return 0;
        }
        if T::COMPLEX {
            return self.alone().scratch_hermitian(size_of::<T::Real>(), width);
        }
        self.alone().scratch(size_of::<T>(), width)
    }

    #[inline(always)]
    fn run_rows<V: Lanes<Float = T>>(&mut self, one: usize, scratch: &mut [V])
    where
        T: Float,
    {
        let n = self.n;
        let problem = self.alone();
        let a = &mut self.a[one * n * n..][..n * n];
        let w = &mut self.w[one * n..][..n];
        self.info[one] = match problem.run(a, w, scratch) {
            Ok(()) => 0,
            Err(Failure::NotFinite) => NOT_FINITE,
            Err(Failure::NotConverged) => n as i32,
        };
        if self.info[one] != 0 {
            w.fill(T::NAN);
            a.fill(T::NAN);
        }
    }

    #[inline(always)]
    fn run_rows_complex<V: Lanes<Float = T::Real>>(&mut self, one: usize, scratch: &mut [V]) {
        let n = self.n;
        let problem = self.alone();
        let a = &mut self.a[one * n * n..][..n * n];
        let w = &mut self.w[one * n..][..n];
        self.info[one] = match problem.run_hermitian(T::parts_mut(a), w, scratch) {
            Ok(()) => 0,
            Err(Failure::NotFinite) => NOT_FINITE,
            Err(Failure::NotConverged) => n as i32,
        };
        if self.info[one] != 0 {
            w.fill(T::Real::NAN);
            a.fill(T::NAN);
        }
    }

    run_by_block!();
}

impl<T: InParts> Syevd<'_, T> {
    /// The matrices of `range`, as real or complex numbers.
    #[inline(always)]
    fn block<F: FieldOf<T::Real>>(&mut self, range: Range<usize>, scratch: &mut [F::Real]) {
        let n = self.n;
        let size = n * n;
        let a = &mut self.a[range.start * size..range.end * size];
        let w = &mut self.w[range.start * n..range.end * n];
        let (parts, scratch) = scratch.split_at_mut(size * T::PARTS);
        let (d, scratch) = scratch.split_at_mut(n);
        let (e, scratch) = scratch.split_at_mut(n);
        let (tau, scratch) = F::numbers(scratch).split_at_mut(n);
        gather(T::parts(a), parts);
        let block = F::numbers(parts);
        let (bad, scale) = prepare(n, self.triangle, block);
        tridiagonal(n, block, (d, e, tau), scratch);
        let failed = if self.vectors {
            form(block, n, 1, tau);
            iterate(d, e, F::parts(block))
        } else if F::PARTS == 1 {
            diagonal(d, e, None)
        } else {
            iterate(d, e, &mut [])
        };
        scale.back(d);
        let results = w.chunks_exact_mut(n).zip(&mut self.info[range]);
        for (lane, ((w, info), a)) in results.zip(a.chunks_exact_mut(size)).enumerate() {
            *info = failed.as_slice()[lane].f64() as i32;
            if bad.as_slice()[lane] != T::Real::ZERO {
                *info = NOT_FINITE;
            }
            if *info != 0 {
                w.fill(T::Real::NAN);
                a.fill(T::NAN);
                continue;
            }
            let mut places = [0; BLOCKS.long];
            let places = order(d, lane, w, &mut places, |a, b| a <= b);
            if self.vectors {
                let rows = n * T::PARTS;
                scatter_columns(parts, (rows, 1), lane, places, T::parts_mut(a), (1, rows));
            }
        }
    }
}

/// The other triangle from the one that is read, the matrices brought near 1. Those that are not
/// finite become 0: they are not 0 in the first result.
#[inline(always)]
fn prepare<F: Field>(n: usize, triangle: Triangle, a: &mut [F]) -> (F::Real, Scale<F::Real>) {
    let any = a[0].re();
    let (zero, one) = (any.like(0.0), any.like(1.0));
    let (mut bad, mut largest) = (zero, zero);
    for j in 0..n {
        for i in j..n {
            let (read, mirrored) = match triangle {
                Triangle::Lower => (j * n + i, i * n + j),
                Triangle::Upper => (i * n + j, j * n + i),
            };
            for part in F::parts(&mut a[read..=read]) {
                bad += *part * zero;
            }
            if i == j {
                // What stands beside it is not looked at.
                a[read] = F::of(a[read].re());
            }
            for part in F::parts(&mut a[read..=read]) {
                largest = largest.max(part.abs());
            }
            a[mirrored] = a[read].conj();
        }
    }
    let good = |yes, no| bad.if_equal(zero, yes, no);
    let scale = Scale::of(good(largest, zero));
    let a = F::parts(a);
    if zero.any_less(good(zero, one)) {
        for a in a.iter_mut() {
            *a = good(*a, zero);
        }
    }
    scale.there(a);
    (good(zero, one), scale)
}
