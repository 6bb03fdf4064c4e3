//! QR factorisation by Householder's reflections, and the columns of `Q`: as LAPACK's `geqr2` and
//! `org2r`.

use super::block::{finite, gather, scatter};
use super::dtype::InParts;
use super::field::{FieldOf, Pair};
use super::householder::{reflect, reflection};
use super::kernel::{given, run_by_block, Kernel, Most};
use super::lanes::{Float, Lanes};
use super::rows;
use super::together::Together;
use matrices::Element;
use std::ops::Range;

/// Rows and columns up to which this beats LAPACK's `geqrf` and `orgqr`.
pub const MOST: Most = Most {
    real: 2048,
    complex: 32,
};

/// Rows and columns up to which matrices are computed one to a lane, alone too.
pub const BLOCKS: i32 = 64;

/// What both kernels say of large matrices.
macro_rules! in_rows_if_large {
    () => {
        #[inline(always)]
        fn alone_in_rows(&self) -> bool {
            self.m.max(self.n) > BLOCKS as usize
        }

        #[inline(always)]
        fn block_pays(&self, width: usize, matrices: usize) -> bool {
            !self.alone_in_rows() && matrices > width / 4
        }
    };
}

/// A run of matrices of `m` × `n` and the factors of their reflections.
pub struct Geqrf<'a, T> {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// The matrices, if they are elsewhere than in `a`.
    pub from: Option<&'a [T]>,
    /// The matrices or room for them, which become `R` and the reflections.
    pub a: &'a mut [T],
    /// `min(m, n)` each.
    pub tau: &'a mut [T],
    /// Who helps with a large matrix.
    pub together: Together<'a>,
}

impl<T: InParts> Kernel<T> for Geqrf<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        (self.m * self.n + self.m.min(self.n)) * T::PARTS
    }

    in_rows_if_large!();

    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        if !self.alone_in_rows() {
            return 0;
        }
        let stride = rows::stride(self.m, width);
        self.n * stride + rows::qr::work_to_factor((self.n, self.m.min(self.n)), stride, width)
    }

    #[inline(always)]
    fn run_rows<V: Lanes<Float = T>>(&mut self, one: usize, scratch: &mut [V])
    where
        T: Float,
    {
        let (m, n) = (self.m, self.n);
        let (size, rank) = (m * n, m.min(n));
        let x = &mut self.a[one * size..][..size];
        let from = given(self.from, x, one..one + 1);
        let tau = &mut self.tau[one * rank..][..rank];
        let (mut matrix, finite) = rows::Columns::load(from, (m, n), scratch, self.together);
        if !finite {
            x.fill(T::NAN);
            tau.fill(T::NAN);
            return;
        }
        rows::qr::factor(&mut matrix, tau);
        matrix.store(x);
    }

    run_by_block!();
}

impl<T: InParts> Geqrf<'_, T> {
    /// The matrices of `range`, as real or complex numbers.
    #[inline(always)]
    fn block<F: FieldOf<T::Real>>(&mut self, range: Range<usize>, scratch: &mut [F::Real]) {
        let (m, n) = (self.m, self.n);
        let (size, rank) = (m * n, m.min(n));
        let a = &mut self.a[range.start * size..range.end * size];
        let tau = &mut self.tau[range.start * rank..range.end * rank];
        let (parts, taus) = scratch.split_at_mut(size * T::PARTS);
        gather(T::parts(given(self.from, a, range.clone())), parts);
        let finite = finite(parts);
        let (block, factors) = (F::numbers(parts), F::numbers(taus));
        for (j, factor) in factors.iter_mut().enumerate() {
            let (done, rest) = block.split_at_mut((j + 1) * m);
            let (head, v) = done[j * m..].split_at_mut(j + 1);
            (head[j], *factor) = reflection(head[j], v);
            reflect(v, factor.conj(), rest, m, j);
        }
        scatter(parts, T::parts_mut(a));
        scatter(taus, T::parts_mut(tau));
        let matrices = a.chunks_exact_mut(size).zip(tau.chunks_exact_mut(rank));
        for ((a, tau), finite) in matrices.zip(finite.as_slice()) {
            if *finite != T::Real::ZERO {
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
    /// Who helps with a large matrix.
    pub together: Together<'a>,
}

impl<T: InParts> Kernel<T> for Orgqr<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        (self.m * self.n + self.k) * T::PARTS
    }

    in_rows_if_large!();

    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        if !self.alone_in_rows() {
            return 0;
        }
        let stride = rows::stride(self.m, width);
        self.n * stride + rows::qr::work_for_columns((self.n, self.k), stride, width)
    }

    #[inline(always)]
    fn run_rows<V: Lanes<Float = T>>(&mut self, one: usize, scratch: &mut [V])
    where
        T: Float,
    {
        let (m, n, k) = (self.m, self.n, self.k);
        let size = m * n;
        let x = &mut self.a[one * size..][..size];
        let tau = &self.tau[one * k..][..k];
        let (mut matrix, mut finite) =
            rows::Columns::load(&x[..m * k], (m, n), scratch, self.together);
        for tau in tau {
            finite &= tau.f64().is_finite();
        }
        if !finite {
            x.fill(T::NAN);
            return;
        }
        rows::qr::columns(&mut matrix, tau);
        matrix.store(x);
    }

    run_by_block!();
}

impl<T: InParts> Orgqr<'_, T> {
    /// The matrices of `range`, as real or complex numbers.
    #[inline(always)]
    fn block<F: FieldOf<T::Real>>(&mut self, range: Range<usize>, scratch: &mut [F::Real]) {
        let (m, k) = (self.m, self.k);
        let size = m * self.n;
        let a = &mut self.a[range.start * size..range.end * size];
        let (zero, one) = (scratch[0].like(0.0), scratch[0].like(1.0));
        let (zero, one) = (F::of(zero), F::of(one));
        let (parts, taus) = scratch.split_at_mut(size * T::PARTS);
        gather(T::parts(a), parts);
        gather(T::parts(&self.tau[range.start * k..range.end * k]), taus);
        let finite = finite(&parts[..m * k * T::PARTS]) + finite(taus);
        let (block, factors) = (F::numbers(parts), F::numbers(taus));
        let (_, others) = block.split_at_mut(m * k);
        for (j, column) in others.chunks_exact_mut(m).enumerate() {
            column.fill(zero);
            column[k + j] = one;
        }
        for (j, &tau) in factors.iter().enumerate().rev() {
            let (done, rest) = block.split_at_mut((j + 1) * m);
            let (head, v) = done[j * m..].split_at_mut(j + 1);
            reflect(v, tau, rest, m, j);
            for v in v {
                *v = v.by(-tau);
            }
            head.fill(zero);
            head[j] = one - tau;
        }
        scatter(parts, T::parts_mut(a));
        for (a, finite) in a.chunks_exact_mut(size).zip(finite.as_slice()) {
            if *finite != T::Real::ZERO {
                a.fill(T::NAN);
            }
        }
    }
}
