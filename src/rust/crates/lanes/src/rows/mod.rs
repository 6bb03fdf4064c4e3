//! One matrix alone, with its rows in lanes: what is left of a batch after full blocks, and matrices that are too
//! large for blocks. Columns stand one after the other, each padded to whole vectors with zeros.
//!
//! An element takes part in the same operations, in the same order, as in a block of matrices: what is taken
//! from it is taken column by column from the left, each product rounded once with its sum. So the results are those
//! of the blocks to the last bit, however the work is cut into panels and tiles. Not so in QR, where reflections act
//! together: no size of matrix is computed in both ways there.

mod back;
mod bdsdc;
mod bidiagonal;
pub(crate) mod cholesky;
mod complex_panel;
mod complex_triplets;
mod conquer;
mod deflate;
mod divide;
pub(crate) mod eigh;
mod ends;
mod gebrd;
mod gemver;
mod gemvh;
mod gesdd;
mod getf2;
mod heevd;
mod hemv;
mod hetrd;
mod larft;
pub(crate) mod lu;
mod merge;
mod near;
mod panel;
mod pending;
mod planes;
mod poles;
mod product;
pub(crate) mod qr;
mod reduce;
mod reflect;
mod reflector;
mod secular;
mod share;
mod singular;
mod singular_values;
mod solved;
mod spread;
mod step;
pub(crate) mod svd;
mod sweep;
mod torn;
pub(crate) mod triangular;
mod triplets;
mod values;

pub(crate) use conquer::stedc;
pub(crate) use gemver::{gemver, gemvt};
pub(crate) use gemvh::gemvh;
pub(crate) use hemv::hemv;
pub(crate) use larft::prepare;
pub(crate) use lu::follow;
pub(crate) use product::{packed, product};
pub(crate) use reduce::larfg;
pub(crate) use reflect::{project, reflect};
pub(crate) use secular::roots;
pub(crate) use spread::{ends, spread, weights};
pub(crate) use sweep::{multiply, sweep};
pub(crate) use triangular::substitute;
pub(crate) use values::sterf;

use super::block::finite;
use super::lanes::{Float, Lanes};
use super::together::Together;
use std::ops::Range;

/// Vectors of a column from which on columns that follow one another at a power of 2 would push each other out of
/// the cache.
const FAR: usize = 16;

/// Vectors of `width` lanes from one column of `rows` rows to the next.
pub(crate) fn stride(rows: usize, width: usize) -> usize {
    let vectors = rows.div_ceil(width);
    if vectors < FAR {
        vectors
    } else {
        vectors | 1
    }
}

/// Columns that are computed one by one before others see them: whole vectors of rows, and not too few.
pub(crate) const fn panel(width: usize) -> usize {
    if width < 8 {
        8
    } else {
        width
    }
}

/// Why there are no eigenvalues or singular values.
pub(crate) enum Failure {
    NotFinite,
    NotConverged,
}

/// What follows when panel `done - 1` is computed: the panels before `done` that the next ones wait for, as many
/// as those. So each is taken into account in the order of the panels, and mostly together with others.
pub(crate) fn waiting(done: usize) -> usize {
    1 << done.trailing_zeros()
}

/// Columns of one matrix of `m` rows, one every `stride` vectors.
pub(crate) struct Columns<'a, V> {
    pub(crate) m: usize,
    pub(crate) stride: usize,
    pub(crate) a: &'a mut [V],
    /// What a factorisation works in.
    pub(crate) work: &'a mut [V],
    pub(crate) together: Together<'a>,
}

impl<'a, V: Lanes> Columns<'a, V> {
    /// So many columns in the first part of `scratch`, of which the first ones are `x`, whole columns; and whether all
    /// of these are finite.
    #[inline(always)]
    pub(crate) fn load(
        x: &[V::Float],
        (m, n): (usize, usize),
        scratch: &'a mut [V],
        together: Together<'a>,
    ) -> (Self, bool) {
        let stride = stride(m, V::WIDTH);
        let (a, work) = scratch.split_at_mut(n * stride);
        let mut sum = a[0].like(0.0);
        for (column, x) in a.chunks_exact_mut(stride).zip(x.chunks_exact(m)) {
            load(column, x, 0..m);
            sum += finite(column);
        }
        let columns = Columns {
            m,
            stride,
            a,
            work,
            together,
        };
        (columns, all_zero(sum))
    }

