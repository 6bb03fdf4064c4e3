//! The same code for each of the vector units, chosen when it runs.
//!
//! No SIMD crate. f64 starts in f32, with twice the numbers to a vector, and f32 is wrapped in f64:
//! pulp (0.22) does not convert between the two. AVX-512 is on stable from Rust 1.89 on, and we
//! build from 1.81 on: a crate's Cargo feature (pulp's `x86-v4`) cannot follow the compiler,
//! `build.rs` can. multiversion would write the functions below, by a procedural macro with `syn`.
//! The loops of [`super::block`] become the instructions that one would write by hand.

use super::block::{solve_all, Point};
#[cfg(target_arch = "x86_64")]
use lanes::processor::Avx2;
#[cfg(all(target_arch = "x86_64", avx512))]
use lanes::processor::Avx512;

/// Solves for all points; the slices have one length.
pub(super) fn solve<T: Point>(m: &[T], e: &[T], sin: &mut [T], cos: &mut [T]) {
    #[cfg(all(target_arch = "x86_64", avx512))]
    if Avx512::detect().is_some() {
        // SAFETY: the processor has been asked for each of its features.
        return unsafe { with_avx512(m, e, sin, cos) };
    }
    #[cfg(target_arch = "x86_64")]
    if Avx2::detect().is_some() {
        // SAFETY: as above.
        return unsafe { with_avx2(m, e, sin, cos) };
    }
    // NEON needs no asking: every 64-bit ARM has it.
    solve_all::<T, { cfg!(target_arch = "aarch64") }>(m, e, sin, cos);
}

/// # Safety
/// The processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn with_avx2<T: Point>(m: &[T], e: &[T], sin: &mut [T], cos: &mut [T]) {
    solve_all::<T, true>(m, e, sin, cos);
}

/// # Safety
/// The processor has AVX-512 F, DQ and VL, and FMA.
#[cfg(all(target_arch = "x86_64", avx512))]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
unsafe fn with_avx512<T: Point>(m: &[T], e: &[T], sin: &mut [T], cos: &mut [T]) {
    solve_all::<T, true>(m, e, sin, cos);
}
