//! Singular values: Householder's reduction to bidiagonal form, then the QR algorithm on it, as
//! LAPACK's `gebd2`, `orgbr` and `bdsqr`; of large matrices, whose rows are in lanes, by divide and conquer
//! (`rows/svd.rs`). A wide matrix is taken as its transpose. The bidiagonal matrix is real, so the rotations of the QR
//! algorithm act on the real and imaginary parts of singular vectors as on rows of their own.

use super::accumulate::form;
use super::bidiagonal::bidiagonal;
use super::block::{finite, gather, gather_strided};
use super::dtype::InParts;
use super::field::{Field, FieldOf};
use super::kernel::{run_by_block, Blocks, Kernel, Most};
use super::lanes::{Float, Lanes};
use super::pair::Pair;
use super::rows::svd::{self, Results, Svd};
use super::rows::Failure;
use super::scale::Scale;
use super::singular::{diagonal, iterate};
use super::sorted::{order, scatter_columns};
use super::together::Together;
use super::update::largest;
use matrices::{Element, Vectors};
use std::ops::Range;

/// LAPACK's own answer to a matrix that is not finite.
pub const NOT_FINITE: i32 = -4;

/// Rows and columns up to which this beats LAPACK's `gesdd`.
pub const MOST: Most = Most {
    real: svd::MOST as i32,
    complex: svd::MOST as i32,
};

/// Sizes up to which matrices are computed one to a lane, alone too: full blocks win up to 64 rows and columns, a matrix
/// alone from 33 on with its rows in lanes.
pub const BLOCKS: Blocks = Blocks {
    long: 96,
    short: 48,
};

/// The same for complex matrices.
pub const COMPLEX_BLOCKS: Blocks = Blocks::up_to(48);

/// A run of matrices of `m` × `n`.
pub struct Gesdd<'a, T: Element> {
    /// Rows, not 0.
    pub m: usize,
    /// Columns, not 0.
    pub n: usize,
    /// Which singular vectors there are.
    pub vectors: Vectors,
    /// The matrices.
    pub a: &'a [T],
    /// Their singular values, descending.
    pub s: &'a mut [T::Real],
    /// The left singular vectors; nothing where there are none.
    pub u: &'a mut [T],
    /// The right ones, conjugated, as rows.
    pub vt: &'a mut [T],
    /// 0; or -4 for a matrix with NaN or an infinity, or how many elements beside the diagonal did
    /// not vanish.
    pub info: &'a mut [i32],
    /// Who helps with a large matrix.
    pub together: Together<'a>,
}

impl<'a, T: Element> Gesdd<'a, T> {
    /// Rows and columns of what is reduced, and columns of its left singular vectors.
    #[inline(always)]
    fn sizes(&self) -> (usize, usize, usize) {
        let (tall, narrow) = (self.m.max(self.n), self.m.min(self.n));
        let columns = match self.vectors {
            Vectors::Full => tall,
            Vectors::Thin | Vectors::No => narrow,
        };
        (tall, narrow, columns)
    }

    /// What is done with a large matrix.
    #[inline(always)]
    fn alone(&self) -> Svd<'a> {
        let (tall, narrow, columns) = self.sizes();
        Svd {
            m: tall,
            n: narrow,
            columns: if self.vectors == Vectors::No {
                0
            } else {
                columns
            },
            wide: self.m < self.n,
            together: self.together,
        }
    }
}

impl<T: InParts> Kernel<T> for Gesdd<'_, T> {
    #[inline(always)]
    fn scratch(&self) -> usize {
        let (tall, narrow, columns) = self.sizes();
        (tall * columns + narrow * narrow + 3 * narrow + tall) * T::PARTS + 2 * narrow
    }

    #[inline(always)]
    fn alone_in_rows(&self) -> bool {
        !BLOCKS.hold(self.m, self.n)
    }

    #[inline(always)]
    fn complex_in_rows(&self) -> bool {
        !COMPLEX_BLOCKS.hold(self.m, self.n)
    }

    #[inline(always)]
    fn block_pays(&self, width: usize, matrices: usize) -> bool {
        !self.alone_in_rows() && matrices > width / 4
    }

    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        if T::COMPLEX {
            return self.alone().scratch_complex(size_of::<T::Real>(), width);
        }
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
        let mut one = self.one(one);
        let (s, long, short) = &mut one.results;
        let found = one.problem.run(one.a, (s, long, short), scratch);
        one.report(found);
    }

    #[inline(always)]
    fn run_rows_complex<V: Lanes<Float = T::Real>>(&mut self, one: usize, scratch: &mut [V]) {
        let mut one = self.one(one);
        let (s, long, short) = &mut one.results;
        let found = one.problem.run_complex(one.a, (s, long, short), scratch);
        one.report(found);
    }

    run_by_block!();
}

