//! As many vectors as each has lanes, transposed as a square matrix: first within the 128-bit parts
//! of the registers, then those parts among registers.

use std::arch::x86_64::*;
use std::array::from_fn;

/// Transposes by pairs of f64: `$parts` moves the parts of as many vectors as each has.
macro_rules! of_f64 {
    ($name:ident($raw:ty) = $low:ident $high:ident $parts:ident $count:literal) => {
        /// # Safety
        /// The processor has these instructions.
        #[inline(always)]
        pub(super) unsafe fn $name(rows: [$raw; 2 * $count]) -> [$raw; 2 * $count] {
            // SAFETY: by contract.
            let columns = unsafe {
                [
                    $parts(from_fn(|g| $low(rows[2 * g], rows[2 * g + 1]))),
                    $parts(from_fn(|g| $high(rows[2 * g], rows[2 * g + 1]))),
                ]
            };
            from_fn(|i| columns[i % 2][i / 2])
        }
    };
}

/// Transposes by fours of f32, which move as pairs of f64 in the second step.
macro_rules! of_f32 {
    (
        $name:ident($raw:ty) = $low:ident $high:ident $low_pairs:ident $high_pairs:ident
        $to_pairs:ident $from_pairs:ident $parts:ident $count:literal
    ) => {
        /// # Safety
        /// The processor has these instructions.
        #[inline(always)]
        pub(super) unsafe fn $name(rows: [$raw; 4 * $count]) -> [$raw; 4 * $count] {
            // SAFETY: by contract.
            unsafe {
                let low: [_; 2 * $count] =
                    from_fn(|i| $to_pairs($low(rows[2 * i], rows[2 * i + 1])));
                let high: [_; 2 * $count] =
                    from_fn(|i| $to_pairs($high(rows[2 * i], rows[2 * i + 1])));
                let columns = [
                    $parts(from_fn(|g| $low_pairs(low[2 * g], low[2 * g + 1]))),
                    $parts(from_fn(|g| $high_pairs(low[2 * g], low[2 * g + 1]))),
                    $parts(from_fn(|g| $low_pairs(high[2 * g], high[2 * g + 1]))),
                    $parts(from_fn(|g| $high_pairs(high[2 * g], high[2 * g + 1]))),
                ];
                from_fn(|i| $from_pairs(columns[i % 4][i / 4]))
            }
        }
    };
}

/// Parts of 2 vectors of 2: the first ones, the second ones.
///
/// # Safety
/// The processor has AVX.
#[inline(always)]
unsafe fn parts_256(v: [__m256d; 2]) -> [__m256d; 2] {
    // SAFETY: by contract.
    unsafe {
        [
            _mm256_permute2f128_pd::<0x20>(v[0], v[1]),
            _mm256_permute2f128_pd::<0x31>(v[0], v[1]),
        ]
    }
}

/// Parts of 4 vectors of 4: the first ones, the second ones, and so on.
///
/// # Safety
/// The processor has AVX-512 F.
#[cfg(avx512)]
#[inline(always)]
unsafe fn parts_512(v: [__m512d; 4]) -> [__m512d; 4] {
    // SAFETY: by contract.
    unsafe {
        let even = [
            _mm512_shuffle_f64x2::<0x88>(v[0], v[1]),
            _mm512_shuffle_f64x2::<0x88>(v[2], v[3]),
        ];
        let odd = [
            _mm512_shuffle_f64x2::<0xdd>(v[0], v[1]),
            _mm512_shuffle_f64x2::<0xdd>(v[2], v[3]),
        ];
        [
            _mm512_shuffle_f64x2::<0x88>(even[0], even[1]),
            _mm512_shuffle_f64x2::<0x88>(odd[0], odd[1]),
            _mm512_shuffle_f64x2::<0xdd>(even[0], even[1]),
            _mm512_shuffle_f64x2::<0xdd>(odd[0], odd[1]),
        ]
    }
}

of_f64! { f64x4(__m256d) = _mm256_unpacklo_pd _mm256_unpackhi_pd parts_256 2 }
of_f32! {
    f32x8(__m256) = _mm256_unpacklo_ps _mm256_unpackhi_ps _mm256_unpacklo_pd _mm256_unpackhi_pd
    _mm256_castps_pd _mm256_castpd_ps parts_256 2
}
#[cfg(avx512)]
of_f64! { f64x8(__m512d) = _mm512_unpacklo_pd _mm512_unpackhi_pd parts_512 4 }
#[cfg(avx512)]
of_f32! {
    f32x16(__m512) = _mm512_unpacklo_ps _mm512_unpackhi_ps _mm512_unpacklo_pd _mm512_unpackhi_pd
    _mm512_castps_pd _mm512_castpd_ps parts_512 4
}
