//! Singular values and vectors of one complex matrix by its bidiagonal form, as those of a real one (`triplets.rs`). That
//! form is made real, so its singular vectors are; what reflections make of them is as in `heevd.rs`.

use super::back::{room_for_reflections, Reflections};
use super::bdsdc::Bdsdc;
use super::bidiagonal::places;
use super::gebrd::{gebrd, work_to_reduce, Reduced};
use super::near::{descending, unit, write};
use super::planes::{make_complex, Phase};
use super::reduce::stride;
use super::Failure;
use crate::lanes::{Float, Lanes};
use crate::scale::Scale;
use crate::together::Together;

/// A matrix of `m` rows and `n` columns, which are not more. A line is so many numbers.
pub(super) struct ComplexTriplets<'a> {
    pub(super) m: usize,
    pub(super) n: usize,
    /// Left singular vectors, at least `n`; 0 where no vectors are wanted.
    pub(super) columns: usize,
    pub(super) line: usize,
    pub(super) width: usize,
    pub(super) together: Together<'a>,
}

impl<'a> ComplexTriplets<'a> {
    /// Vectors from one column to the next, of so many numbers.
    #[inline(always)]
    fn stride(&self, rows: usize) -> usize {
        stride(rows, self.line, self.width)
    }

    /// The same of the parts of the matrix.
    #[inline(always)]
    pub(super) fn plane(&self) -> usize {
        self.stride(self.m)
    }

    /// The same of left singular vectors, as complex numbers.
    #[inline(always)]
    pub(super) fn tall(&self) -> usize {
        self.stride(2 * self.m)
    }

    /// Vectors of the parts of the matrix.
    #[inline(always)]
    pub(super) fn planes(&self) -> usize {
        2 * places(self.n, self.line) * self.plane()
    }

    /// Vectors of the same, in whose place singular vectors come.
    #[inline(always)]
    pub(super) fn matrix(&self) -> usize {
        if self.columns == 0 {
            return self.planes();
        }
        let vectors = (self.columns * self.tall()).max(self.n * self.stride(2 * self.n));
        self.planes().max(vectors)
    }