impl<T: InParts> Gesdd<'_, T> {
    /// Matrix `one`.
    #[inline(always)]
    fn one(&mut self, one: usize) -> One<'_, T::Real> {
        let (m, n) = (self.m, self.n);
        let (tall, narrow, _) = self.sizes();
        let problem = self.alone();
        let s = &mut self.s[one * narrow..][..narrow];
        let (long, short) = (tall * problem.columns, narrow * narrow);
        let short = if long > 0 { short } else { 0 };
        let (u_len, vt_len) = if m < n { (short, long) } else { (long, short) };
        let u = T::parts_mut(&mut self.u[one * u_len..][..u_len]);
        let vt = T::parts_mut(&mut self.vt[one * vt_len..][..vt_len]);
        let results = if m < n { (s, vt, u) } else { (s, u, vt) };
        One {
            problem,
            a: T::parts(&self.a[one * m * n..][..m * n]),
            results,
            info: &mut self.info[one],
        }
    }

    /// The matrices of `range`, as real or complex numbers.
    #[inline(always)]
    fn block<F: FieldOf<T::Real>>(&mut self, range: Range<usize>, scratch: &mut [F::Real]) {
        let (m, n, vectors) = (self.m, self.n, self.vectors);
        let (tall, narrow, columns) = self.sizes();
        let parts = T::PARTS;
        let (u, scratch) = scratch.split_at_mut(tall * columns * parts);
        let (v, scratch) = scratch.split_at_mut(narrow * narrow * parts);
        let (d, scratch) = scratch.split_at_mut(narrow);
        let (e, scratch) = scratch.split_at_mut(narrow);
        let (left, scratch) = F::numbers(scratch).split_at_mut(narrow);
        let (right, work) = scratch.split_at_mut(narrow);
        let a = T::parts(&self.a[range.start * m * n..range.end * m * n]);
        let whole = &mut u[..m * n * parts];
        if m < n {
            for (i, row) in whole.chunks_exact_mut(n * parts).enumerate() {
                gather_strided(a, m * n * parts, (i * parts, m * parts, parts), row);
            }
        } else {
            gather(a, whole);
        }
        let (bad, scale) = prepare(whole);
        let (u, v) = (F::numbers(u), F::numbers(v));
        let whole = &mut u[..m * n];
        bidiagonal(tall, narrow, whole, (d, e), (left, right), work);
        let failed = if vectors == Vectors::No && F::PARTS == 1 {
            diagonal(d, e, None)
        } else if vectors == Vectors::No {
            iterate(d, e, [(&mut [], 0), (&mut [], 0)])
        } else {
            // The vectors of the right reflections, from rows to columns.
            for (k, v) in v.chunks_exact_mut(narrow).enumerate() {
                for (j, v) in v.iter_mut().enumerate().skip(k + 2) {
                    *v = u[j * tall + k];
                }
            }
            form(v, narrow, 1, &right[..narrow - 1]);
            form(u, tall, 0, left);
            let sizes = (tall * parts, narrow * parts);
            iterate(d, e, [(F::parts(u), sizes.0), (F::parts(v), sizes.1)])
        };
        scale.back(d);
        if vectors == Vectors::No {
            positive::<F>(d, &mut []);
        } else {
            positive(d, v);
        }
        let mut outputs = Outputs {
            sizes: (tall, narrow, columns),
            wide: m < n,
            parts,
            vectors: [T::parts_mut(self.u), T::parts_mut(self.vt)],
        };
        for (lane, at) in range.enumerate() {
            let s = &mut self.s[at * narrow..][..narrow];
            let info = &mut self.info[at];
            *info = failed.as_slice()[lane].f64() as i32;
            if bad.as_slice()[lane] != T::Real::ZERO {
                *info = NOT_FINITE;
            }
            let mut places = [0; BLOCKS.short];
            let places = order(d, lane, s, &mut places, |a, b| a >= b);
            if *info != 0 {
                s.fill(T::Real::NAN);
            }
            if vectors != Vectors::No {
                let (u, v) = (F::parts(u), F::parts(v));
                outputs.write(at, (lane, places), u, v, *info == 0);
            }
        }
    }
}

