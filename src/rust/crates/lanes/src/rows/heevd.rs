//! Eigenvalues and eigenvectors of one Hermitian matrix, as those of a symmetric one (`eigh.rs`). The tridiagonal
//! matrix is made real, so its eigenvectors are; a reflection with a real factor is two real ones of columns of twice
//! the rows, in which real and imaginary parts stand as in complex numbers: `I - tau v vᴴ` is those of `v` and
//! of `i v`, which are orthogonal.

use super::back::{room_for_reflections, Reflections};
use super::conquer;
use super::eigh::{columns_in_order, in_order, Eigh};
use super::hetrd::{hetrd, work_to_reduce, Results};
use super::near::bring_near_1;
use super::planes::{make_complex, Phase};
use super::product::packed;
use super::reduce::stride;
use super::sweep::line;
use super::values;
use super::Failure;
use crate::lanes::{Float, Lanes};
use crate::operands::{Room, Stedc};
use crate::scratch::Line;
use matrices::Triangle;

pub(crate) use super::deflate::MOST;

/// Vectors of the parts of a matrix, which become columns of twice the rows, and of what reflections act in.
fn matrices(n: usize, stride: usize, wide: usize, width: usize) -> [usize; 2] {
    let parts = (2 * n * stride).max(n * wide).max(conquer::LEAST);
    let room = (n * stride).max(room_for_reflections(wide, width));
    [parts, room.max(conquer::LEAST)]
}

impl Eigh<'_> {
    /// As [`scratch`](Eigh::scratch), of a Hermitian matrix.
    #[inline(always)]
    pub(crate) fn scratch_hermitian(&self, size: usize, width: usize) -> usize {
        let n = self.n;
        let line = size_of::<Line>() / size;
        let (stride, wide) = (stride(n, line, width), stride(2 * n, line, width));
        let [parts, room] = matrices(n, stride, wide, width);
        let rest = if self.vectors {
            let rest = conquer::vectors(n, stride, width);
            n * stride + room + rest + packed(stride, n, width)
        } else {
            values::vectors(n, stride, width).max(conquer::LEAST)
        };
        parts + 2 * stride + 2 * wide + rest.max(work_to_reduce(stride, width))
    }

    /// As [`run`](Eigh::run), of a Hermitian matrix; `a` are the parts of its elements.
    #[inline(always)]
    pub(crate) fn run_hermitian<V: Lanes>(
        &self,
        a: &mut [V::Float],
        w: &mut [V::Float],
        scratch: &mut [V],
    ) -> Result<(), Failure> {
        let n = self.n;
        let (stride, wide) = (
            stride(n, line::<V>(), V::WIDTH),
            stride(2 * n, line::<V>(), V::WIDTH),
        );
        let [parts, room] = matrices(n, stride, wide, V::WIDTH);
        let (matrix, scratch) = scratch.split_at_mut(parts);
        let (d, scratch) = scratch.split_at_mut(stride);
        let (e, scratch) = scratch.split_at_mut(stride);
        let (beside, scratch) = scratch.split_at_mut(wide);
        let (tau, scratch) = scratch.split_at_mut(wide);
        let planes = &mut matrix[..2 * n * stride];
        self.load_hermitian(a, planes, stride);
        let scale = bring_near_1(planes, stride).ok_or(Failure::NotFinite)?;
        let beside = &mut V::flat_mut(beside)[..2 * n];
        let tau = &mut V::flat_mut(tau)[..2 * n];
        let vectors = if self.vectors { &mut *a } else { &mut [][..] };
        let mut results = Results {
            d: &mut V::flat_mut(d)[..n],
            beside: &mut *beside,
            tau: &mut *tau,
            vectors,
        };
        hetrd((n, stride), planes, &mut results, scratch, self.together);
        make_real(beside, &mut V::flat_mut(e)[..n]);
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
        let (q, scratch) = scratch.split_at_mut(n * stride);
        let (vectors, scratch) = scratch.split_at_mut(room);
        let (rest, work) = scratch.split_at_mut(conquer::vectors(n, stride, V::WIDTH));
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
        let Room {
            packed, vectors, ..
        } = room;
        let columns = &mut packed[..n * wide];
        make_complex((q, stride), beside, (columns, wide));
        let reflections = Reflections {
            from: a,
            step: 2 * n,
            rows: 2 * n,
            before: 1,
            pairs: true,
            tau,
        };
        reflections.act((columns, wide), vectors, self.together);
        scale.back(d);
        in_order(order, V::flat(d), w);
        columns_in_order(order, (columns, wide), a, 2 * n);
        Ok(())
    }

    /// The lower triangle from the one that is read, its real parts and then its imaginary parts; all else becomes 0.
    #[inline(always)]
    fn load_hermitian<V: Lanes>(&self, a: &[V::Float], planes: &mut [V], stride: usize) {
        let n = self.n;
        planes.fill(planes[0].like(0.0));
        let rows = stride * V::WIDTH;
        let (re, im) = planes.split_at_mut(n * stride);
        let (re, im) = (V::flat_mut(re), V::flat_mut(im));
        for (j, from) in a.chunks_exact(2 * n).enumerate() {
            let read = match self.triangle {
                Triangle::Lower => j..n,
                Triangle::Upper => 0..j + 1,
            };
            for i in read {
                let (x, y) = (from[2 * i], from[2 * i + 1]);
                // What is beside the diagonal is not looked at, but has to be finite.
                let (at, y) = match self.triangle {
                    _ if i == j => (j * rows + j, V::Float::of(y.f64() - y.f64())),
                    Triangle::Lower => (j * rows + i, y),
                    Triangle::Upper => (i * rows + j, V::Float::of(-y.f64())),
                };
                (re[at], im[at]) = (x, y);
            }
        }
    }
}

/// What is beside the diagonal becomes the diagonal, in parts, of the matrix that makes that real, and `e` the sizes.
#[inline(always)]
fn make_real<T: Float>(beside: &mut [T], e: &mut [T]) {
    let mut factor = Phase::ONE;
    for (e, beside) in e.iter_mut().zip(beside.chunks_exact_mut(2)) {
        let (size, phase) = Phase::of(beside);
        factor.store(beside);
        *e = T::of(size);
        factor = factor.times(phase);
    }
}
