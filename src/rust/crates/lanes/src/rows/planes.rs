//! Columns of complex numbers, whose real and imaginary parts are columns of their own, so that products of real
//! columns serve.

use super::reduce::dots;
use crate::lanes::{Float, Lanes};
use std::ops::Range;

/// Reflections of a panel.
pub(super) const PANEL: usize = 16;

/// The parts of two columns: what is taken from a matrix with a reflection is two products of a column and a row.
pub(super) type Two<'a, V> = [&'a [V]; 4];

/// The two columns of reflection `k` of a panel, in some rows.
#[inline(always)]
pub(super) fn two_of<V>(known: &[V], stride: usize, k: usize, rows: Range<usize>) -> Two<'_, V> {
    let at = |part: usize| (part * PANEL + k) * stride;
    [
        &known[at(0)..][rows.clone()],
        &known[at(1)..][rows.clone()],
        &known[at(2)..][rows.clone()],
        &known[at(3)..][rows],
    ]
}

/// Two columns, all rows of their parts, become those of reflection `k`.
#[inline(always)]
pub(super) fn keep<V: Lanes>(known: &mut [V], stride: usize, k: usize, columns: [&[V]; 2]) {
    let parts = columns.into_iter().flat_map(|x| x.chunks_exact(stride));
    for (part, from) in parts.enumerate() {
        known[(part * PANEL + k) * stride..][..stride].copy_from_slice(from);
    }
}

/// Element `j` of both, conjugated.
#[inline(always)]
pub(super) fn conjugated<V: Lanes>(known: Two<'_, V>, j: usize) -> [[V; 2]; 2] {
    let mut numbers = [[known[0][0]; 2]; 2];
    for (part, known) in known.into_iter().enumerate() {
        let sign = if part % 2 == 0 { 1.0 } else { -1.0 };
        let number = known[0].like(sign * V::flat(known)[j].f64());
        numbers[part / 2][part % 2] = number;
    }
    numbers
}

/// The inner products of both, conjugated, with `x`.
#[inline(always)]
pub(super) fn along<V: Lanes>([re, im]: [&[V]; 2], known: Two<'_, V>) -> [[V; 2]; 2] {
    let [vr_re, vi_re, wr_re, wi_re] = dots(re, known);
    let [vr_im, vi_im, wr_im, wi_im] = dots(im, known);
    [
        [vr_re + vi_im, vr_im - vi_re],
        [wr_re + wi_im, wr_im - wi_re],
    ]
}

/// Takes both, times their factors, from `to`.
#[inline(always)]
pub(super) fn take<V: Lanes>(
    [re, im]: [&mut [V]; 2],
    [vr, vi, wr, wi]: Two<'_, V>,
    [v, w]: [[V; 2]; 2],
) {
    let rows = re.len();
    let (im, vr, vi) = (&mut im[..rows], &vr[..rows], &vi[..rows]);
    let (wr, wi) = (&wr[..rows], &wi[..rows]);
    for i in 0..rows {
        let value = vi[i].mul_add(v[1], vr[i].neg_mul_add(v[0], re[i]));
        re[i] = wi[i].mul_add(w[1], wr[i].neg_mul_add(w[0], value));
        let value = vi[i].neg_mul_add(v[0], vr[i].neg_mul_add(v[1], im[i]));
        im[i] = wi[i].neg_mul_add(w[0], wr[i].neg_mul_add(w[1], value));
    }
}

/// Factors of a panel's products that belong to the real part of `Σ v wᴴ` become those of its imaginary part.
#[inline(always)]
pub(super) fn turn<V: Lanes>(factors: &mut [V], stride: usize) {
    let plane = PANEL * stride;
    for pair in factors.chunks_exact_mut(2 * plane) {
        let (re, im) = pair.split_at_mut(plane);
        for (re, im) in re.iter_mut().zip(im) {
            (*re, *im) = (-*im, *re);
        }
    }
}

/// Some rows of both parts of a column.
#[inline(always)]
pub(super) fn both<V>(values: &mut [V], stride: usize, rows: Range<usize>) -> [&mut [V]; 2] {
    let (re, im) = values.split_at_mut(stride);
    [&mut re[rows.clone()], &mut im[rows]]
}

/// The elements `which` of a column become complex numbers side by side, or their conjugates.
#[inline(always)]
pub(super) fn interleave<V: Lanes>(
    (re, im): (&[V], &[V]),
    which: Range<usize>,
    to: &mut [V::Float],
    conjugate: bool,
) {
    let sign = if conjugate { -1.0 } else { 1.0 };
    let from = V::flat(re)[which.clone()].iter().zip(&V::flat(im)[which]);
    for (to, (re, im)) in to.chunks_exact_mut(2).zip(from) {
        (to[0], to[1]) = (*re, V::Float::of(sign * im.f64()));
    }
}

/// The rows of real columns, each times its factor, as complex numbers.
#[inline(always)]
pub(super) fn make_complex<V: Lanes>(
    (q, stride): (&[V], usize),
    factors: &[V::Float],
    (columns, wide): (&mut [V], usize),
) {
    columns.fill(columns[0].like(0.0));
    for (to, q) in columns.chunks_exact_mut(wide).zip(q.chunks_exact(stride)) {
        let to = V::flat_mut(to).chunks_exact_mut(2);
        let from = V::flat(q).iter().zip(factors.chunks_exact(2));
        for (to, (q, factor)) in to.zip(from) {
            let (q, re, im) = (q.f64(), factor[0].f64(), factor[1].f64());
            (to[0], to[1]) = (V::Float::of(q * re), V::Float::of(q * im));
        }
    }
}

/// A complex number of size 1.
#[derive(Clone, Copy)]
pub(super) struct Phase {
    re: f64,
    im: f64,
}

impl Phase {
    pub(super) const ONE: Phase = Phase { re: 1.0, im: 0.0 };

    /// The size of a number and its phase, which is 1 for 0. Such numbers are near 1, but some may be so small that
    /// their squares vanish.
    #[inline(always)]
    pub(super) fn of<T: Float>(number: &[T]) -> (f64, Phase) {
        let (x, y) = (number[0].f64(), number[1].f64());
        let largest = x.abs().max(y.abs());
        if largest == 0.0 {
            return (0.0, Phase::ONE);
        }
        let (re, im, size) = unit(x / largest, y / largest);
        (size * largest, Phase { re, im })
    }

    /// The product.
    #[inline(always)]
    pub(super) fn times(self, other: Phase) -> Phase {
        let re = self.re * other.re - self.im * other.im;
        let (re, im, _) = unit(re, self.re * other.im + self.im * other.re);
        Phase { re, im }
    }

    #[inline(always)]
    pub(super) fn conjugate(self) -> Phase {
        Phase {
            im: -self.im,
            ..self
        }
    }

    /// Its parts become a number.
    #[inline(always)]
    pub(super) fn store<T: Float>(self, number: &mut [T]) {
        (number[0], number[1]) = (T::of(self.re), T::of(self.im));
    }
}

/// A number divided by its size, and that.
#[inline(always)]
fn unit(re: f64, im: f64) -> (f64, f64, f64) {
    let size = (re * re + im * im).sqrt();
    (re / size, im / size, size)
}
