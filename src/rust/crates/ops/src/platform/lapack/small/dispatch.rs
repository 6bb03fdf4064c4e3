//! The same kernel for each of the vector units, chosen when it runs. See [`crate::kepler`] on why
//! there is no SIMD crate.

use super::lanes::{Float, Lanes, PLAIN_FMA};
use super::scratch::Line;
use std::ops::Range;

/// What is done with each group of matrices. Whether a matrix is one of many in a block, of few
/// (the other lanes hold what is left there, and are not looked at) or alone must not change its
/// result; it does not where lanes are never mixed.
pub trait Kernel<T> {
    /// How many `V`s it works in.
    fn scratch(&self) -> usize;

    /// Computes the matrices of `range`, which are not more than `V` has lanes; `scratch` holds
    /// anything. To be `#[inline(always)]`, as what it calls: so it gets the vector instructions.
    fn run<V: Lanes<Float = T>>(&mut self, range: Range<usize>, scratch: &mut [V])
    where
        T: Float;
}

/// Runs `kernel` over `count` matrices.
pub(super) fn run<T: Float, K: Kernel<T>>(kernel: &mut K, count: usize, lines: &mut [Line]) {
    #[cfg(all(target_arch = "x86_64", avx512))]
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("fma")
    {
        // SAFETY: the processor has been asked for each of its features.
        return unsafe { with_avx512(kernel, count, lines) };
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has been asked for each of its features.
        return unsafe { with_avx2(kernel, count, lines) };
    }
    in_groups::<T::Plain, T::One<PLAIN_FMA>, K>(kernel, count, lines);
}

/// # Safety
/// The processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn with_avx2<T: Float, K: Kernel<T>>(kernel: &mut K, count: usize, lines: &mut [Line]) {
    in_groups::<T::Avx2, T::One<true>, K>(kernel, count, lines);
}

/// # Safety
/// The processor has AVX-512 F, DQ and VL, and FMA.
#[cfg(all(target_arch = "x86_64", avx512))]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
unsafe fn with_avx512<T: Float, K: Kernel<T>>(kernel: &mut K, count: usize, lines: &mut [Line]) {
    in_groups::<T::Avx512, T::One<true>, K>(kernel, count, lines);
}

#[inline(always)]
fn in_groups<B, O, K>(kernel: &mut K, count: usize, lines: &mut [Line])
where
    B: Lanes,
    O: Lanes<Float = B::Float>,
    K: Kernel<B::Float>,
{
    let len = kernel.scratch();
    let mut first = 0;
    // A block costs what a few matrices cost one by one, however many it holds.
    while count - first > B::WIDTH / 4 {
        let last = count.min(first + B::WIDTH);
        kernel.run::<B>(first..last, Line::lanes(lines, len));
        first = last;
    }
    for one in first..count {
        kernel.run::<O>(one..one + 1, Line::lanes(lines, len));
    }
}
