//! Code that is written for no vector unit in particular, compiled for the one that the processor has.

#[cfg(not(target_arch = "x86_64"))]
use super::pack::PLAIN_FMA;
#[cfg(target_arch = "x86_64")]
use super::processor::Avx2;

/// Work with numbers whose loops the compiler can turn into vectors.
pub trait Task {
    /// What it gives.
    type Output;

    /// Does it. To be `#[inline(always)]`, as what it calls: so it gets the vector instructions. `FMA` says whether a
    /// fused multiply-add is an instruction, not a slow call.
    fn run<const FMA: bool>(self) -> Self::Output;
}

/// Does the task with the vector instructions of the processor.
#[inline]
pub fn vectorised<W: Task>(task: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(proof) = Avx2::detect() {
        // SAFETY: the proof.
        return unsafe { in_avx2(proof, task) };
    }
    #[cfg(target_arch = "x86_64")]
    return task.run::<false>();
    #[cfg(not(target_arch = "x86_64"))]
    task.run::<PLAIN_FMA>()
}

/// # Safety
/// The processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn in_avx2<W: Task>(_: Avx2, task: W) -> W::Output {
    task.run::<true>()
}
