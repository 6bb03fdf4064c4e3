//! The same kernel for each of the vector units, chosen when it runs. No SIMD crate: AVX-512 is on
//! stable from Rust 1.89 on and we build from 1.81 on, which `build.rs` can follow and a crate's
//! feature cannot.

use super::kernel::Kernel;
use super::lanes::{Float, Lanes};
#[cfg(target_arch = "x86_64")]
use super::processor::Avx2;
#[cfg(all(target_arch = "x86_64", avx512))]
use super::processor::Avx512;
use super::scratch::{with_lines, Line, NoMemory};
use std::ops::Range;

/// The vector units that there is code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// AVX-512.
    #[cfg(all(target_arch = "x86_64", avx512))]
    Avx512(Avx512),
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// On x86-64 by a feature for tests only, with the instructions that all of them have.
    #[cfg(any(feature = "plain", not(target_arch = "x86_64")))]
    Plain,
}

impl Unit {
    /// All that the processor has and that there is code for, the best first.
    #[cfg(feature = "testing")]
    pub fn all() -> Vec<Unit> {
        #[cfg_attr(
            not(all(target_arch = "x86_64", any(avx512, feature = "plain"))),
            allow(unused_mut)
        )]
        let mut all: Vec<Unit> = Unit::best().into_iter().collect();
        #[cfg(all(target_arch = "x86_64", avx512))]
        if let Some(&Unit::Avx512(proof)) = all.first() {
            all.push(Unit::Avx2(proof.avx2()));
        }
        // What is alone in a lane is computed with AVX2, so there is none without it.
        #[cfg(all(feature = "plain", target_arch = "x86_64"))]
        if !all.is_empty() {
            all.push(Unit::Plain);
        }
        all
    }

    /// Whether its lanes are vectors of the processor: on x86-64 those of [`Unit::Plain`] are not.
    #[cfg(feature = "testing")]
    pub fn has_vectors(self) -> bool {
        #[cfg(all(feature = "plain", target_arch = "x86_64"))]
        if self == Unit::Plain {
            return false;
        }
        true
    }

    /// Lanes of a vector.
    fn width<T: Float>(self) -> usize {
        match self {
            #[cfg(all(target_arch = "x86_64", avx512))]
            Unit::Avx512(_) => T::Avx512::WIDTH,
            #[cfg(target_arch = "x86_64")]
            Unit::Avx2(_) => T::Avx2::WIDTH,
            #[cfg(any(feature = "plain", not(target_arch = "x86_64")))]
            Unit::Plain => T::Plain::WIDTH,
        }
    }

    /// The processor's best; none on an x86-64 of before 2013, for which LAPACK is good enough.
    #[inline]
    pub fn best() -> Option<Unit> {
        #[cfg(target_arch = "x86_64")]
        {
            #[cfg(avx512)]
            if let Some(proof) = Avx512::detect() {
                return Some(Unit::Avx512(proof));
            }
            Avx2::detect().map(Unit::Avx2)
        }
        #[cfg(not(target_arch = "x86_64"))]
        Some(Unit::Plain)
    }
}

/// Runs `kernel` over `count` matrices, in blocks and what is left one by one, on a unit that the processor has.
/// Where a matrix alone is one lane, that is the same code on x86-64 with and without AVX-512, whose registers it
/// does not fill.
///
/// # Errors
/// There is no memory to work in.
pub(crate) fn run<T: Float, K: Kernel<T>>(
    unit: Unit,
    kernel: &mut K,
    count: usize,
) -> Result<(), NoMemory> {
    let width = unit.width::<T>();
    let blocks = if !kernel.alone_in_rows() || kernel.block_pays(width, count) {
        kernel.scratch()
    } else {
        0
    };
    let rows = (kernel.rows_scratch(width) * width * size_of::<T>()).div_ceil(size_of::<Line>());
    with_lines(blocks.max(rows), |lines| run_in(unit, kernel, count, lines))
}

