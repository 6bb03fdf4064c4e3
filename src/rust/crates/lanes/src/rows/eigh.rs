//! Eigenvalues and eigenvectors of one symmetric matrix: to tridiagonal form, divide and conquer, and back by blocks of
//! reflections, as LAPACK's `syevd`.

use super::all_zero;
use super::conquer::{self, conquer};
use super::merge::Room;
use super::product::packed;
use super::qr::act;
use super::reduce::{square, stride, tridiagonal, work_to_reduce};
use super::reflect::{work_of_block, BLOCK};
use super::sweep::line;
use super::values::{self, values};
use crate::block::finite;
use crate::lanes::{Float, Lanes};
use crate::operands::{Block, Task};
use crate::scale::Scale;
use crate::scratch::Line;
use crate::together::Together;
use matrices::Triangle;

pub(crate) use super::deflate::MOST;

/// Why there are no eigenvalues.
pub(crate) enum Failure {
    NotFinite,
    NotConverged,
}

/// One matrix of `n` columns.
pub(crate) struct Eigh<'a> {
    pub(crate) n: usize,
    pub(crate) vectors: bool,
    pub(crate) triangle: Triangle,
    pub(crate) together: Together<'a>,
}

/// Vectors of a whole matrix in which reflections can act, too, and leaves be computed.
fn matrix(n: usize, stride: usize, width: usize) -> usize {
    let reflections = 2 * work_of_block(stride, width) + 2 * BLOCK * stride;
    (n * stride).max(reflections).max(conquer::LEAST)
}

