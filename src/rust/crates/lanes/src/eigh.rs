//! Eigenvalues of symmetric matrices: Householder's reduction to tridiagonal form, then the QR
//! algorithm with Wilkinson's shift, as LAPACK's `sytd2`, `org2l` and `steqr`; large matrices, whose rows are in lanes,
//! by divide and conquer (`rows/eigh.rs`).

use super::accumulate::form;
use super::block::{finite, gather};
use super::kernel::{Kernel, Most};
use super::lanes::{Float, Lanes};
use super::rows;
use super::rows::eigh::Eigh;
use super::rows::Failure;
use super::scale::Scale;
use super::sorted::{order, scatter_columns};
use super::symmetric::diagonal;
use super::together::Together;
use super::tridiagonal::tridiagonal;
use matrices::{Element, Triangle};
use std::ops::Range;

/// Rows up to which this beats LAPACK's `syevd`.
pub const MOST: Most = Most::real(rows::eigh::MOST as i32);

/// Rows up to which matrices are computed one to a lane, alone too.
pub const BLOCKS: i32 = 96;

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

impl<T: Element> Kernel<T> for Syevd<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        self.n * (self.n + 5)
    }

    #[inline(always)]
    fn alone_in_rows(&self) -> bool {
        self.n > BLOCKS as usize
    }

    #[inline(always)]
    fn block_pays(&self, width: usize, matrices: usize) -> bool {
        !self.alone_in_rows() && matrices > width / 4
    }

    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        if !self.alone_in_rows() {
            return 0;
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
    fn run<V: Lanes<Float = T>>(&mut self, range: Range<usize>, scratch: &mut [V])
    where
        T: Float,
    {
        let n = self.n;
        let size = n * n;
        let a = &mut self.a[range.start * size..range.end * size];
        let w = &mut self.w[range.start * n..range.end * n];
        let (block, scratch) = scratch.split_at_mut(size);
        let (d, scratch) = scratch.split_at_mut(n);
        let (e, scratch) = scratch.split_at_mut(n);
        let (tau, scratch) = scratch.split_at_mut(n);
        gather(a, block);
        let (bad, scale) = prepare(n, self.triangle, block);
        tridiagonal(n, block, (d, e, tau), scratch);
        let failed = if self.vectors {
            form(block, n, 1, tau);
            diagonal(d, e, Some(block))
        } else {
            diagonal(d, e, None)
        };
        scale.back(d);
        let results = w.chunks_exact_mut(n).zip(&mut self.info[range]);
        for (lane, ((w, info), a)) in results.zip(a.chunks_exact_mut(size)).enumerate() {
            *info = failed.as_slice()[lane].f64() as i32;
            if bad.as_slice()[lane] != T::ZERO {
                *info = NOT_FINITE;
            }
            if *info != 0 {
                w.fill(T::NAN);
                a.fill(T::NAN);
                continue;
            }
            let mut places = [0; BLOCKS as usize];
            let places = order(d, lane, w, &mut places, |a, b| a <= b);
            if self.vectors {
                scatter_columns(block, n, lane, places, a, (1, n));
            }
        }
    }
}

/// The other triangle from the one that is read, the matrices brought near 1. Those that are not
/// finite become 0: they are not 0 in the first result.
#[inline(always)]
fn prepare<V: Lanes>(n: usize, triangle: Triangle, a: &mut [V]) -> (V, Scale<V>) {
    let (zero, one) = (a[0].like(0.0), a[0].like(1.0));
    let (mut bad, mut largest) = (zero, zero);
    for j in 0..n {
        for i in j..n {
            let (read, mirrored) = match triangle {
                Triangle::Lower => (j * n + i, i * n + j),
                Triangle::Upper => (i * n + j, j * n + i),
            };
            bad += finite(&[a[read]]);
            largest = largest.max(a[read].abs());
            a[mirrored] = a[read];
        }
    }
    let good = |yes, no| bad.if_equal(zero, yes, no);
    let scale = Scale::of(good(largest, zero));
    if zero.any_less(good(zero, one)) {
        for a in a.iter_mut() {
            *a = good(*a, zero);
        }
    }
    scale.there(a);
    (good(zero, one), scale)
}
