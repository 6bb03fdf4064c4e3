//! Vectors of the [roots](super::secular) of the secular equation: with the `z` of which these are exact they are
//! orthogonal, however exact the roots are (Gu and Eisenstat, as there).

use super::panel::total;
use super::poles::{Compare, Numbers, Squares};
use super::reflect::BLOCK;
use crate::lanes::{Float, Lanes};
use crate::operands::{Roots, Secular, Spectrum, Spread};

/// The `z` of which the roots are exact, from group `first` on (Löwner's formula), but for the factor `rho`, which all
/// have in common.
#[inline(always)]
pub(crate) fn weights<V: Lanes>(
    z: &mut [V],
    equation: &Secular<'_, V::Float>,
    roots: &Roots<'_, V>,
    first: usize,
) {
    match roots.spectrum {
        Spectrum::Eigenvalues => weights_by::<V, Numbers>(z, equation, roots, first),
        Spectrum::SingularValues => weights_by::<V, Squares>(z, equation, roots, first),
    }
}

#[inline(always)]
fn weights_by<V: Lanes, C: Compare>(
    z: &mut [V],
    equation: &Secular<'_, V::Float>,
    roots: &Roots<'_, V>,
    first: usize,
) {
    let count = equation.poles.len();
    for (group, z) in z.iter_mut().enumerate() {
        let zero = z.like(0.0);
        let start = (first + group) * V::WIDTH;
        let (mut here, mut signs) = (zero, zero);
        for lane in 0..V::WIDTH {
            let i = (start + lane).min(count - 1);
            here.as_mut_slice()[lane] = equation.poles[i];
            signs.as_mut_slice()[lane] = equation.z[i];
        }
        let mut product = zero.like(1.0);
        for (j, pole) in equation.poles.iter().enumerate() {
            let (origin, distance) = roots.at(j);
            let (origin, distance) = (zero.like(origin), zero.like(distance));
            let above = C::apart((here - origin) - distance, here, origin + distance);
            let pole = zero.like(pole.f64());
            let apart = C::apart(here - pole, here, pole);
            // The pole itself has no other factor.
            product = product * (above / apart.if_equal(zero, zero.like(1.0), apart));
        }
        *z = product.abs().sqrt().copysign(signs);
    }
}

/// The negative vectors, of norm 1, from that of root `first` on.
#[inline(always)]
pub(crate) fn spread<V: Lanes>(columns: &mut [V], stride: usize, of: &Spread<'_, V>, first: usize) {
    match (of.roots.spectrum, of.left) {
        (Spectrum::Eigenvalues, _) => {
            spread_by::<V, Numbers, false>(columns, stride, of, first);
        }
        (Spectrum::SingularValues, None) => {
            spread_by::<V, Squares, false>(columns, stride, of, first);
        }
        (Spectrum::SingularValues, Some(_)) => {
            spread_by::<V, Squares, true>(columns, stride, of, first);
        }
    }
}

/// Of left singular vectors an element is the right one's times its pole, and the one of the row that is `z`, where the
/// pole is 0, is the sum of the right vector's elements times `z`, which is -1.
#[inline(always)]
fn spread_by<V: Lanes, C: Compare, const LEFT: bool>(
    columns: &mut [V],
    stride: usize,
    of: &Spread<'_, V>,
    first: usize,
) {
    let len = of.poles.len();
    let (poles, z) = (of.poles, &of.z[..len]);
    let tall = BLOCK / V::WIDTH;
    for (j, column) in columns.chunks_exact_mut(stride).enumerate() {
        let column = &mut column[..len];
        let zero = column[0].like(0.0);
        let (origin, distance) = of.roots.at(first + j);
        let (origin, distance) = (zero.like(origin), zero.like(distance));
        let at = origin + distance;
        let mut squares = [zero; BLOCK];
        let each = column
            .chunks_mut(tall)
            .zip(poles.chunks(tall))
            .zip(z.chunks(tall));
        for ((to, poles), z) in each {
            let each = to.iter_mut().zip(poles).zip(z).zip(&mut squares[..tall]);
            for (((to, pole), z), square) in each {
                let mut value = *z / C::apart((*pole - origin) - distance, *pole, at);
                if LEFT {
                    value = value * *pole;
                }
                *to = value;
                *square = value.mul_add(value, *square);
            }
        }
        let mut square = total(squares, tall).f64();
        if let (true, Some(row)) = (LEFT, of.left) {
            V::flat_mut(column)[row] = V::Float::of(-1.0);
            square += 1.0;
        }
        let factor = zero.like(-1.0) / zero.like(square).sqrt();
        for value in column {
            *value = *value * factor;
        }
    }
}

/// The first and the last rows of eigenvectors or right singular vectors of norm 1, as [`spread`] has them with another
/// sign, from that of root `first` on: the first two lanes. Given are poles and `z`, and those rows of the basis, all in
/// the same order.
#[inline(always)]
pub(crate) fn ends<V: Lanes>(columns: &mut [V], of: [&[V]; 4], roots: &Roots<'_, V>, first: usize) {
    match roots.spectrum {
        Spectrum::Eigenvalues => ends_by::<V, Numbers>(columns, of, roots, first),
        Spectrum::SingularValues => ends_by::<V, Squares>(columns, of, roots, first),
    }
}

#[inline(always)]
fn ends_by<V: Lanes, C: Compare>(
    columns: &mut [V],
    [poles, z, upper, lower]: [&[V]; 4],
    roots: &Roots<'_, V>,
    first: usize,
) {
    let tall = BLOCK / V::WIDTH;
    for (j, to) in columns.iter_mut().enumerate() {
        let zero = to.like(0.0);
        let (origin, distance) = roots.at(first + j);
        let (origin, distance) = (zero.like(origin), zero.like(distance));
        let mut sums = [[zero; BLOCK]; 3];
        let [squares, uppers, lowers] = &mut sums;
        let mut at = 0;
        while at < poles.len() {
            for q in 0..tall.min(poles.len() - at) {
                let pole = poles[at + q];
                let apart = C::apart((pole - origin) - distance, pole, origin + distance);
                let value = z[at + q] / apart;
                squares[q] = value.mul_add(value, squares[q]);
                uppers[q] = value.mul_add(upper[at + q], uppers[q]);
                lowers[q] = value.mul_add(lower[at + q], lowers[q]);
            }
            at += tall;
        }
        let [squares, upper, lower] = sums.map(|sums| total(sums, tall).f64());
        *to = zero;
        let size = squares.sqrt();
        to.as_mut_slice()[0] = V::Float::of(upper / size);
        to.as_mut_slice()[1] = V::Float::of(lower / size);
    }
}
