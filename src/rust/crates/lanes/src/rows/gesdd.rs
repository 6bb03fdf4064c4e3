//! Singular values and vectors of one complex matrix, as those of a real one (`svd.rs`).

use super::back::{room_for_reflections, Reflections};
use super::complex_triplets::ComplexTriplets;
use super::near::{unit, write};
use super::qr::{complex_work_to_factor, factor_complex};
use super::reduce::stride;
use super::svd::{Results, Svd, MOST};
use super::sweep::line;
use super::{Columns, Failure};
use crate::lanes::Lanes;
use crate::scratch::Line;

impl Svd<'_> {
    /// What is reduced to bidiagonal form.
    #[inline(always)]
    fn complex_inner(&self, line: usize, width: usize) -> ComplexTriplets<'_> {
        let (m, columns) = self.reduced();
        ComplexTriplets {
            m,
            n: self.n,
            columns,
            line,
            width,
            together: self.together,
        }
    }

    /// Vectors of the whole matrix as complex numbers, or of left singular vectors, and from one column to the next.
    #[inline(always)]
    fn whole(&self, line: usize, width: usize) -> (usize, usize) {
        let stride = stride(2 * self.m, line, width);
        let columns = if self.much_taller() {
            self.columns.max(self.n)
        } else {
            self.n
        };
        (columns * stride, stride)
    }

    /// As [`scratch`](Svd::scratch), of a complex matrix.
    #[inline(always)]
    pub(crate) fn scratch_complex(&self, size: usize, width: usize) -> usize {
        let (line, n) = (size_of::<Line>() / size, self.n);
        let inner = self.complex_inner(line, width);
        let (whole, stride) = self.whole(line, width);
        let rest = inner.scratch();
        if !self.much_taller() {
            return inner.matrix() + rest.max(whole);
        }
        let factoring = complex_work_to_factor((n, n), stride, width);
        let rest = rest.max(factoring).max(room_for_reflections(stride, width));
        inner.matrix() + whole + (2 * n).div_ceil(width) + rest
    }

    /// As [`run`](Svd::run), of a complex matrix; `a` and vectors are the parts of their elements.
    #[inline(always)]
    pub(crate) fn run_complex<V: Lanes>(
        &self,
        a: &[V::Float],
        (s, long, short): Results<'_, V::Float>,
        scratch: &mut [V],
    ) -> Result<(), Failure> {
        let (m, n) = (self.m, self.n);
        let inner = self.complex_inner(line::<V>(), V::WIDTH);
        let (whole, stride) = self.whole(line::<V>(), V::WIDTH);
        let (matrix, scratch) = scratch.split_at_mut(inner.matrix());
        let mut order = [0; MOST];
        let order = &mut order[..n];
        let results = (s, &mut *short, !self.wide);
        if !self.much_taller() {
            let columns = &mut scratch[..whole];
            let scale = self.load::<V, 2>(a, columns, stride)?;
            part(
                (columns, stride),
                |_| m,
                (&mut matrix[..inner.planes()], inner.plane()),
            );
            inner.run(matrix, &scale, results, long, order, scratch)?;
            write::<V, 2>((matrix, inner.tall()), 2 * m, order, long, self.wide);
            return Ok(());
        }
        let (outer, scratch) = scratch.split_at_mut(whole);
        let (tau, scratch) = scratch.split_at_mut((2 * n).div_ceil(V::WIDTH));
        let tau = &mut V::flat_mut(tau)[..2 * n];
        let scale = self.load::<V, 2>(a, &mut outer[..n * stride], stride)?;
        let mut columns = Columns {
            m: 2 * m,
            stride,
            a: &mut outer[..n * stride],
            work: &mut *scratch,
            together: self.together,
        };
        factor_complex(&mut columns, tau);
        let vectors = self.columns > 0;
        if vectors {
            columns.store(&mut long[..2 * m * n]);
        }
        part(
            (&outer[..n * stride], stride),
            |j| j + 1,
            (&mut matrix[..inner.planes()], inner.plane()),
        );
        let room = if vectors { 2 * n * n } else { 0 };
        let reflections = &mut V::flat_mut(outer)[..room];
        inner.run(matrix, &scale, results, reflections, order, scratch)?;
        if !vectors {
            return Ok(());
        }
        unit(outer, stride, n, 2);
        let u = matrix.chunks_exact(inner.tall());
        for (to, from) in outer[..n * stride].chunks_exact_mut(stride).zip(u) {
            to.fill(to[0].like(0.0));
            V::flat_mut(to)[..2 * n].copy_from_slice(&V::flat(from)[..2 * n]);
        }
        let reflections = Reflections {
            from: &*long,
            step: 2 * m,
            rows: 2 * m,
            before: 0,
            pairs: true,
            tau,
        };
        reflections.act((&mut *outer, stride), scratch, self.together);
        write::<V, 2>((outer, stride), 2 * m, order, long, self.wide);
        Ok(())
    }
}

/// The parts of columns of complex numbers become columns of their own, real parts first: of each column the first ones,
/// and all else 0.
#[inline(always)]
fn part<V: Lanes>(
    (columns, stride): (&[V], usize),
    first: impl Fn(usize) -> usize,
    (planes, plane): (&mut [V], usize),
) {
    planes.fill(columns[0].like(0.0));
    let (re, im) = planes.split_at_mut(planes.len() / 2);
    let to = re.chunks_exact_mut(plane).zip(im.chunks_exact_mut(plane));
    for (j, (column, (re, im))) in columns.chunks_exact(stride).zip(to).enumerate() {
        let numbers = V::flat(column).chunks_exact(2).take(first(j));
        let to = V::flat_mut(re).iter_mut().zip(V::flat_mut(im));
        for ((re, im), x) in to.zip(numbers) {
            (*re, *im) = (x[0], x[1]);
        }
    }
}
