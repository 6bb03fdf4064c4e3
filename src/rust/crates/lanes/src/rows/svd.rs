//! Singular values and vectors of one matrix: of the tall one of it and its transposed. Where that is much taller than
//! wide, `R` of its QR factorisation is decomposed (Chan, An improved algorithm for computing the singular value
//! decomposition, ACM Trans. Math. Softw. 8, 1982).

use super::back::{room_for_reflections, Reflections};
use super::bidiagonal::places;
use super::near::{bring_near_1, unit, write};
use super::qr::{factor, work_to_factor};
use super::reduce::stride;
use super::reflect::BLOCK;
use super::sweep::line;
use super::triplets::Triplets;
use super::{Columns, Failure};
use crate::lanes::Lanes;
use crate::scale::Scale;
use crate::scratch::Line;
use crate::together::Together;

pub(crate) use super::deflate::MOST;

/// One matrix that has `m` rows and `n` columns, which are not more, once it is transposed if `wide`.
pub(crate) struct Svd<'a> {
    pub(crate) m: usize,
    pub(crate) n: usize,
    /// Left singular vectors, at least `n`; 0 where no vectors are wanted.
    pub(crate) columns: usize,
    pub(crate) wide: bool,
    pub(crate) together: Together<'a>,
}

/// The singular values, descending; the left singular vectors as columns and the right ones as rows, or the other way
/// round where the matrix is wide.
pub(crate) type Results<'a, T> = (&'a mut [T], &'a mut [T], &'a mut [T]);

impl<'a> Svd<'a> {
    #[inline(always)]
    pub(super) fn much_taller(&self) -> bool {
        5 * self.m > 8 * self.n
    }

    /// Rows of what is reduced to bidiagonal form, and its left singular vectors.
    #[inline(always)]
    pub(super) fn reduced(&self) -> (usize, usize) {
        if self.much_taller() {
            (self.n, self.columns.min(self.n))
        } else {
            (self.m, self.columns)
        }
    }

    /// What is reduced to bidiagonal form, in columns of so many numbers to a line.
    #[inline(always)]
    fn inner(&self, line: usize, width: usize) -> Triplets<'a> {
        let (rows, columns) = self.reduced();
        Triplets {
            m: rows,
            n: self.n,
            columns,
            stride: stride(rows, line, width),
            together: self.together,
        }
    }

    /// Vectors of the matrix, where that is not what is reduced, and of what its QR factorisation works in.
    #[inline(always)]
    fn outer(&self, line: usize, width: usize) -> (usize, usize) {
        if !self.much_taller() {
            return (0, 0);
        }
        let (n, stride) = (self.n, stride(self.m, line, width));
        let work = work_to_factor((n, n), stride, width).max(room_for_reflections(stride, width));
        (self.columns.max(n) * stride, work)
    }

    /// Vectors of `width` numbers of a `size` in bytes that [`run`](Svd::run) works in.
    #[inline(always)]
    pub(crate) fn scratch(&self, size: usize, width: usize) -> usize {
        let line = size_of::<Line>() / size;
        let (matrix, work) = self.outer(line, width);
        let inner = self.inner(line, width);
        let tau = self.n / width + 1;
        matrix + work + tau + places(self.n, line) * inner.stride + inner.scratch(width)
    }

    /// Decomposes `a`; vectors are not touched where they are not wanted.
    #[inline(always)]
    pub(crate) fn run<V: Lanes>(
        &self,
        a: &[V::Float],
        (s, long, short): Results<'_, V::Float>,
        scratch: &mut [V],
    ) -> Result<(), Failure> {
        let (m, n) = (self.m, self.n);
        let line = line::<V>();
        let (outer, work) = self.outer(line, V::WIDTH);
        let inner = self.inner(line, V::WIDTH);
        let (outer, scratch) = scratch.split_at_mut(outer);
        let (work, scratch) = scratch.split_at_mut(work);
        let (tau, scratch) = scratch.split_at_mut(n / V::WIDTH + 1);
        let tau = &mut V::flat_mut(tau)[..n];
        let (matrix, scratch) = scratch.split_at_mut(places(n, line) * inner.stride);
        let outer_stride = stride(m, line, V::WIDTH);
        let much_taller = self.much_taller();
        let (first, first_stride) = if much_taller {
            (&mut outer[..n * outer_stride], outer_stride)
        } else {
            (&mut *matrix, inner.stride)
        };
        let scale = self.load::<V, 1>(a, &mut *first, first_stride)?;
        if much_taller {
            let mut whole = Columns {
                m,
                stride: outer_stride,
                a: &mut outer[..n * outer_stride],
                work: &mut *work,
                together: self.together,
            };
            factor(&mut whole, tau);
            if self.columns > 0 {
                whole.store(&mut long[..m * n]);
            }
            matrix.fill(matrix[0].like(0.0));
            let columns = matrix.chunks_exact_mut(inner.stride);
            for (j, (to, from)) in columns.zip(whole.a.chunks_exact(outer_stride)).enumerate() {
                V::flat_mut(to)[..=j].copy_from_slice(&V::flat(from)[..=j]);
            }
        }
        let mut order = [0; MOST];
        let order = &mut order[..n];
        let results = (s, &mut *short, !self.wide);
        let u = inner.run(matrix, &scale, results, order, scratch)?;
        if self.columns == 0 {
            return Ok(());
        }
        let (mut u, mut u_stride) = (&*u, inner.stride);
        if much_taller {
            unit(outer, outer_stride, n, 1);
            let columns = outer.chunks_exact_mut(outer_stride);
            for (to, from) in columns.zip(u.chunks_exact(u_stride)) {
                to.fill(to[0].like(0.0));
                V::flat_mut(to)[..n].copy_from_slice(&V::flat(from)[..n]);
            }
            let reflections = Reflections {
                from: &*long,
                step: m,
                rows: m,
                before: 0,
                pairs: false,
                tau,
            };
            reflections.act((&mut *outer, outer_stride), work, self.together);
            (u, u_stride) = (outer, outer_stride);
        }
        write::<V, 1>((u, u_stride), m, order, long, self.wide);
        Ok(())
    }

    /// The columns of the matrix, of elements of so many `PARTS`, brought near 1; all else becomes 0.
    #[inline(always)]
    pub(super) fn load<V: Lanes, const PARTS: usize>(
        &self,
        a: &[V::Float],
        matrix: &mut [V],
        stride: usize,
    ) -> Result<Scale<V>, Failure> {
        let (m, n) = (self.m * PARTS, self.n * PARTS);
        matrix.fill(matrix[0].like(0.0));
        if self.wide {
            // A few columns at a time, so that what is written stays in the cache.
            let groups = matrix[..self.n * stride].chunks_mut(BLOCK * stride);
            for (at, group) in groups.enumerate() {
                let first = at * BLOCK * PARTS;
                let group = V::flat_mut(group);
                for (i, row) in a.chunks_exact(n).enumerate() {
                    let columns = group.chunks_exact_mut(stride * V::WIDTH);
                    for (to, from) in columns.zip(row[first..].chunks_exact(PARTS)) {
                        to[i * PARTS..][..PARTS].copy_from_slice(from);
                    }
                }
            }
        } else {
            for (to, from) in matrix.chunks_exact_mut(stride).zip(a.chunks_exact(m)) {
                V::flat_mut(to)[..m].copy_from_slice(from);
            }
        }
        bring_near_1(matrix, stride).ok_or(Failure::NotFinite)
    }
}