    /// The bidiagonal form.
    #[inline(always)]
    fn bdsdc(&self) -> Bdsdc<'a> {
        Bdsdc {
            n: self.n,
            stride: self.stride(self.n),
            vectors: self.columns > 0,
            together: self.together,
        }
    }

    /// Vectors of the parts of as many numbers as columns, and of one more.
    #[inline(always)]
    fn row(&self) -> usize {
        (2 * self.n + 2).div_ceil(self.width)
    }

    /// Vectors that [`run`](ComplexTriplets::run) works in.
    #[inline(always)]
    pub(super) fn scratch(&self) -> usize {
        let bdsdc = self.bdsdc();
        let mut rest = bdsdc.scratch(self.width);
        if self.columns > 0 {
            let room = room_for_reflections(self.tall(), self.width);
            rest = 2 * self.n * bdsdc.stride + rest.max(room);
        }
        6 * self.row() + rest.max(work_to_reduce(self.plane(), self.width))
    }

    /// The singular values become `s`, descending, once they are scaled back, and the left singular vectors columns of
    /// `matrix`, of which this is the real and the imaginary parts; `order` are their numbers as the values descend. The
    /// right ones become the columns of `short`, conjugated as rows of `Vᴴ` are, or its `rows`. `reflections` is room for
    /// the left reflections, `m` complex numbers each.
    #[inline(always)]
    pub(super) fn run<V: Lanes>(
        &self,
        matrix: &mut [V],
        scale: &Scale<V>,
        (s, short, rows): (&mut [V::Float], &mut [V::Float], bool),
        reflections: &mut [V::Float],
        order: &mut [u16],
        scratch: &mut [V],
    ) -> Result<(), Failure> {
        let (m, n) = (self.m, self.n);
        let (numbers, scratch) = scratch.split_at_mut(6 * self.row());
        numbers.fill(matrix[0].like(0.0));
        let mut numbers = numbers.chunks_exact_mut(self.row());
        let [d, e, d_parts, e_parts, left, right] =
            std::array::from_fn(|_| numbers.next().unwrap_or_default());
        let d_parts = &mut V::flat_mut(d_parts)[..2 * n];
        let e_parts = &mut V::flat_mut(e_parts)[..2 * n];
        let left = &mut V::flat_mut(left)[..2 * n];
        // The first right reflection begins in the second row, so that there is none of the first one.
        let right = V::flat_mut(right);
        let mut results = Reduced {
            d: &mut *d_parts,
            e: &mut *e_parts,
            left: &mut *left,
            right: &mut right[2..],
            left_vectors: &mut *reflections,
            right_vectors: &mut *short,
        };
        let planes = &mut matrix[..self.planes()];
        let sizes = (m, n, self.plane());
        gebrd(sizes, planes, &mut results, scratch, self.together);
        let real = [V::flat_mut(d), V::flat_mut(e)];
        make_real([&mut *d_parts, &mut *e_parts], real);
        let bdsdc = self.bdsdc();
        let square = if self.columns > 0 {
            n * bdsdc.stride
        } else {
            0
        };
        let (u, scratch) = scratch.split_at_mut(square);
        let (w, scratch) = scratch.split_at_mut(square);
        let found = bdsdc.run([&mut *d, e], [&mut *u, &mut *w], order, scratch);
        descending(scale, d, order, s);
        if !found {
            return Err(Failure::NotConverged);
        }
        if self.columns == 0 {
            return Ok(());
        }
        let of_right = Reflections {
            from: &*short,
            step: 2 * n,
            rows: 2 * n,
            before: 1,
            pairs: true,
            tau: &right[..2 * n],
        };
        let columns = self.back(matrix, (&*w, &*e_parts), n, &of_right, scratch);
        write::<V, 2>(columns, 2 * n, order, short, rows);
        let of_left = Reflections {
            from: &*reflections,
            step: 2 * m,
            rows: 2 * m,
            before: 0,
            pairs: true,
            tau: &*left,
        };
        self.back(matrix, (&*u, &*d_parts), self.columns, &of_left, scratch);
        Ok(())
    }

    /// From singular vectors of the real bidiagonal matrix, the rows of which have factors, so many of the whole one, and
    /// vectors from one column to the next.
    #[inline(always)]
    fn back<'m, V: Lanes>(
        &self,
        matrix: &'m mut [V],
        (q, factors): (&[V], &[V::Float]),
        count: usize,
        reflections: &Reflections<'_, V::Float>,
        scratch: &mut [V],
    ) -> (&'m [V], usize) {
        let stride = self.stride(reflections.rows);
        let columns = &mut matrix[..count * stride];
        let first = &mut columns[..self.n * stride];
        make_complex((q, self.stride(self.n)), factors, (first, stride));
        unit(columns, stride, self.n, 2);
        reflections.act((&mut *columns, stride), scratch, self.together);
        (columns, stride)
    }
}

/// The parts of the diagonal and of what is right of it become those of the diagonal matrices that make it real: of what
/// the left singular vectors are multiplied by, and, conjugated, of the right ones. The sizes become the other results.
#[inline(always)]
fn make_real<T: Float>([d_parts, e_parts]: [&mut [T]; 2], [d, e]: [&mut [T]; 2]) {
    let mut factor = Phase::ONE;
    let parts = d_parts.chunks_exact_mut(2).zip(e_parts.chunks_exact_mut(2));
    for ((d_parts, e_parts), (d, e)) in parts.zip(d.iter_mut().zip(e)) {
        let (size, phase) = Phase::of(d_parts);
        let left = factor.times(phase);
        *d = T::of(size);
        left.store(d_parts);
        let (size, phase) = Phase::of(e_parts);
        *e = T::of(size);
        factor.conjugate().store(e_parts);
        factor = left.times(phase.conjugate());
    }
}