/// A matrix that is alone, as its parts, what is done with it, and where its results go.
struct One<'a, T> {
    problem: Svd<'a>,
    a: &'a [T],
    results: Results<'a, T>,
    info: &'a mut i32,
}

impl<T: Element> One<'_, T> {
    /// Notes what came of it: all results of a matrix that has no singular values are NaN.
    #[inline(always)]
    fn report(self, found: Result<(), Failure>) {
        *self.info = match found {
            Ok(()) => 0,
            Err(Failure::NotFinite) => NOT_FINITE,
            Err(Failure::NotConverged) => self.problem.n as i32,
        };
        if found.is_err() {
            let (s, long, short) = self.results;
            for result in [s, long, short] {
                result.fill(T::NAN);
            }
        }
    }
}

/// Brings the matrices near 1. Those that are not finite become 0: they are not 0 in the first
/// result.
#[inline(always)]
fn prepare<V: Lanes>(a: &mut [V]) -> (V, Scale<V>) {
    let (zero, one) = (a[0].like(0.0), a[0].like(1.0));
    let sum = finite(a);
    let good = |yes, no| sum.if_equal(zero, yes, no);
    let bad = good(zero, one);
    if zero.any_less(bad) {
        for a in a.iter_mut() {
            *a = good(*a, zero);
        }
    }
    let scale = Scale::of(largest(zero, a));
    scale.there(a);
    (bad, scale)
}

/// Makes the singular values positive; the columns of `v` follow, and are conjugated: `Vᴴ` of a matrix has these as
/// rows, `U` of its transposed as columns.
#[inline(always)]
fn positive<F: Field>(d: &mut [F::Real], v: &mut [F]) {
    for (v, d) in v.chunks_exact_mut(d.len()).zip(&*d) {
        let sign = d.like(1.0).copysign(*d);
        for v in v.iter_mut() {
            *v = v.conj().times(sign);
        }
    }
    for d in d.iter_mut() {
        *d = d.abs();
    }
}

/// Where singular vectors go.
struct Outputs<'a, T> {
    sizes: (usize, usize, usize),
    wide: bool,
    /// Of each number.
    parts: usize,
    vectors: [&'a mut [T]; 2],
}

impl<T: Float> Outputs<'_, T> {
    /// The vectors of matrix `at`, which are in a lane, in the order of the places; NaN if they are not
    /// `valid`.
    #[inline(always)]
    fn write<V: Lanes<Float = T>>(
        &mut self,
        at: usize,
        (lane, places): (usize, &[u16]),
        u: &[V],
        v: &[V],
        valid: bool,
    ) {
        let ((tall, narrow, columns), parts) = (self.sizes, self.parts);
        let [long, short] = if self.wide { [1, 0] } else { [0, 1] };
        let (long_len, short_len) = (tall * columns * parts, narrow * narrow * parts);
        let to = &mut self.vectors[long][at * long_len..][..long_len];
        if !valid {
            to.fill(T::NAN);
            self.vectors[short][at * short_len..][..short_len].fill(T::NAN);
            return;
        }
        let steps = if self.wide { (columns, 1) } else { (1, tall) };
        scatter_columns(u, (tall, parts), lane, places, to, steps);
        if columns > narrow {
            // Beside the range of the matrix there is no order.
            let rest = &u[narrow * tall * parts..];
            let others: [u16; BLOCKS.long] = std::array::from_fn(|i| i as u16);
            let others = &others[..columns - narrow];
            let to = &mut to[narrow * steps.1 * parts..];
            scatter_columns(rest, (tall, parts), lane, others, to, steps);
        }
        let to = &mut self.vectors[short][at * short_len..][..short_len];
        let steps = if self.wide { (1, narrow) } else { (narrow, 1) };
        scatter_columns(v, (narrow, parts), lane, places, to, steps);
    }
}
