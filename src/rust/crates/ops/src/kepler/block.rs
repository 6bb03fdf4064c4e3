//! A block of points: loops over straight-line code, which the compiler turns into vector code.

use super::arith::{wrap, wrap_far, wrap_limit};
use super::{double, single};
use xla_ffi::Scalar;

/// Points per block: a multiple of every vector length, and the intermediates stay in the first
/// level of cache.
pub(super) const BLOCK: usize = 128;

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
    );
}

impl Point for f32 {
    #[inline(always)]
    fn solve<const FMA: bool>(
        m: &[f32; BLOCK],
        e: &[f32; BLOCK],
        sin: &mut [f32; BLOCK],
        cos: &mut [f32; BLOCK],
    ) {
        let mut wrapped = [0.0; BLOCK];
        let mut w = [0.0; BLOCK];
        let mut start = [0.0; BLOCK];
        let mut far = false;
        for i in 0..BLOCK {
            let m = f64::from(m[i]);
            far |= m.abs() > wrap_limit(FMA);
            wrapped[i] = wrap::<FMA>(m) as f32;
        }
        if far {
            for (wrapped, &m) in wrapped.iter_mut().zip(m) {
                if f64::from(m).abs() > wrap_limit(FMA) {
                    *wrapped = wrap_far(f64::from(m)) as f32;
                }
            }
        }
        for i in 0..BLOCK {
            // NaN comes out wherever NaN goes in.
            let valid = e[i] >= 0.0 && e[i] < 1.0;
            w[i] = if valid { 1.0 - e[i] } else { f32::NAN };
            start[i] = single::starter::<FMA>(wrapped[i].abs(), w[i]);
        }
        for i in 0..BLOCK {
            let found = single::improve::<FMA>(start[i], wrapped[i].abs(), w[i]);
            let sign = wrapped[i].to_bits() & (1 << 31);
            sin[i] = f32::from_bits(found.sin.to_bits() ^ sign);
            cos[i] = found.cos;
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
    ) {
        let mut wrapped = [0.0; BLOCK];
        let mut anomaly = [0.0; BLOCK];
        let mut start = [0.0; BLOCK];
        let mut inverse = [0.0; BLOCK];
        let mut far = false;
        for i in 0..BLOCK {
            far |= m[i].abs() > wrap_limit(FMA);
            wrapped[i] = wrap::<FMA>(m[i]);
        }
        if far {
            for (wrapped, &m) in wrapped.iter_mut().zip(m) {
                if m.abs() > wrap_limit(FMA) {
                    *wrapped = wrap_far(m);
                }
            }
        }
        for i in 0..BLOCK {
            anomaly[i] = wrapped[i].abs() as f32;
            inverse[i] = (1.0 - e[i]) as f32;
        }
        for i in 0..BLOCK {
            start[i] = single::starter::<FMA>(anomaly[i], inverse[i]);
        }
        for i in 0..BLOCK {
            let found = single::improve::<FMA>(start[i], anomaly[i], inverse[i]);
            anomaly[i] = found.anomaly;
            inverse[i] = found.inverse;
        }
        for i in 0..BLOCK {
            // NaN comes out wherever NaN goes in.
            let valid = e[i] >= 0.0 && e[i] < 1.0;
            let e = if valid { e[i] } else { f64::NAN };
            let m = wrapped[i];
            let (s, c) = double::finish::<FMA>(m.abs(), e, anomaly[i], inverse[i]);
            sin[i] = f64::from_bits(s.to_bits() ^ (m.to_bits() & (1 << 63)));
            cos[i] = c;
        }
    }
}

/// Solves for all points; the last ones go, padded, the way of all others.
#[inline(always)]
pub(super) fn solve_all<T: Point, const FMA: bool>(m: &[T], e: &[T], sin: &mut [T], cos: &mut [T]) {
    let mut m = m.chunks_exact(BLOCK);
    let mut e = e.chunks_exact(BLOCK);
    let mut sin = sin.chunks_exact_mut(BLOCK);
    let mut cos = cos.chunks_exact_mut(BLOCK);
    let blocks = m.by_ref().zip(e.by_ref());
    for ((m, e), (sin, cos)) in blocks.zip(sin.by_ref().zip(cos.by_ref())) {
        let inputs = (m.try_into(), e.try_into());
        let outputs = (sin.try_into(), cos.try_into());
        if let ((Ok(m), Ok(e)), (Ok(sin), Ok(cos))) = (inputs, outputs) {
            T::solve::<FMA>(m, e, sin, cos);
        }
    }
    let rest = m.remainder().len();
    if rest == 0 {
        return;
    }
    let [mut padded_m, mut padded_e, mut padded_sin, mut padded_cos] = [[T::default(); BLOCK]; 4];
    padded_m[..rest].copy_from_slice(m.remainder());
    padded_e[..rest].copy_from_slice(e.remainder());
    T::solve::<FMA>(&padded_m, &padded_e, &mut padded_sin, &mut padded_cos);
    sin.into_remainder().copy_from_slice(&padded_sin[..rest]);
    cos.into_remainder().copy_from_slice(&padded_cos[..rest]);
}
