//! The first and the last rows of vectors, of which a merge asks for no more where values alone are wanted: the first two
//! lanes of a vector for each column.

use super::deflate::Deflated;
use super::share::share;
use super::solved::{of_none, Solved, TERM};
use crate::lanes::Lanes;
use crate::operands::Spectrum;
use crate::together::Together;

/// How many rows.
pub(super) const ENDS: usize = 2;

/// What is left of a merge once columns are deflated: the values become `d`, and `ends` are those of their vectors.
/// False where a root was not found.
#[inline(always)]
pub(super) fn merge<V: Lanes>(
    ends: &mut [V],
    (spectrum, d, z, rho): (Spectrum, &mut [V::Float], &[V::Float], f64),
    columns: &Deflated,
    order: &mut [u16],
    (stride, room): (usize, &mut [V]),
    together: Together<'_>,
) -> bool {
    let count = columns.kept().len();
    let (others, room) = room.split_at_mut(ends.len() - count);
    for (to, &from) in others.iter_mut().zip(columns.others()) {
        *to = ends[usize::from(from)];
    }
    let (poles, room) = room.split_at_mut(2 * stride);
    let (rows, room) = room.split_at_mut(2 * stride);
    let solved = Solved::of(spectrum, (&*d, z, rho), columns, stride, room, together);
    let Some(solved) = solved else {
        return false;
    };
    let len = solved.weights.len();
    let (poles, weights) = of_none(poles, stride, len);
    V::flat_mut(poles)[..count].copy_from_slice(solved.poles);
    V::flat_mut(weights)[..count].copy_from_slice(&V::flat(solved.weights)[..count]);
    let (first, last) = of_none(rows, stride, len);
    for (at, &from) in columns.kept().iter().enumerate() {
        let from = ends[usize::from(from)].as_slice();
        V::flat_mut(first)[at] = from[0];
        V::flat_mut(last)[at] = from[1];
    }
    let (kept, behind) = ends.split_at_mut(count);
    let of = [&*poles, &*weights, &*first, &*last];
    let terms = 2 * TERM * count * count;
    share(together, terms, kept, 1, &mut [], &|at, part, _| {
        V::ends(part, of, &solved.roots, at);
    });
    behind.copy_from_slice(others);
    solved.finish(d, columns, order);
    true
}
