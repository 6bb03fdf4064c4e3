//! Singular values and vectors of one complex matrix, as those of a real one (`svd.rs`). The bidiagonal matrix is made
//! real, so its singular vectors are; what reflections make of them is as in `heevd.rs`.

use super::back::{room_for_reflections, Reflections};
use super::bdsdc::Bdsdc;
use super::bidiagonal::places;
use super::gebrd::{gebrd, work_to_reduce, Reduced};
use super::near::{bring_near_1, descending, unit, write};
use super::planes::{make_complex, Phase};
use super::reduce::stride;
use super::reflect::BLOCK;
use super::svd::{Results, Svd, MOST};
use super::sweep::line;
use super::Failure;
use crate::lanes::{Float, Lanes};
use crate::scratch::Line;

/// Vectors from one column to the next of the parts of a matrix and of the vectors of its bidiagonal form, and of those
/// of complex numbers as they stand beside each other; and how many vectors hold what.
struct Sizes {
    stride: usize,
    square: usize,
    tall: usize,
    wide: usize,
    /// The parts of the matrix, which become singular vectors.
    parts: usize,
    /// As many numbers as the parts of a row have, and two more.
    row: usize,
}

impl Svd<'_> {
    #[inline(always)]
    fn sizes(&self, line: usize, width: usize) -> Sizes {
        let (m, n) = (self.m, self.n);
        let of = |rows: usize| stride(rows, line, width);
        let (tall, wide) = (of(2 * m), of(2 * n));
        let parts = 2 * places(n, line) * of(m);
        let vectors = (self.columns * tall).max(n * wide);
        Sizes {
            stride: of(m),
            square: of(n),
            tall,
            wide,
            parts: if self.columns > 0 {
                parts.max(vectors)
            } else {
                parts
            },
            row: (2 * n + 2).div_ceil(width),
        }
    }

    /// The bidiagonal form.
    #[inline(always)]
    fn bdsdc(&self, square: usize) -> Bdsdc<'_> {
        Bdsdc {
            n: self.n,
            stride: square,
            vectors: self.columns > 0,
            together: self.together,
        }
    }

    /// As [`scratch`](Svd::scratch), of a complex matrix.
    #[inline(always)]
    pub(crate) fn scratch_complex(&self, size: usize, width: usize) -> usize {
        let sizes = self.sizes(size_of::<Line>() / size, width);
        let inner = self.bdsdc(sizes.square).scratch(width);
        let rest = if self.columns > 0 {
            2 * self.n * sizes.square + inner.max(room_for_reflections(sizes.tall, width))
        } else {
            inner
        };
        sizes.parts + 6 * sizes.row + rest.max(work_to_reduce(sizes.stride, width))
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
        let sizes = self.sizes(line::<V>(), V::WIDTH);
        let stride = sizes.stride;
        let (matrix, scratch) = scratch.split_at_mut(sizes.parts);
        let (numbers, scratch) = scratch.split_at_mut(6 * sizes.row);
        numbers.fill(matrix[0].like(0.0));
        let mut numbers = numbers.chunks_exact_mut(sizes.row);
        let [d, e, d_parts, e_parts, left, right] =
            std::array::from_fn(|_| numbers.next().unwrap_or_default());
        let planes = &mut matrix[..2 * places(n, line::<V>()) * stride];
        self.load_complex(a, planes, stride);
        let scale = bring_near_1(planes, stride).ok_or(Failure::NotFinite)?;
        // The first right reflection begins in the second row, so that there is none of the first one.
        let (left, right) = (&mut V::flat_mut(left)[..2 * n], V::flat_mut(right));
        let [d_parts, e_parts] = [d_parts, e_parts].map(|parts| &mut V::flat_mut(parts)[..2 * n]);
        let vectors = self.columns > 0;
        let mut results = Reduced {
            d: &mut *d_parts,
            e: &mut *e_parts,
            left: &mut *left,
            right: &mut right[2..],
            left_vectors: if vectors { &mut *long } else { &mut [] },
            right_vectors: if vectors { &mut *short } else { &mut [] },
        };
        gebrd((m, n, stride), planes, &mut results, scratch, self.together);
        make_real(
            [&mut *d_parts, &mut *e_parts],
            [&mut *d, &mut *e].map(V::flat_mut),
        );
        let square = if vectors { n * sizes.square } else { 0 };
        let (u, scratch) = scratch.split_at_mut(square);
        let (w, scratch) = scratch.split_at_mut(square);
        let mut order = [0; MOST];
        let order = &mut order[..n];
        let problem = self.bdsdc(sizes.square);
        let found = problem.run([&mut *d, e], [&mut *u, &mut *w], order, scratch);
        descending(&scale, d, order, s);
        if !found {
            return Err(Failure::NotConverged);
        }
        if !vectors {
            return Ok(());
        }
        let right = (e_parts, &right[..2 * n], n, 1, sizes.wide, n);
        let left = (d_parts, &*left, m, 0, sizes.tall, self.columns);
        let sides = [
            (&*w, right, short, !self.wide),
            (&*u, left, long, self.wide),
        ];
        for (q, (factors, tau, rows, before, stride, count), to, as_rows) in sides {
            let columns = &mut matrix[..count * stride];
            make_complex(
                (q, sizes.square),
                factors,
                (&mut columns[..n * stride], stride),
            );
            unit(columns, stride, n, 2);
            let reflections = Reflections {
                from: &*to,
                step: 2 * rows,
                rows: 2 * rows,
                before,
                pairs: true,
                tau,
            };
            reflections.act((&mut *columns, stride), scratch, self.together);
            write::<V, 2>((columns, stride), 2 * rows, order, to, as_rows);
        }
        Ok(())
    }

    /// The real parts of the columns of the matrix, then their imaginary parts; all else becomes 0.
    #[inline(always)]
    fn load_complex<V: Lanes>(&self, a: &[V::Float], planes: &mut [V], stride: usize) {
        let (m, n) = (self.m, self.n);
        planes.fill(planes[0].like(0.0));
        let (re, im) = planes.split_at_mut(planes.len() / 2);
        let columns = re[..n * stride].chunks_mut(BLOCK * stride);
        let groups = columns.zip(im[..n * stride].chunks_mut(BLOCK * stride));
        // A few columns at a time, so that what is written stays in the cache.
        for (at, (re, im)) in groups.enumerate() {
            let (first, rows) = (at * BLOCK, stride * V::WIDTH);
            let (re, im) = (V::flat_mut(re), V::flat_mut(im));
            if self.wide {
                for (i, row) in a.chunks_exact(2 * n).enumerate() {
                    let row = row[2 * first..].chunks_exact(2);
                    let columns = re.chunks_exact_mut(rows).zip(im.chunks_exact_mut(rows));
                    for ((re, im), x) in columns.zip(row) {
                        (re[i], im[i]) = (x[0], x[1]);
                    }
                }
                continue;
            }
            let columns = re.chunks_exact_mut(rows).zip(im.chunks_exact_mut(rows));
            for ((re, im), column) in columns.zip(a[2 * m * first..].chunks_exact(2 * m)) {
                for ((re, im), x) in re.iter_mut().zip(im).zip(column.chunks_exact(2)) {
                    (*re, *im) = (x[0], x[1]);
                }
            }
        }
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
