//! Eigenvalues and eigenvectors of one symmetric matrix: to tridiagonal form, divide and conquer, and back by blocks of
//! reflections, as LAPACK's `syevd`.

use super::back::{room_for_reflections, Reflections};
use super::conquer;
use super::near::bring_near_1;
use super::product::packed;
use super::reduce::{square, stride, tridiagonal, work_to_reduce};
use super::reflect::BLOCK;
use super::sweep::line;
use super::values;
use super::Failure;
use crate::lanes::{Float, Lanes};
use crate::operands::{Room, Stedc};
use crate::scratch::Line;
use crate::together::Together;
use matrices::Triangle;

pub(crate) use super::deflate::MOST;

/// One matrix of `n` columns.
pub(crate) struct Eigh<'a> {
    pub(crate) n: usize,
    pub(crate) vectors: bool,
    pub(crate) triangle: Triangle,
    pub(crate) together: Together<'a>,
}

/// Vectors of a whole matrix in which reflections can act, too, and leaves be computed.
fn matrix(n: usize, stride: usize, width: usize) -> usize {
    let reflections = room_for_reflections(stride, width);
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
        let mut found = false;
        let mut problem = Stedc {
            d: &mut V::flat_mut(d)[..n],
            e: &V::flat(e)[..n],
            order: &mut *order,
            stride,
            together: self.together,
        };
        if !self.vectors {
            V::sterf(scratch, &mut problem, &mut found);
            scale.back(d);
            in_order(order, V::flat(d), w);
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
        V::stedc(q, &mut problem, &mut room, &mut found);
        if !found {
            return Err(Failure::NotConverged);
        }
        let reflections = Reflections {
            from: a,
            step: n,
            rows: n,
            before: 1,
            pairs: false,
            tau: &tau[..n],
        };
        reflections.act((q, stride), room.vectors, self.together);
        scale.back(d);
        in_order(order, V::flat(d), w);
        columns_in_order(order, (q, stride), a, n);
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
}

/// The eigenvalues in their order.
#[inline(always)]
pub(super) fn in_order<T: Copy>(order: &[u16], d: &[T], w: &mut [T]) {
    for (w, &from) in w.iter_mut().zip(order) {
        *w = d[usize::from(from)];
    }
}

/// The eigenvectors in that order, each the first `len` numbers of a column.
#[inline(always)]
pub(super) fn columns_in_order<V: Lanes>(
    order: &[u16],
    (columns, stride): (&[V], usize),
    a: &mut [V::Float],
    len: usize,
) {
    for (a, &from) in a.chunks_exact_mut(len).zip(order) {
        let column = &columns[usize::from(from) * stride..][..stride];
        a.copy_from_slice(&V::flat(column)[..len]);
    }
}
