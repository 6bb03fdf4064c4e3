//! What many reflections make of the columns of a matrix, the last reflection first: `H₁ H₂ ⋯ C`.

use super::panel::reflect;
use super::qr::act;
use super::reflect::{work_of_block, BLOCK};
use crate::lanes::{Apart, Float, Lanes};
use crate::operands::{Block, Task};
use crate::together::Together;

/// Reflections up to which they act one by one: a block of them costs as much as that many.
const ONE_BY_ONE: usize = 6;

/// Reflections, as a reduction to condensed form leaves them in the columns of a matrix.
pub(super) struct Reflections<'a, T> {
    pub(super) from: &'a [T],
    /// Numbers from one column to the next.
    pub(super) step: usize,
    /// Rows of what they act on.
    pub(super) rows: usize,
    /// 0 where reflection `j` stands in column `j`, and begins in row `j`; 1 where that is in the column before, so
    /// that the first one is none.
    pub(super) before: usize,
    /// Whether a column of `from` is one of complex numbers, whose parts are rows of their own, and so is a factor.
    pub(super) pairs: bool,
    /// A factor for each.
    pub(super) tau: &'a [T],
}

/// Vectors that [`Reflections::act`] works in.
pub(super) fn room_for_reflections(stride: usize, width: usize) -> usize {
    2 * work_of_block(stride, width) + BLOCK * stride
}

impl<T: Float> Reflections<'_, T> {
    /// Changes the columns `q`, in [`room_for_reflections`].
    #[inline(always)]
    pub(super) fn act<V: Lanes<Float = T>>(
        &self,
        (q, stride): (&mut [V], usize),
        room: &mut [V],
        together: Together<'_>,
    ) {
        let any = q[0];
        let acting = Acting {
            reflections: self,
            q,
            stride,
            room,
            together,
        };
        V::apart(acting, any);
    }
}

/// Reflections and what they act on.
struct Acting<'a, V: Lanes> {
    reflections: &'a Reflections<'a, V::Float>,
    q: &'a mut [V],
    stride: usize,
    room: &'a mut [V],
    together: Together<'a>,
}

impl<V: Lanes> Apart for Acting<'_, V> {
    #[inline(always)]
    fn run(self) {
        let Acting {
            reflections: all,
            q,
            stride,
            room,
            together,
        } = self;
        let n = all.rows;
        let len = work_of_block(stride, V::WIDTH);
        let (even, room) = room.split_at_mut(len);
        let (odd, room) = room.split_at_mut(len);
        let panel = &mut room[..BLOCK * stride];
        let zero = panel[0].like(0.0);
        let parts = if all.pairs { 2 } else { 1 };
        for (at, tau) in all.tau.chunks(BLOCK).enumerate().rev() {
            let start = at * BLOCK;
            let first = at % 2 == 0;
            let columns = tau.len() / parts;
            panel.fill(zero);
            for (c, column) in panel.chunks_exact_mut(stride).enumerate().take(columns) {
                let number = start / parts + c;
                if number >= all.before {
                    let from = &all.from[(number - all.before) * all.step..];
                    let rows = number * parts..n;
                    V::flat_mut(column)[rows.clone()].copy_from_slice(&from[rows]);
                }
            }
            let panel = &mut panel[..columns * stride];
            if parts == 1 && all.tau.len() <= ONE_BY_ONE {
                return reflect(q, panel, stride, n.div_ceil(V::WIDTH), tau);
            }
            let memory = if first { &mut *even } else { &mut *odd };
            V::prepare(panel, stride, (start, n), (tau, Task::Columns), memory);
            if !first {
                continue;
            }
            let block = Block::of(even, start, n);
            if start + BLOCK < all.tau.len() {
                let after = Block::of(odd, start + BLOCK, n);
                act(together, q, stride, &[after, block]);
            } else {
                act(together, q, stride, &[block]);
            }
        }
    }
}