#[inline(always)]
fn run_in<T: Float, K: Kernel<T>>(unit: Unit, kernel: &mut K, count: usize, lines: &mut [Line]) {
    let alone = match unit {
        // SAFETY: the proof.
        #[cfg(all(target_arch = "x86_64", avx512))]
        Unit::Avx512(proof) => unsafe { avx512::blocks_avx512(proof, kernel, count, lines) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Unit::Avx2(proof) => unsafe { avx2::blocks_avx2(proof, kernel, count, lines) },
        #[cfg(any(feature = "plain", not(target_arch = "x86_64")))]
        Unit::Plain => plain::blocks_plain(kernel, count, lines),
    };
    if kernel.alone_in_rows() || alone == count {
        return;
    }
    // SAFETY: every unit of x86-64 has AVX2.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        avx2_one::one_by_one_avx2(kernel, alone..count, lines);
    }
    #[cfg(not(target_arch = "x86_64"))]
    plain_one::one_by_one_plain(kernel, alone..count, lines);
}

// A module for each unit, as the compiler makes the code of a module on one thread; and not inlined: a test looks for
// them in the machine code.

#[cfg(any(feature = "plain", not(target_arch = "x86_64")))]
mod plain {
    use super::{blocks, Float, Kernel, Line};

    #[inline(never)]
    pub(super) fn blocks_plain<T: Float, K: Kernel<T>>(
        kernel: &mut K,
        count: usize,
        lines: &mut [Line],
    ) -> usize {
        blocks::<T::Plain, K>((), kernel, count, lines)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod plain_one {
    use super::{one_by_one, Float, Kernel, Line, Range};
    use crate::pack::PLAIN_FMA;

    #[inline(never)]
    pub(super) fn one_by_one_plain<T: Float, K: Kernel<T>>(
        kernel: &mut K,
        range: Range<usize>,
        lines: &mut [Line],
    ) {
        one_by_one::<T::One<PLAIN_FMA>, K>((), kernel, range, lines);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{blocks, Avx2, Float, Kernel, Line};

    /// # Safety
    /// The processor has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn blocks_avx2<T: Float, K: Kernel<T>>(
        proof: Avx2,
        kernel: &mut K,
        count: usize,
        lines: &mut [Line],
    ) -> usize {
        blocks::<T::Avx2, K>(proof, kernel, count, lines)
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2_one {
    use super::{one_by_one, Float, Kernel, Line, Range};

    /// # Safety
    /// The processor has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn one_by_one_avx2<T: Float, K: Kernel<T>>(
        kernel: &mut K,
        range: Range<usize>,
        lines: &mut [Line],
    ) {
        one_by_one::<T::One<true>, K>((), kernel, range, lines);
    }
}

#[cfg(all(target_arch = "x86_64", avx512))]
mod avx512 {
    use super::{blocks, Avx512, Float, Kernel, Line};

    /// # Safety
    /// The processor has AVX-512 F, DQ and VL, and FMA.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
    pub(super) unsafe fn blocks_avx512<T: Float, K: Kernel<T>>(
        proof: Avx512,
        kernel: &mut K,
        count: usize,
        lines: &mut [Line],
    ) -> usize {
        blocks::<T::Avx512, K>(proof, kernel, count, lines)
    }
}

/// Runs `kernel` over blocks of matrices while that pays, and over what is left if it can; the first one that is
/// left then.
#[inline(always)]
fn blocks<V: Lanes, K: Kernel<V::Float>>(
    proof: V::Proof,
    kernel: &mut K,
    count: usize,
    lines: &mut [Line],
) -> usize {
    let mut first = 0;
    while first < count && kernel.block_pays(V::WIDTH, count - first) {
        let last = count.min(first + V::WIDTH);
        kernel.run::<V>(first..last, Line::lanes(proof, lines, kernel.scratch()));
        first = last;
    }
    if kernel.alone_in_rows() {
        let len = kernel.rows_scratch(V::WIDTH);
        for one in first..count {
            kernel.run_rows::<V>(one, Line::lanes(proof, lines, len));
        }
        first = count;
    }
    first
}

#[inline(always)]
fn one_by_one<V: Lanes, K: Kernel<V::Float>>(
    proof: V::Proof,
    kernel: &mut K,
    range: Range<usize>,
    lines: &mut [Line],
) {
    let len = kernel.scratch();
    for one in range {
        kernel.run::<V>(one..one + 1, Line::lanes(proof, lines, len));
    }
}