    /// Rows, stride, who helps, the columns, and what a factorisation works in.
    #[inline(always)]
    fn parts(&mut self) -> (usize, usize, Together<'a>, &mut [V], &mut [V]) {
        let Columns {
            m,
            stride,
            a,
            work,
            together,
        } = self;
        (*m, *stride, *together, a, work)
    }

    /// The way back of [`load`](Columns::load).
    #[inline(always)]
    pub(crate) fn store(&self, x: &mut [V::Float]) {
        for (column, x) in self
            .a
            .chunks_exact(self.stride)
            .zip(x.chunks_exact_mut(self.m))
        {
            x.copy_from_slice(&V::flat(column)[..self.m]);
        }
    }
}

/// The rows of a panel's column below its diagonal, as whole vectors and the row in the first of them. Parts of complex
/// numbers are rows of their own.
#[derive(Clone, Copy)]
pub(crate) struct Below {
    vector: usize,
    row: usize,
}

impl Below {
    #[inline(always)]
    pub(crate) fn diagonal<V: Lanes>(row: usize) -> Self {
        Below {
            vector: row / V::WIDTH,
            row: row % V::WIDTH,
        }
    }

    /// `to -= from * factor` below the diagonal.
    #[inline(always)]
    pub(crate) fn subtract<V: Lanes>(self, to: &mut [V], from: &[V], factor: V, lanes: V) {
        let (to, from) = (&mut to[self.vector..], &from[self.vector..]);
        let new = from[0].neg_mul_add(factor, to[0]);
        to[0] = lanes.like(self.row as f64).if_less(lanes, new, to[0]);
        for (to, from) in to[1..].iter_mut().zip(&from[1..]) {
            *to = from.neg_mul_add(factor, *to);
        }
    }

    /// The same of complex columns, given `from` and that times i, and the parts of the factor.
    #[inline(always)]
    pub(crate) fn subtract_complex<V: Lanes>(
        self,
        to: &mut [V],
        (from, turned): (&[V], &[V]),
        [re, im]: [V; 2],
        lanes: V,
    ) {
        let new = |to: V, from: V, turned: V| turned.neg_mul_add(im, from.neg_mul_add(re, to));
        let (to, from) = (&mut to[self.vector..], &from[self.vector..]);
        let turned = &turned[self.vector..];
        let first = new(to[0], from[0], turned[0]);
        to[0] = lanes.like(self.row as f64).if_less(lanes, first, to[0]);
        let known = from[1..].iter().zip(&turned[1..]);
        for (to, (from, turned)) in to[1..].iter_mut().zip(known) {
            *to = new(*to, *from, *turned);
        }
    }

    /// A complex column times i below the diagonal.
    #[inline(always)]
    pub(crate) fn times_i<V: Lanes>(self, from: &[V], to: &mut [V]) {
        for (to, from) in to[self.vector..].iter_mut().zip(&from[self.vector..]) {
            *to = from.times_i();
        }
    }

    /// Changes each value below the diagonal.
    #[inline(always)]
    pub(crate) fn change<V: Lanes>(self, column: &mut [V], lanes: V, change: impl Fn(V) -> V) {
        let column = &mut column[self.vector..];
        let new = change(column[0]);
        column[0] = lanes.like(self.row as f64).if_less(lanes, new, column[0]);
        for value in &mut column[1..] {
            *value = change(*value);
        }
    }
}

/// 0, 1, 2, … in the lanes.
#[inline(always)]
pub(crate) fn lanes_of<V: Lanes>(any: V) -> V {
    let mut lanes = any.like(0.0);
    for (lane, value) in lanes.as_mut_slice().iter_mut().enumerate() {
        *value = V::Float::of(lane as f64);
    }
    lanes
}

/// The rows `which` of `x` become those of a column, whose other rows become 0.
#[inline(always)]
pub(crate) fn load<V: Lanes>(column: &mut [V], x: &[V::Float], which: Range<usize>) {
    let zero = column[0].like(0.0);
    column[..which.start.div_ceil(V::WIDTH)].fill(zero);
    column[which.end / V::WIDTH..].fill(zero);
    V::flat_mut(column)[which.clone()].copy_from_slice(&x[which]);
}

/// Whether all lanes are 0, as [`finite`] has them.
#[inline(always)]
pub(crate) fn all_zero<V: Lanes>(sum: V) -> bool {
    let zero = V::Float::of(0.0);
    sum.as_slice()
        .iter()
        .fold(true, |all, lane| all & (*lane == zero))
}
