//! QR factorisation by Householder's reflections, and the columns of `Q`: as LAPACK's `geqr2` and
//! `org2r`.

use super::block::{finite, gather, scatter};
use super::dtype::InParts;
use super::field::FieldOf;
use super::householder::{reflect, reflection};
use super::kernel::{run_by_block, Blocks, Kernel, Most, Run};
use super::lanes::{Float, Lanes};
use super::pair::Pair;
use super::rows::{self, Columns};
use matrices::Element;
use std::ops::Range;

/// Rows and columns up to which this beats LAPACK's `geqrf` and `orgqr`.
pub const MOST: Most = Most {
    real: 2048,
    complex: 2048,
};

/// Sizes up to which matrices are computed one to a lane, alone too: full blocks win up to 64 columns, a matrix alone
/// from 41 on with its rows in lanes.
pub const BLOCKS: Blocks = Blocks {
    long: 64,
    short: 48,
};

/// The same for complex matrices.
pub const COMPLEX_BLOCKS: Blocks = Blocks::up_to(32);

/// What both kernels say of large matrices.
macro_rules! in_rows_if_large {
    () => {
        #[inline(always)]
        fn alone_in_rows(&self) -> bool {
            !BLOCKS.hold(self.run.m, self.run.n)
        }

        #[inline(always)]
        fn complex_in_rows(&self) -> bool {
            !COMPLEX_BLOCKS.hold(self.run.m, self.run.n)
        }

        #[inline(always)]
        fn block_pays(&self, width: usize, matrices: usize) -> bool {
            !self.alone_in_rows() && matrices > width / 4
        }
    };
}

/// A run of matrices and the factors of their reflections.
pub struct Geqrf<'a, T> {
    /// They become `R` and the reflections.
    pub run: Run<'a, T>,
    /// `min(m, n)` each.
    pub tau: &'a mut [T],
}

impl<T: InParts> Kernel<T> for Geqrf<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        let Run { m, n, .. } = self.run;
        (m * n + m.min(n)) * T::PARTS
    }

    in_rows_if_large!();

    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        if !T::COMPLEX && !self.alone_in_rows() {
            return 0;
        }
        let Run { m, n, .. } = self.run;
        let stride = rows::stride(m * T::PARTS, width);
        let work = if T::COMPLEX {
            rows::qr::complex_work_to_factor
        } else {
            rows::qr::work_to_factor
        };
        n * stride + work((n, m.min(n)), stride, width)
    }

    #[inline(always)]
    fn run_rows<V: Lanes<Float = T>>(&mut self, one: usize, scratch: &mut [V])
    where
        T: Float,
    {
        self.alone(one, scratch, rows::qr::factor);
    }

    #[inline(always)]
    fn run_rows_complex<V: Lanes<Float = T::Real>>(&mut self, one: usize, scratch: &mut [V]) {
        self.alone(one, scratch, rows::qr::factor_complex);
    }

    run_by_block!();
}

impl<T: InParts> Geqrf<'_, T> {
    /// Matrix `one`, with its rows in lanes.
    #[inline(always)]
    fn alone<V: Lanes<Float = T::Real>>(
        &mut self,
        one: usize,
        scratch: &mut [V],
        factor: impl Fn(&mut Columns<'_, V>, &mut [T::Real]),
    ) {
        let Run { m, n, .. } = self.run;
        let tau = T::parts_mut(&mut self.tau[one * m.min(n)..][..m.min(n)]);
        let (x, mut matrix, finite) = self.run.load(one, n, scratch);
        if !finite {
            x.fill(T::Real::NAN);
            tau.fill(T::Real::NAN);
            return;
        }
        factor(&mut matrix, tau);
        matrix.store(x);
    }

    /// The matrices of `range`, as real or complex numbers.
    #[inline(always)]
    fn block<F: FieldOf<T::Real>>(&mut self, range: Range<usize>, scratch: &mut [F::Real]) {
        let Run { m, n, .. } = self.run;
        let (size, rank) = (m * n, m.min(n));
        let tau = &mut self.tau[range.start * rank..range.end * rank];
        let (parts, taus) = scratch.split_at_mut(size * T::PARTS);
        let a = self.run.gather(range, parts);
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
    /// They become the first columns of `Q`.
    pub run: Run<'a, T>,
    /// Reflections, at least one.
    pub k: usize,
    /// `k` each.
    pub tau: &'a [T],
}

impl<T: InParts> Kernel<T> for Orgqr<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        (self.run.m * self.run.n + self.k) * T::PARTS
    }

    in_rows_if_large!();

    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        if !T::COMPLEX && !self.alone_in_rows() {
            return 0;
        }
        let Run { m, n, .. } = self.run;
        let stride = rows::stride(m * T::PARTS, width);
        let work = if T::COMPLEX {
            rows::qr::complex_work_for_columns
        } else {
            rows::qr::work_for_columns
        };
        n * stride + work((n, self.k), stride, width)
    }

    #[inline(always)]
    fn run_rows<V: Lanes<Float = T>>(&mut self, one: usize, scratch: &mut [V])
    where
        T: Float,
    {
        self.alone(one, scratch, rows::qr::columns);
    }

    #[inline(always)]
    fn run_rows_complex<V: Lanes<Float = T::Real>>(&mut self, one: usize, scratch: &mut [V]) {
        self.alone(one, scratch, rows::qr::columns_complex);
    }

    run_by_block!();
}

impl<T: InParts> Orgqr<'_, T> {
    /// Matrix `one`, with its rows in lanes.
    #[inline(always)]
    fn alone<V: Lanes<Float = T::Real>>(
        &mut self,
        one: usize,
        scratch: &mut [V],
        columns: impl Fn(&mut Columns<'_, V>, &[T::Real]),
    ) {
        let k = self.k;
        let tau = T::parts(&self.tau[one * k..][..k]);
        let (x, mut matrix, mut finite) = self.run.load(one, k, scratch);
        for tau in tau {
            finite &= tau.f64().is_finite();
        }
        if !finite {
            x.fill(T::Real::NAN);
            return;
        }
        columns(&mut matrix, tau);
        matrix.store(x);
    }

    /// The matrices of `range`, as real or complex numbers.
    #[inline(always)]
    fn block<F: FieldOf<T::Real>>(&mut self, range: Range<usize>, scratch: &mut [F::Real]) {
        let (m, k) = (self.run.m, self.k);
        let size = m * self.run.n;
        let (zero, one) = (scratch[0].like(0.0), scratch[0].like(1.0));
        let (zero, one) = (F::of(zero), F::of(one));
        let (parts, taus) = scratch.split_at_mut(size * T::PARTS);
        let a = self.run.gather(range.clone(), parts);
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
