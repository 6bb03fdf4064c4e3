//! QR factorisation by Householder's reflections, and the columns of `Q`: as LAPACK's `geqr2` and
//! `org2r`.

use super::block::{finite, gather, scatter};
use super::householder::{reflect, reflection};
use super::update::scale;
use super::{Float, Kernel, Lanes, Most};
use matrices::Element;
use std::ops::Range;

/// Rows and columns up to which this beats LAPACK's `geqrf` and `orgqr`.
pub const MOST: Most = Most::real(64);

/// A run of matrices of `m` × `n` and the factors of their reflections.
pub struct Geqrf<'a, T> {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// The matrices, which become `R` and the reflections.
    pub a: &'a mut [T],
    /// `min(m, n)` each.
    pub tau: &'a mut [T],
}

impl<T: Element> Kernel<T> for Geqrf<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        self.m * self.n + self.m.min(self.n)
    }

    #[inline(always)]
    fn run<V: Lanes<Float = T>>(&mut self, range: Range<usize>, scratch: &mut [V])
    where
        T: Float,
    {
        let (m, n) = (self.m, self.n);
        let (size, rank) = (m * n, m.min(n));
        let a = &mut self.a[range.start * size..range.end * size];
        let tau = &mut self.tau[range.start * rank..range.end * rank];
        let (block, factors) = scratch.split_at_mut(size);
        gather(a, block);
        let finite = finite(block);
        for (j, factor) in factors.iter_mut().enumerate() {
            let (done, rest) = block.split_at_mut((j + 1) * m);
            let (head, v) = done[j * m..].split_at_mut(j + 1);
            (head[j], *factor) = reflection(head[j], v);
            reflect(v, *factor, rest, m, j);
        }
        scatter(block, a);
        scatter(factors, tau);
        let matrices = a.chunks_exact_mut(size).zip(tau.chunks_exact_mut(rank));
        for ((a, tau), finite) in matrices.zip(finite.as_slice()) {
            if *finite != T::ZERO {
                a.fill(T::NAN);
                tau.fill(T::NAN);
            }
        }
    }
}

/// A run of matrices of `m` × `n`, `n <= m`, in whose first `k` columns the reflections are.
pub struct Orgqr<'a, T> {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// Reflections, at least one.
    pub k: usize,
    /// The matrices, which become the first columns of `Q`.
    pub a: &'a mut [T],
    /// `k` each.
    pub tau: &'a [T],
}

impl<T: Element> Kernel<T> for Orgqr<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        self.m * self.n + self.k
    }

    #[inline(always)]
    fn run<V: Lanes<Float = T>>(&mut self, range: Range<usize>, scratch: &mut [V])
    where
        T: Float,
    {
        let (m, k) = (self.m, self.k);
        let size = m * self.n;
        let a = &mut self.a[range.start * size..range.end * size];
        let (zero, one) = (scratch[0].like(0.0), scratch[0].like(1.0));
        let (block, factors) = scratch.split_at_mut(size);
        gather(a, block);
        gather(&self.tau[range.start * k..range.end * k], factors);
        let (reflections, others) = block.split_at_mut(m * k);
        let finite = finite(reflections) + finite(factors);
        for (j, column) in others.chunks_exact_mut(m).enumerate() {
            column.fill(zero);
            column[k + j] = one;
        }
        for (j, &tau) in factors.iter().enumerate().rev() {
            let (done, rest) = block.split_at_mut((j + 1) * m);
            let (head, v) = done[j * m..].split_at_mut(j + 1);
            reflect(v, tau, rest, m, j);
            scale(v, -tau);
            head.fill(zero);
            head[j] = one - tau;
        }
        scatter(block, a);
        for (a, finite) in a.chunks_exact_mut(size).zip(finite.as_slice()) {
            if *finite != T::ZERO {
                a.fill(T::NAN);
            }
        }
    }
}
