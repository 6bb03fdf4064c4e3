//! `R` and reflections of one matrix, and the columns of its `Q`. Blocks of reflections act on what is behind them two
//! at a time, so that a large matrix is fetched from memory half as often.

use super::complex_panel::{geqr2, org2r};
use super::panel::{eliminate, unfold};
use super::reflect::{work_of_block, BLOCK};
use super::share::share;
use super::Columns;
use crate::lanes::{Apart, Float, Lanes};
use crate::operands::{Block, Task};
use crate::together::Together;

/// Columns of `Q` up to which reflections act one by one.
const ONE_BY_ONE: usize = 12;

/// The same for complex columns.
const COMPLEX_ONE_BY_ONE: usize = 16;

/// Vectors that [`factor`] works in: in room for a block where one acts on what is behind it, of which two act at once.
pub(crate) fn work_to_factor((n, rank): (usize, usize), stride: usize, width: usize) -> usize {
    let acting = rank.div_ceil(BLOCK) - usize::from(rank == n);
    acting.min(2) * work_of_block(stride, width)
}

/// Vectors that [`columns`] works in, of `n` columns of `k` reflections.
pub(crate) fn work_for_columns((n, k): (usize, usize), stride: usize, width: usize) -> usize {
    if n <= ONE_BY_ONE {
        return 0;
    }
    k.div_ceil(BLOCK).min(2) * work_of_block(stride, width)
}

/// [`work_to_factor`] of complex columns and reflections.
pub(crate) fn complex_work_to_factor(
    (n, rank): (usize, usize),
    stride: usize,
    width: usize,
) -> usize {
    work_to_factor((2 * n, 2 * rank), stride, width) + stride
}

/// [`work_for_columns`] of complex columns and reflections.
pub(crate) fn complex_work_for_columns(
    (n, k): (usize, usize),
    stride: usize,
    width: usize,
) -> usize {
    if n <= COMPLEX_ONE_BY_ONE {
        return stride;
    }
    (2 * k).div_ceil(BLOCK).min(2) * work_of_block(stride, width)
}

/// Factors in place, as LAPACK's `geqrf`, in room of [`work_to_factor`]; there is a factor for each reflection.
#[inline(always)]
pub(crate) fn factor<V: Lanes>(matrix: &mut Columns<'_, V>, tau: &mut [V::Float]) {
    factor_in_parts::<V, 1>(matrix, tau);
}

/// The same of complex columns, whose parts are rows of their own, in room of [`complex_work_to_factor`]; there is a
/// complex factor for each reflection.
#[inline(always)]
pub(crate) fn factor_complex<V: Lanes>(matrix: &mut Columns<'_, V>, tau: &mut [V::Float]) {
    factor_in_parts::<V, 2>(matrix, tau);
}

/// Factors columns of numbers of so many `PARTS`, each of which is a reflection of its own in a block.
#[inline(always)]
fn factor_in_parts<V: Lanes, const PARTS: usize>(
    matrix: &mut Columns<'_, V>,
    tau: &mut [V::Float],
) {
    let any = matrix.a[0];
    V::apart(Factoring::<V, PARTS> { matrix, tau }, any);
}

/// A matrix and its factors.
struct Factoring<'a, 'm, V: Lanes, const PARTS: usize> {
    matrix: &'a mut Columns<'m, V>,
    tau: &'a mut [V::Float],
}

impl<V: Lanes, const PARTS: usize> Apart for Factoring<'_, '_, V, PARTS> {
    #[inline(always)]
    fn run(self) {
        let Factoring { matrix, tau } = self;
        let (m, stride, together, a, work) = matrix.parts();
        let (n, rank) = (a.len() / stride * PARTS, tau.len());
        let (column, work) = work.split_at_mut((PARTS - 1) * stride);
        let (even, odd) = work.split_at_mut(work.len().min(work_of_block(stride, V::WIDTH)));
        for (at, tau) in tau.chunks_mut(BLOCK).enumerate() {
            let (start, end) = (at * BLOCK, at * BLOCK + tau.len());
            let (known, behind) = a.split_at_mut(end / PARTS * stride);
            let panel = &mut known[start / PARTS * stride..];
            let vectors = start / V::WIDTH..m.div_ceil(V::WIDTH);
            if PARTS == 1 {
                eliminate(panel, stride, vectors, tau);
            } else {
                geqr2(panel, stride, vectors, tau, column);
            }
            if end == n {
                return;
            }
            let first = at % 2 == 0;
            let memory = if first { &mut *even } else { &mut *odd };
            V::prepare(panel, stride, (start, m), (tau, Task::Factor), memory);
            if !first {
                let blocks = [Block::of(even, start - BLOCK, m), Block::of(odd, start, m)];
                act(together, behind, stride, &blocks);
            } else if end < rank {
                let next = &mut behind[..BLOCK.min(rank - end) / PARTS * stride];
                V::reflect(next, stride, &[Block::of(even, start, m)]);
            } else {
                act(together, behind, stride, &[Block::of(even, start, m)]);
            }
        }
    }
}

