//! A block of points: loops over straight-line code, which the compiler turns into vector code.
//!
//! Many short loops: a processor looks ahead over some hundred instructions, and the shorter the
//! chain of operations in a loop, the more points are under way at once.

use super::arith::Real;
use super::double;
use super::single::{cubic, starter, Cubic, Step};
use super::wrap::{wrap, wrap_far, wrap_limit};
use xla_ffi::Scalar;

/// Points per block: a multiple of every vector length, and the intermediates stay in the first
/// level of cache.
pub(super) const BLOCK: usize = 128;

/// What lies between two loops over a block. Aligned, because a vector across two lines of the
/// cache takes twice the time, and made once for all blocks.
#[repr(align(64))]
pub struct Scratch {
    /// M less a multiple of 2π, in f64.
    wrapped: [f64; BLOCK],
    /// The same in f32; for f64 its size only.
    mean: [f32; BLOCK],
    /// `1 - e`; NaN where e is not in [0, 1).
    w: [f32; BLOCK],
    alpha: [f32; BLOCK],
    beta: [f32; BLOCK],
    cube: [f32; BLOCK],
    /// An approximate E.
    start: [f32; BLOCK],
}

impl Scratch {
    #[inline(always)]
    fn new() -> Scratch {
        let zeros = [0.0; BLOCK];
        Scratch {
            wrapped: [0.0; BLOCK],
            mean: zeros,
            w: zeros,
            alpha: zeros,
            beta: zeros,
            cube: zeros,
            start: zeros,
        }
    }

    /// From `mean` and `w` to `start`.
    #[inline(always)]
    fn find_start<const FMA: bool>(&mut self) {
        for i in 0..BLOCK {
            let found = cubic::<FMA>(self.mean[i].abs(), self.w[i]);
            self.alpha[i] = found.alpha;
            self.beta[i] = found.beta;
            self.cube[i] = found.cube;
        }
        for i in 0..BLOCK {
            let (alpha, beta, cube) = (self.alpha[i], self.beta[i], self.cube[i]);
            let cubic = Cubic { alpha, beta, cube };
            self.start[i] = starter::<FMA>(self.mean[i].abs(), self.w[i], cubic);
        }
    }
}

/// `1 - e` where e is an eccentricity; NaN, which then comes out, where it is not.
#[inline(always)]
fn complement<T: Real>(e: T) -> T {
    if e >= T::ZERO && e < T::ONE {
        T::ONE - e
    } else {
        T::NAN
    }
}

/// Below this `|m|` in f32 the residual of the starter, and at last `m` itself, would be subnormal.
/// The equation is linear there, for any e: it is solved for `m * TINY_UP`, whose sine is as much
/// larger.
const TINY: f32 = 1e-30;
const TINY_UP: f64 = (1u64 << 50) as f64;
const TINY_DOWN: f32 = 1.0 / (1u64 << 50) as f32;

/// An element type with Kepler's equation.
pub trait Point: Scalar + Default {
    /// Solves a block. What comes out for a point depends on that point only. `FMA`: the processor
    /// has fused multiply-add.
    #[doc(hidden)]
    fn solve<const FMA: bool>(
        m: &[Self; BLOCK],
        e: &[Self; BLOCK],
        sin: &mut [Self; BLOCK],
        cos: &mut [Self; BLOCK],
        scratch: &mut Scratch,
    );
}

