//! What the processor has been asked for. A value of a type here is of no size, and shows that the
//! answer was yes: code for a vector unit is run by whoever has one.
//!
//! ```compile_fail
//! let shown = lanes::processor::Avx2(());
//! ```

/// The processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Asks the processor, whose answers are kept.
    #[must_use]
    #[inline]
    pub fn detect() -> Option<Self> {
        let there = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        there.then_some(Avx2(()))
    }
}

/// The processor has AVX-512 F, DQ and VL beside AVX2 and FMA.
#[cfg(all(target_arch = "x86_64", avx512))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512(());

#[cfg(all(target_arch = "x86_64", avx512))]
impl Avx512 {
    /// Asks the processor, whose answers are kept.
    #[must_use]
    #[inline]
    pub fn detect() -> Option<Self> {
        let there = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && Avx2::detect().is_some();
        there.then_some(Avx512(()))
    }

    /// What it includes.
    #[must_use]
    #[inline]
    pub fn avx2(self) -> Avx2 {
        Avx2(())
    }
}