impl Eigh<'_> {
    /// Vectors of `width` numbers of a `size` in bytes that [`run`](Eigh::run) works in.
    #[inline(always)]
    pub(crate) fn scratch(&self, size: usize, width: usize) -> usize {
        let n = self.n;
        let stride = stride(n, size_of::<Line>() / size, width);
        let (whole, rest) = if self.vectors {
            let whole = matrix(n, stride, width);
            let rest = conquer::vectors(n, stride, width);
            (whole, 2 * whole + rest + packed(stride, n, width))
        } else {
            let rest = values::vectors(n, stride, width);
            (n * stride, rest.max(conquer::LEAST))
        };
        whole + 3 * stride + 1 + rest.max(work_to_reduce(stride, width))
    }

    /// The eigenvalues, ascending, become `w`, and `a` the eigenvectors where these are wanted.
    #[inline(always)]
    pub(crate) fn run<V: Lanes>(
        &self,
        a: &mut [V::Float],
        w: &mut [V::Float],
        scratch: &mut [V],
    ) -> Result<(), Failure> {
        let n = self.n;
        let stride = stride(n, line::<V>(), V::WIDTH);
        let whole = if self.vectors {
            matrix(n, stride, V::WIDTH)
        } else {
            n * stride
        };
        let (matrix, scratch) = scratch.split_at_mut(whole);
        let (d, scratch) = scratch.split_at_mut(stride);
        let (e, scratch) = scratch.split_at_mut(stride);
        let (tau, scratch) = scratch.split_at_mut(stride + 1);
        self.load(a, &mut matrix[..n * stride], stride);
        let scale = bring_near_1(&mut matrix[..n * stride], stride).ok_or(Failure::NotFinite)?;
        square(matrix, 0..n, stride);
        let tau = &mut V::flat_mut(tau)[..=n];
        tau[0] = V::Float::of(0.0);
        let results = (
            &mut V::flat_mut(d)[..n],
            &mut V::flat_mut(e)[..n],
            &mut tau[1..],
        );
        tridiagonal((n, stride), matrix, results, scratch, self.together);
        let mut order = [0; MOST];
        let order = &mut order[..n];
        let problem = (&mut V::flat_mut(d)[..n], &V::flat(e)[..n]);
        if !self.vectors {
            let found = values(problem, order, stride, scratch, self.together);
            scale.back(d);
            for (w, &from) in w.iter_mut().zip(&*order) {
                *w = V::flat(d)[usize::from(from)];
            }
            return found.then_some(()).ok_or(Failure::NotConverged);
        }
        for (j, (to, from)) in a
            .chunks_exact_mut(n)
            .zip(matrix.chunks_exact(stride))
            .enumerate()
        {
            to[j..].copy_from_slice(&V::flat(from)[j..n]);
        }
        let (q, scratch) = scratch.split_at_mut(whole);
        let (vectors, scratch) = scratch.split_at_mut(whole);
        let (rest, work) = scratch.split_at_mut(conquer::vectors(n, stride, V::WIDTH));
        let q = &mut q[..n * stride];
        let mut room = Room {
            stride,
            packed: matrix,
            vectors,
            rest,
            work,
        };
        if !conquer(problem, q, order, &mut room, self.together) {
            return Err(Failure::NotConverged);
        }
        self.back(a, &tau[..n], (q, stride), room.vectors);
        scale.back(d);
        for ((w, a), &from) in w.iter_mut().zip(a.chunks_exact_mut(n)).zip(&*order) {
            let from = usize::from(from);
            *w = V::flat(d)[from];
            a.copy_from_slice(&V::flat(&q[from * stride..][..stride])[..n]);
        }
        Ok(())
    }

    /// The lower triangle from the one that is read; all else becomes 0.
    #[inline(always)]
    fn load<V: Lanes>(&self, a: &[V::Float], matrix: &mut [V], stride: usize) {
        let n = self.n;
        matrix.fill(matrix[0].like(0.0));
        match self.triangle {
            Triangle::Lower => {
                let columns = matrix.chunks_exact_mut(stride).zip(a.chunks_exact(n));
                for (j, (to, from)) in columns.enumerate() {
                    V::flat_mut(to)[j..n].copy_from_slice(&from[j..]);
                }
            }
            Triangle::Upper => {
                // A few columns at a time, so that what is written stays in the cache.
                for (at, group) in matrix.chunks_mut(BLOCK * stride).enumerate() {
                    let first = at * BLOCK;
                    let group = V::flat_mut(group);
                    for i in first..n {
                        let row = &a[i * n..][first..=i.min(first + BLOCK - 1)];
                        let columns = group.chunks_exact_mut(stride * V::WIDTH);
                        for (to, from) in columns.zip(row) {
                            to[i] = *from;
                        }
                    }
                }
            }
        }
    }

    /// The eigenvectors of the matrix from those of its tridiagonal form: `a` has the reflections.
    #[inline(always)]
    fn back<V: Lanes>(
        &self,
        a: &[V::Float],
        tau: &[V::Float],
        (q, stride): (&mut [V], usize),
        room: &mut [V],
    ) {
        let n = self.n;
        let len = work_of_block(stride, V::WIDTH);
        let (even, room) = room.split_at_mut(len);
        let (odd, room) = room.split_at_mut(len);
        let panel = &mut room[..BLOCK * stride];
        let zero = panel[0].like(0.0);
        for (at, tau) in tau.chunks(BLOCK).enumerate().rev() {
            let start = at * BLOCK;
            let first = at % 2 == 0;
            // Reflection `j` begins in row `j + 1`, so that of row 0 is none.
            panel.fill(zero);
            for (c, column) in panel.chunks_exact_mut(stride).enumerate().take(tau.len()) {
                let row = start + c;
                if row > 0 {
                    let from = &a[(row - 1) * n..][row..n];
                    V::flat_mut(column)[row..n].copy_from_slice(from);
                }
            }
            let panel = &panel[..tau.len() * stride];
            let memory = if first { &mut *even } else { &mut *odd };
            V::prepare(panel, stride, (start, n), (tau, Task::Columns), memory);
            if !first {
                continue;
            }
            let block = Block::of(even, start, n);
            if start + BLOCK < n {
                let after = Block::of(odd, start + BLOCK, n);
                act(self.together, q, stride, &[after, block]);
            } else {
                act(self.together, q, stride, &[block]);
            }
        }
    }
}

/// A matrix brought near 1; none if it is not finite.
#[inline(always)]
fn bring_near_1<V: Lanes>(matrix: &mut [V], stride: usize) -> Option<Scale<V>> {
    let zero = matrix[0].like(0.0);
    let (mut sum, mut largest) = (zero, zero);
    for column in matrix.chunks_exact(stride) {
        sum += finite(column);
        for value in column {
            largest = value.abs().max(largest);
        }
    }
    if !all_zero(sum) {
        return None;
    }
    let mut size = 0.0_f64;
    for lane in largest.as_slice() {
        size = size.max(lane.f64());
    }
    let scale = Scale::of(zero.like(size));
    scale.there(matrix);
    Some(scale)
}
