//! What both kinds of merges do: with eigenvectors and without.

use super::deflate::{ascending, Deflated, MOST};
use super::share::share;
use crate::lanes::{Float, Lanes};
use crate::operands::{Roots, Secular, Spectrum};
use crate::together::Together;

/// Operations that a term of the secular equation is worth, over all steps.
const STEPS: usize = 60;
/// The same of a division and what belongs to it.
pub(super) const TERM: usize = 10;

/// Where there is no pole, as f32 or f64: farther than any that there is.
const FAR_AWAY: f64 = 1e30;

/// Vectors that [`Solved`] takes, besides those for roots, and [`of_none`] gives.
pub(super) const VECTORS: usize = 3;

/// Where the columns of two parts stand becomes where those of one stand: as the eigenvalues ascend.
#[inline(always)]
pub(super) fn join<T: Float>(d: &[T], upper: usize, order: &mut [u16]) {
    for number in &mut order[upper..] {
        *number += upper as u16;
    }
    let mut sorted = [0; MOST];
    ascending(d, order.split_at(upper), &mut sorted);
    order.copy_from_slice(&sorted[..d.len()]);
}

/// What is left of a problem after deflation, solved.
pub(super) struct Solved<'a, V: Lanes> {
    pub(super) poles: &'a [V::Float],
    pub(super) weights: &'a [V],
    pub(super) roots: Roots<'a, V>,
}

impl<'a, V: Lanes> Solved<'a, V> {
    /// Of `diag(d) + rho z zᵀ`, or of `diag(d)` with `z` as a row, if all roots are found.
    #[inline(always)]
    pub(super) fn of(
        spectrum: Spectrum,
        (d, z, rho): (&[V::Float], &[V::Float], f64),
        columns: &Deflated,
        stride: usize,
        room: &'a mut [V],
        together: Together<'_>,
    ) -> Option<Self> {
        let kept = columns.kept();
        let count = kept.len();
        let (poles, room) = room.split_at_mut(stride);
        let (kept_z, room) = room.split_at_mut(stride);
        let (weights, pairs) = room.split_at_mut(stride);
        let (poles, kept_z) = (
            &mut V::flat_mut(poles)[..count],
            &mut V::flat_mut(kept_z)[..count],
        );
        for (at, &from) in kept.iter().enumerate() {
            poles[at] = d[usize::from(from)];
            kept_z[at] = z[usize::from(from)];
        }
        let equation = &Secular {
            spectrum,
            poles,
            z: kept_z,
            rho,
        };
        let groups = count.div_ceil(V::WIDTH);
        let pairs = &mut pairs[..2 * groups];
        let terms = count * count;
        share(
            together,
            STEPS * terms,
            pairs,
            2,
            &mut [],
            &|at, part, _| {
                V::roots(part, equation, at);
            },
        );
        let roots = Roots { spectrum, pairs };
        for j in 0..count {
            if roots.at(j).1.is_nan() {
                return None;
            }
        }
        let weights = &mut weights[..groups];
        share(
            together,
            TERM * terms,
            weights,
            1,
            &mut [],
            &|at, part, _| {
                V::weights(part, equation, &roots, at);
            },
        );
        Some(Solved {
            poles,
            weights,
            roots,
        })
    }

    /// The eigenvalues become `d`, before those of columns that stay as they are, and `order` where they stand.
    #[inline(always)]
    pub(super) fn finish(&self, d: &mut [V::Float], columns: &Deflated, order: &mut [u16]) {
        let count = self.poles.len();
        let mut others = [V::Float::of(0.0); MOST];
        for (to, &from) in others.iter_mut().zip(columns.others()) {
            *to = d[usize::from(from)];
        }
        for (j, d) in d[..count].iter_mut().enumerate() {
            let (pole, distance) = self.roots.at(j);
            *d = V::Float::of(pole + distance);
        }
        d[count..].copy_from_slice(&others[..columns.others().len()]);
        let mut places = [0; MOST];
        for (at, to) in places.iter_mut().enumerate() {
            *to = at as u16;
        }
        ascending(d, places[..d.len()].split_at(count), order);
    }
}

/// Poles and weights without any.
#[inline(always)]
pub(super) fn of_none<V: Lanes>(room: &mut [V], stride: usize, len: usize) -> (&mut [V], &mut [V]) {
    let (poles, z) = room.split_at_mut(stride);
    let (poles, z) = (&mut poles[..len], &mut z[..len]);
    poles.fill(poles[0].like(FAR_AWAY));
    z.fill(z[0].like(0.0));
    (poles, z)
}