impl Point for f32 {
    #[inline(always)]
    fn solve<const FMA: bool>(
        m: &[f32; BLOCK],
        e: &[f32; BLOCK],
        sin: &mut [f32; BLOCK],
        cos: &mut [f32; BLOCK],
        scratch: &mut Scratch,
    ) {
        let mut far = false;
        for i in 0..BLOCK {
            let up = if m[i].abs() < TINY { TINY_UP } else { 1.0 };
            let m = f64::from(m[i]);
            far |= m.abs() > wrap_limit(FMA);
            scratch.mean[i] = (wrap::<FMA>(m) * up) as f32;
            scratch.w[i] = complement(e[i]);
        }
        if far {
            for (mean, &m) in scratch.mean.iter_mut().zip(m) {
                if f64::from(m).abs() > wrap_limit(FMA) {
                    *mean = wrap_far(f64::from(m)) as f32;
                }
            }
        }
        scratch.find_start::<FMA>();
        for i in 0..BLOCK {
            let mean = scratch.mean[i];
            let step = Step::at::<FMA>(scratch.start[i], mean.abs(), scratch.w[i]);
            let (s, c) = step.sin_cos::<FMA>();
            let s = s * if m[i].abs() < TINY { TINY_DOWN } else { 1.0 };
            sin[i] = f32::from_bits(s.to_bits() ^ (mean.to_bits() & (1 << 31)));
            cos[i] = c;
        }
    }
}

impl Point for f64 {
    #[inline(always)]
    fn solve<const FMA: bool>(
        m: &[f64; BLOCK],
        e: &[f64; BLOCK],
        sin: &mut [f64; BLOCK],
        cos: &mut [f64; BLOCK],
        scratch: &mut Scratch,
    ) {
        let mut far = false;
        for (wrapped, &m) in scratch.wrapped.iter_mut().zip(m) {
            far |= m.abs() > wrap_limit(FMA);
            *wrapped = wrap::<FMA>(m);
        }
        if far {
            for (wrapped, &m) in scratch.wrapped.iter_mut().zip(m) {
                if m.abs() > wrap_limit(FMA) {
                    *wrapped = wrap_far(m);
                }
            }
        }
        for (i, &e) in e.iter().enumerate() {
            scratch.mean[i] = scratch.wrapped[i] as f32;
            scratch.w[i] = complement(e) as f32;
        }
        scratch.find_start::<FMA>();
        for i in 0..BLOCK {
            let start = scratch.start[i];
            let step = Step::at::<FMA>(start, scratch.mean[i].abs(), scratch.w[i]);
            // The cubic is done with.
            (scratch.start[i], scratch.cube[i]) = step.anomaly(start);
        }
        for i in 0..BLOCK {
            let (m, bend) = (scratch.wrapped[i], scratch.cube[i]);
            let (s, c) = double::finish::<FMA>(m.abs(), e[i], scratch.start[i], bend);
            sin[i] = f64::from_bits(s.to_bits() ^ (m.to_bits() & (1 << 63)));
            cos[i] = c;
        }
    }
}

/// Solves for all points; the last ones go, padded, the way of all others.
#[inline(always)]
pub(super) fn solve_all<T: Point, const FMA: bool>(m: &[T], e: &[T], sin: &mut [T], cos: &mut [T]) {
    let mut scratch = Scratch::new();
    let mut m = m.chunks_exact(BLOCK);
    let mut e = e.chunks_exact(BLOCK);
    let mut sin = sin.chunks_exact_mut(BLOCK);
    let mut cos = cos.chunks_exact_mut(BLOCK);
    let blocks = m.by_ref().zip(e.by_ref());
    for ((m, e), (sin, cos)) in blocks.zip(sin.by_ref().zip(cos.by_ref())) {
        let inputs = (m.try_into(), e.try_into());
        let outputs = (sin.try_into(), cos.try_into());
        if let ((Ok(m), Ok(e)), (Ok(sin), Ok(cos))) = (inputs, outputs) {
            T::solve::<FMA>(m, e, sin, cos, &mut scratch);
        }
    }
    let rest = m.remainder().len();
    if rest == 0 {
        return;
    }
    let [mut padded_m, mut padded_e, mut padded_sin, mut padded_cos] = [[T::default(); BLOCK]; 4];
    padded_m[..rest].copy_from_slice(m.remainder());
    padded_e[..rest].copy_from_slice(e.remainder());
    let padded = (&mut padded_sin, &mut padded_cos);
    T::solve::<FMA>(&padded_m, &padded_e, padded.0, padded.1, &mut scratch);
    sin.into_remainder().copy_from_slice(&padded_sin[..rest]);
    cos.into_remainder().copy_from_slice(&padded_cos[..rest]);
}