/// The columns of `Q` in place of the reflections, of which there are as many as factors, in room of
/// [`work_for_columns`].
#[inline(always)]
pub(crate) fn columns<V: Lanes>(matrix: &mut Columns<'_, V>, tau: &[V::Float]) {
    let (m, stride, _, a, _) = matrix.parts();
    let n = a.len() / stride;
    if n <= ONE_BY_ONE {
        identity(a, stride, tau.len()..n, 1);
        return unfold(a, stride, m.div_ceil(V::WIDTH), tau);
    }
    columns_in_parts::<V, 1>(matrix, tau);
}

/// The same of complex columns, whose parts are rows of their own, in room of [`complex_work_for_columns`].
#[inline(always)]
pub(crate) fn columns_complex<V: Lanes>(matrix: &mut Columns<'_, V>, tau: &[V::Float]) {
    let (m, stride, _, a, work) = matrix.parts();
    let n = a.len() / stride;
    if n <= COMPLEX_ONE_BY_ONE {
        identity(a, stride, tau.len() / 2..n, 2);
        return org2r(a, stride, m.div_ceil(V::WIDTH), tau, work);
    }
    columns_in_parts::<V, 2>(matrix, tau);
}

/// The columns of `Q` by blocks, of numbers of so many `PARTS`.
#[inline(always)]
fn columns_in_parts<V: Lanes, const PARTS: usize>(matrix: &mut Columns<'_, V>, tau: &[V::Float]) {
    let (m, stride, together, a, work) = matrix.parts();
    identity(a, stride, tau.len() / PARTS..a.len() / stride, PARTS);
    let (even, odd) = work.split_at_mut(work.len().min(work_of_block(stride, V::WIDTH)));
    for (at, tau_of) in tau.chunks(BLOCK).enumerate().rev() {
        let (start, end) = (at * BLOCK, at * BLOCK + tau_of.len());
        let which = start / PARTS..end / PARTS;
        let (known, behind) = a.split_at_mut(which.end * stride);
        let panel = &known[which.start * stride..];
        let first = at % 2 == 0;
        let memory = if first { &mut *even } else { &mut *odd };
        V::prepare(panel, stride, (start, m), (tau_of, Task::Columns), memory);
        let block = Block::of(if first { &*even } else { &*odd }, start, m);
        identity(known, stride, which.clone(), PARTS);
        let panel = &mut known[which.start * stride..];
        V::reflect(panel, stride, &[block.within(0, BLOCK)]);
        if !first {
            continue;
        }
        // What is behind is 0 in the first rows, and has not seen the block after this one yet.
        let block = block.within(tau_of.len(), usize::MAX);
        if end < tau.len() {
            let wide = BLOCK.min(tau.len() - end);
            let (next, others) = behind.split_at_mut(wide / PARTS * stride);
            V::reflect(next, stride, &[block]);
            let after = Block::of(odd, end, m).within(wide, usize::MAX);
            act(together, others, stride, &[after, block]);
        } else {
            act(together, behind, stride, &[block]);
        }
    }
}

/// The columns `which`, of numbers of so many `parts`, become those of the identity.
#[inline(always)]
fn identity<V: Lanes>(a: &mut [V], stride: usize, which: std::ops::Range<usize>, parts: usize) {
    let zero = a[0].like(0.0);
    for j in which {
        let column = &mut a[j * stride..][..stride];
        column.fill(zero);
        V::flat_mut(column)[j * parts] = V::Float::of(1.0);
    }
}

/// The blocks act on columns, of which several threads take some each.
pub(super) fn act<V: Lanes>(
    together: Together<'_>,
    columns: &mut [V],
    stride: usize,
    blocks: &[Block<'_, V>],
) {
    let operations = 4 * BLOCK * blocks.len() * columns.len() * V::WIDTH;
    share(
        together,
        operations,
        columns,
        stride,
        &mut [],
        &|_, part, _| V::reflect(part, stride, blocks),
    );
}
