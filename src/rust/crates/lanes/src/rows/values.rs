//! Eigenvalues alone of one symmetric tridiagonal matrix, by divide and conquer: a merge asks for no more of the
//! eigenvectors than their first and last rows.

use super::conquer::solve;
use super::deflate::{tolerance, Basis, Deflated};
use super::divide::{widest, Cut, Parts};
use super::ends::{self, ENDS};
use super::secular::room_for_roots;
use super::solved::{join, VECTORS};
use crate::lanes::{Float, Lanes};
use crate::operands::{Spectrum, Stedc};
use crate::together::Together;

/// Vectors that [`values`] works in, of `n` columns of `stride` vectors.
pub(super) fn vectors(n: usize, stride: usize, width: usize) -> usize {
    2 * n + (1 + 2 * ENDS + VECTORS) * stride + room_for_roots(n, width)
}

/// The eigenvalues become `d`; `order` are their numbers as they ascend. False where something did not converge.
#[inline(always)]
fn values<V: Lanes>(
    (d, e): (&mut [V::Float], &[V::Float]),
    order: &mut [u16],
    stride: usize,
    room: &mut [V],
    together: Together<'_>,
) -> bool {
    let n = d.len();
    let cut = Cut::of(n);
    cut.tear(d, e);
    let (ends, room) = room.split_at_mut(n);
    cut.conquer::<V>(&mut Values {
        d,
        e,
        ends,
        order,
        stride,
        room,
        together,
    })
}

/// [`values`], of which `found` becomes what is returned.
#[inline(always)]
pub(crate) fn sterf<V: Lanes>(room: &mut [V], problem: &mut Stedc<'_, V::Float>, found: &mut bool) {
    let (d, e) = (&mut *problem.d, problem.e);
    *found = values(
        (d, e),
        problem.order,
        problem.stride,
        room,
        problem.together,
    );
}

/// A matrix whose eigenvalues are wanted: what [`values`] is given.
struct Values<'a, V: Lanes> {
    d: &'a mut [V::Float],
    e: &'a [V::Float],
    ends: &'a mut [V],
    order: &'a mut [u16],
    stride: usize,
    room: &'a mut [V],
    together: Together<'a>,
}

impl<V: Lanes> Parts for Values<'_, V> {
    #[inline(always)]
    fn leaves(&mut self, starts: &[usize]) -> bool {
        let problem = (&mut *self.d, self.e);
        leaves(starts, problem, (self.ends, self.order), self.room)
    }

    #[inline(always)]
    fn merge(&mut self, (start, cut, end): (usize, usize, usize)) -> bool {
        let merge = Merge {
            d: &mut self.d[start..end],
            order: &mut self.order[start..end],
            ends: &mut self.ends[start..end],
            upper: cut - start,
            beside: self.e[cut - 1].f64(),
        };
        merge.run(self.stride, self.room, self.together)
    }
}

/// The matrices between the `starts`, of which there are not more than lanes.
#[inline(always)]
fn leaves<V: Lanes>(
    starts: &[usize],
    (d, e): (&mut [V::Float], &[V::Float]),
    (ends, order): (&mut [V], &mut [u16]),
    room: &mut [V],
) -> bool {
    let (block, rest) = room.split_at_mut(ENDS * widest(starts));
    block.fill(block[0].like(0.0));
    for (lane, pair) in starts.windows(2).enumerate() {
        let one = V::Float::of(1.0);
        block[0].as_mut_slice()[lane] = one;
        block[(pair[1] - pair[0]) * ENDS - 1].as_mut_slice()[lane] = one;
    }
    let converged = solve(starts, (d, e), order, block, rest);
    for (lane, pair) in starts.windows(2).enumerate() {
        let columns = block.chunks_exact(ENDS);
        for (to, from) in ends[pair[0]..pair[1]].iter_mut().zip(columns) {
            for (to, from) in to.as_mut_slice().iter_mut().zip(from) {
                *to = from.as_slice()[lane];
            }
        }
    }
    converged
}

/// Two parts of a matrix.
struct Merge<'a, V: Lanes> {
    d: &'a mut [V::Float],
    order: &'a mut [u16],
    ends: &'a mut [V],
    /// Rows of the first part.
    upper: usize,
    /// What is beside the diagonal between them.
    beside: f64,
}

impl<V: Lanes> Merge<'_, V> {
    /// False where a root was not found.
    #[inline(always)]
    fn run(self, stride: usize, room: &mut [V], together: Together<'_>) -> bool {
        let Merge {
            d,
            order,
            ends,
            upper,
            beside,
        } = self;
        let size = d.len();
        let (z, room) = room.split_at_mut(stride);
        let z = &mut V::flat_mut(z)[..size];
        let half = std::f64::consts::FRAC_1_SQRT_2;
        for (c, (z, ends)) in z.iter_mut().zip(&mut *ends).enumerate() {
            let ends = ends.as_mut_slice();
            let (at_cut, factor) = if c < upper {
                (1, half)
            } else {
                (0, half.copysign(beside))
            };
            *z = V::Float::of(ends[at_cut].f64() * factor);
            ends[at_cut] = V::Float::of(0.0);
        }
        join(d, upper, order);
        let rho = 2.0 * beside.abs();
        let mut columns = Deflated::new(upper);
        let basis = Basis {
            q: &mut *ends,
            stride: 1,
            rows: 0..1,
        };
        let tolerance = tolerance(d, z);
        columns.find((&mut *d, &mut *z), (rho, tolerance), order, &mut [basis]);
        if columns.kept().is_empty() {
            return true;
        }
        let problem = (Spectrum::Eigenvalues, d, &*z, rho);
        ends::merge(ends, problem, &columns, order, (stride, room), together)
    }
}
