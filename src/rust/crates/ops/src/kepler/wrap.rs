//! An angle less the nearest multiple of 2π, for every finite f64.
//!
//! What is left near a multiple is small, and has as many digits as it has bits only if 2π was taken
//! with more than twice those of an f64. No sine or cosine of the C library has a part in this: some
//! reduce large arguments wrongly.

use super::arith::{fma, Real};
use std::f64::consts::TAU;

/// 2π less its f64 in two parts, both positive: with n = 0 they leave the sign of a zero alone.
const REST: [f64; 2] = [2.449_293_598_294_706e-16, 4.331_426_695_687_656e-32];

/// Up to this `|m|` [`wrap`] works: above, its multiplier has too many bits.
pub(super) const fn wrap_limit(fma: bool) -> f64 {
    if fma {
        1e14
    } else {
        2.5e7
    }
}

/// `m` less the nearest multiple of 2π, to one unit in the last place.
#[inline(always)]
pub(super) fn wrap<const FMA: bool>(m: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2⁵²: adding it rounds to an integer
    let n = fma::<FMA, f64>(m, 1.0 / TAU, ROUND) - ROUND;
    if FMA {
        // Exact: a multiple of the last bit of 2π, below 4.
        let rest = n.fused(-TAU, m);
        n.fused(-REST[1], n.fused(-REST[0], rest))
    } else {
        // 2π in four parts, so that with n below 2²² the first three products are exact.
        let rest = m - n * 6.283_185_306_936_502_5 - n * 2.430_837_753_308_879e-10;
        rest - n * 2.449_293_597_636_856e-16 - n * 6.578_502_774_529_703e-26
    }
}

/// The binary digits of 1 / 2π, behind 64 zeros.
const INVERSE: [u64; 20] = [
    0x0000_0000_0000_0000,
    0x28be_60db_9391_054a,
    0x7f09_d5f4_7d4d_3770,
    0x36d8_a566_4f10_e410,
    0x7f94_58ea_f7ae_f158,
    0x6dc9_1b8e_9093_74b8,
    0x0192_4bba_8274_6487,
    0x3f87_7ac7_2c4a_69cf,
    0xba20_8d7d_4bae_d121,
    0x3a67_1c09_ad17_df90,
    0x4e64_758e_60d4_ce7d,
    0x2721_17e2_ef7e_4a0e,
    0xc7fe_25ff_f781_6603,
    0xfbcb_c462_d682_9b47,
    0xdb4d_9fb3_c9f2_c26d,
    0xd3d1_8fd9_a797_fa8b,
    0x5d49_eeb1_faf9_7c5e,
    0xcf41_ce7d_e294_a4ba,
    0x9afe_d7ec_47e3_5742,
    0x1580_cc11_bf1e_daea,
];

/// `2π * 2¹²⁵`, without what is behind the point.
const TAU_125: u128 = 0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1;

/// As [`wrap`], for any finite `|m| >= 1`: slower, in whole numbers. M. H. Payne, R. N. Hanek,
/// "Radian reduction for trigonometric functions", SIGNUM Newsletter 18 (1983), 19-24,
/// doi:10.1145/1057600.1057602.
#[cold]
pub(super) fn wrap_far(m: f64) -> f64 {
    let bits = m.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as usize;
    if exponent == 0x7ff {
        return f64::NAN;
    }
    // |m| = digits * 2^(exponent - 1075). Digits of 1 / 2π that only make whole turns are left out;
    // of those behind, 192 are enough: 53 of m and as many of the result, and at most 62 zeros.
    let digits = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    let from = exponent + 64 - 1075;
    let word = |i: usize| {
        let (at, shift) = (from / 64 + i, from % 64);
        let pair =
            u128::from(INVERSE[at]) << 64 | u128::from(INVERSE.get(at + 1).copied().unwrap_or(0));
        (pair << shift >> 64) & u128::from(u64::MAX)
    };
    // The turns' fraction in units of 2⁻¹²⁸; as a signed number it counts from the nearest whole turn.
    let turn = (digits.wrapping_mul(word(0)) << 64)
        .wrapping_add(digits * word(1))
        .wrapping_add((digits * word(2)) >> 64) as i128;
    let magnitude = turn.unsigned_abs();
    if magnitude == 0 {
        return 0.0;
    }
    let zeros = magnitude.leading_zeros();
    let radians = high_product(magnitude << zeros, TAU_125) as f64;
    // 2¹²⁸ less than the product, of which the turns had 2^(128 + zeros) and 2π had 2¹²⁵.
    let radians = radians * 2f64.powi(-125 - zeros as i32);
    if (turn < 0) != (m < 0.0) {
        -radians
    } else {
        radians
    }
}

/// `a * b / 2¹²⁸`, less than one too small.
fn high_product(a: u128, b: u128) -> u128 {
    let half = |x: u128| (x >> 64, x & u128::from(u64::MAX));
    let ((a1, a0), (b1, b0)) = (half(a), half(b));
    // Each sum below 2¹²⁸: a product of two halves leaves room for two more halves.
    let first = a1 * b0 + ((a0 * b0) >> 64);
    let second = a0 * b1 + (first & u128::from(u64::MAX));
    a1 * b1 + (first >> 64) + (second >> 64)
}
