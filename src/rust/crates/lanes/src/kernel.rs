//! What a kernel is.

use super::block;
use super::dtype::InParts;
use super::lanes::{Float, Lanes};
use super::rows::Columns;
use super::together::Together;
use matrices::{Complex, Element};
use std::ops::Range;

/// What is done with each group of matrices. Whether a matrix is one of many in a block, of few
/// (the other lanes hold what is left there, and are not looked at) or alone must not change its
/// result; it does not where lanes are never mixed.
pub trait Kernel<T> {
    /// How many `V`s it works in.
    fn scratch(&self) -> usize;

    /// Whether [`run_rows`](Kernel::run_rows) computes what is left after blocks: all matrices where no
    /// [block pays](Kernel::block_pays).
    fn alone_in_rows(&self) -> bool {
        false
    }

    /// Whether a block of `width` lanes pays for so many matrices: it costs what a few cost one by one, however
    /// many it holds.
    fn block_pays(&self, width: usize, matrices: usize) -> bool {
        matrices > width / 4
    }

    /// How many vectors of `width` lanes [`run_rows`](Kernel::run_rows) works in.
    fn rows_scratch(&self, _width: usize) -> usize {
        0
    }

    /// As [`run`](Kernel::run), of complex matrices, whose parts stand one after the other.
    fn run_complex<V: Lanes<Float = T::Real>>(&mut self, _range: Range<usize>, _scratch: &mut [V])
    where
        T: Element,
        T::Real: Float,
    {
        unreachable!("a kernel without complex numbers");
    }

    /// As [`alone_in_rows`](Kernel::alone_in_rows), of complex matrices: all that are not computed in blocks.
    fn complex_in_rows(&self) -> bool {
        false
    }

    /// As [`run_rows`](Kernel::run_rows), of a complex matrix.
    fn run_rows_complex<V: Lanes<Float = T::Real>>(&mut self, _one: usize, _scratch: &mut [V])
    where
        T: Element,
        T::Real: Float,
    {
        unreachable!("a kernel without complex numbers whose rows are in lanes");
    }

    /// Computes matrix `one` with its rows in lanes. Where a matrix of that shape may be computed by
    /// [`run`](Kernel::run) too, to the same bits; where none is, as in QR, to bits that do not depend on the vectors'
    /// width.
    fn run_rows<V: Lanes<Float = T>>(&mut self, _one: usize, _scratch: &mut [V])
    where
        T: Float,
    {
        unreachable!("a kernel without rows in lanes");
    }

    /// Computes the matrices of `range`, which are not more than `V` has lanes; `scratch` holds
    /// anything. To be `#[inline(always)]`, as what it calls: so it gets the vector instructions.
    fn run<V: Lanes<Float = T>>(&mut self, range: Range<usize>, scratch: &mut [V])
    where
        T: Float;
}

/// [`Kernel::run`] and [`Kernel::run_complex`] of a kernel whose `block` computes with both kinds of numbers.
macro_rules! run_by_block {
    () => {
        #[inline(always)]
        fn run<V: Lanes<Float = T>>(&mut self, range: Range<usize>, scratch: &mut [V])
        where
            T: Float,
        {
            self.block::<V>(range, scratch);
        }

        #[inline(always)]
        fn run_complex<V: Lanes<Float = T::Real>>(&mut self, range: Range<usize>, scratch: &mut [V])
        where
            T::Real: Float,
        {
            self.block::<Pair<V>>(range, scratch);
        }
    };
}
pub(crate) use run_by_block;

/// A kernel of complex matrices, as one of their parts.
pub(crate) struct Parts<K>(pub(crate) K);

impl<T: Float, K: Kernel<Complex<T>>> Kernel<T> for Parts<K>
where
    Complex<T>: Element<Real = T>,
{
    #[inline(always)]
    fn scratch(&self) -> usize {
        self.0.scratch()
    }

    #[inline(always)]
    fn alone_in_rows(&self) -> bool {
        self.0.complex_in_rows()
    }

    #[inline(always)]
    fn block_pays(&self, width: usize, matrices: usize) -> bool {
        !self.alone_in_rows() && matrices > width / 4
    }

    #[inline(always)]
    fn rows_scratch(&self, width: usize) -> usize {
        if self.alone_in_rows() {
            self.0.rows_scratch(width)
        } else {
            0
        }
    }

    #[inline(always)]
    fn run_rows<V: Lanes<Float = T>>(&mut self, one: usize, scratch: &mut [V])
    where
        T: Float,
    {
        self.0.run_rows_complex(one, scratch);
    }

    #[inline(always)]
    fn run<V: Lanes<Float = T>>(&mut self, range: Range<usize>, scratch: &mut [V])
    where
        T: Float,
    {
        self.0.run_complex(range, scratch);
    }
}

/// A run of matrices of `m` × `n`, which a kernel changes.
pub struct Run<'a, T> {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// The matrices, if they are elsewhere than in `a`.
    pub from: Option<&'a [T]>,
    /// The matrices or room for them, which become what is computed.
    pub a: &'a mut [T],
    /// Who helps with a large matrix.
    pub together: Together<'a>,
}

impl<'a, T> Run<'a, T> {
    /// Matrices that are where they are to be changed.
    pub fn in_place((m, n): (usize, usize), a: &'a mut [T], together: Together<'a>) -> Self {
        Run {
            m,
            n,
            from: None,
            a,
            together,
        }
    }
}

impl<T: InParts> Run<'_, T> {
    /// The place of matrix `one`, its first `cols` columns with their rows in lanes, room for the others behind them,
    /// and whether those columns are finite. The parts of complex numbers are rows of their own, as in memory.
    #[inline(always)]
    pub(crate) fn load<'s, V: Lanes<Float = T::Real>>(
        &'s mut self,
        one: usize,
        cols: usize,
        scratch: &'s mut [V],
    ) -> (&'s mut [T::Real], Columns<'s, V>, bool) {
        let here = one * self.m * self.n..(one + 1) * self.m * self.n;
        let a = &mut self.a[here.clone()];
        let from = self.from.map_or(&*a, |from| &from[here]);
        let from = T::parts(&from[..self.m * cols]);
        let sizes = (self.m * T::PARTS, self.n);
        let (columns, finite) = Columns::load(from, sizes, scratch, self.together);
        (T::parts_mut(a), columns, finite)
    }

    /// The places of the matrices of `range`, which are gathered in the lanes of `to`.
    #[inline(always)]
    pub(crate) fn gather<V: Lanes<Float = T::Real>>(
        &mut self,
        range: Range<usize>,
        to: &mut [V],
    ) -> &mut [T] {
        let size = self.m * self.n;
        let here = range.start * size..range.end * size;
        let a = &mut self.a[here.clone()];
        let from = self.from.map_or(&*a, |from| &from[here]);
        block::gather(T::parts(from), to);
        a
    }
}

/// Sizes up to which matrices are computed in blocks, one to a lane.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// The larger one of rows and columns.
    pub long: usize,
    /// The smaller one.
    pub short: usize,
}

impl Blocks {
    /// Up to `n` rows and columns.
    pub const fn up_to(n: usize) -> Blocks {
        Blocks { long: n, short: n }
    }

    /// Whether matrices of `m` × `n` are among them.
    #[inline(always)]
    pub const fn hold(self, m: usize, n: usize) -> bool {
        let (short, long) = if m < n { (m, n) } else { (n, m) };
        long <= self.long && short <= self.short
    }
}

/// Rows and columns up to which a kernel is the best there is.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Of real matrices.
    pub real: i32,
    /// Of complex ones; 0 if it has none.
    pub complex: i32,
}
