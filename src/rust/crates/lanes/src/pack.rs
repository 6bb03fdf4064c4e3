//! Vectors as arrays, and which vectors f32 and f64 have.

use super::block;
use super::lanes::{Apart, Float, Lanes};
use super::operands::{
    Block, Gemver, Hemv, Product, Room, Roots, Secular, Spread, Stedc, Step, Substitution, Sweep,
    Task, Update,
};
use super::rows;
use super::shared::shared;
use super::singular;
use super::symmetric;
#[cfg(target_arch = "x86_64")]
use super::x86;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Range, Sub};

/// `W` lanes in an array, which the compiler makes vectors of as it can. `FMA`: the processor has fused multiply-add.
/// No closures: `array::from_fn` is not always inlined.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Pack<T, const W: usize, const FMA: bool>([T; W]);

macro_rules! operators {
    ($($trait:ident $method:ident $op:tt),*) => {$(
        impl<T, const W: usize, const FMA: bool> $trait for Pack<T, W, FMA>
        where
            T: $trait<Output = T> + Copy,
        {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let mut result = self;
                for i in 0..W {
                    result.0[i] = self.0[i] $op other.0[i];
                }
                result
            }
        }
    )*};
}
operators!(Add add +, Sub sub -, Mul mul *, Div div /);

impl<T: Neg<Output = T>, const W: usize, const FMA: bool> Neg for Pack<T, W, FMA> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Pack(self.0.map(|a| -a))
    }
}

impl<T: Add<Output = T> + Copy, const W: usize, const FMA: bool> AddAssign for Pack<T, W, FMA> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Every 64-bit ARM has fused multiply-add; elsewhere it may be a slow call, which gives tests on x86-64 the bits of AVX2.
#[cfg(any(feature = "plain", not(target_arch = "x86_64")))]
pub(crate) const PLAIN_FMA: bool = cfg!(any(target_arch = "aarch64", target_arch = "x86_64"));

/// `a * b + c` with one rounding, of a vector of `W` numbers.
mod fused {
    macro_rules! fused {
        ($($t:ident $call:ident)*) => {$(
            #[inline(always)]
            pub(super) fn $t<const W: usize>(a: $t, b: $t, c: $t) -> $t {
                // In tests, where no instruction is asked for. It would be a call of the C library's, and Windows' rounds
                // twice.
                #[cfg(all(feature = "plain", target_arch = "x86_64"))]
                if W > 1 {
                    return libm::$call(a, b, c);
                }
                a.mul_add(b, c)
            }
        )*};
    }
    fused!(f32 fmaf f64 fma);
}

macro_rules! floats {
    ($($t:ident $plain:literal $neon:ident $avx2:ident $avx512:ident;)*) => {$(
        impl Float for $t {
            #[cfg(target_arch = "aarch64")]
            type Plain = crate::arm64::$neon;
            #[cfg(all(
                not(target_arch = "aarch64"),
                any(feature = "plain", not(target_arch = "x86_64"))
            ))]
            type Plain = Pack<$t, $plain, PLAIN_FMA>;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = x86::$avx2;
            #[cfg(all(target_arch = "x86_64", avx512))]
            type Avx512 = x86::$avx512;
            type One<const FMA: bool> = Pack<$t, 1, FMA>;
            const ROUNDING: $t = $t::EPSILON / 2.0;
            const SMALLEST: $t = $t::MIN_POSITIVE;

            #[inline(always)]
            fn of(value: f64) -> $t {
                value as $t
            }
            #[inline(always)]
            fn f64(self) -> f64 {
                self.into()
            }
        }

        impl<const W: usize, const FMA: bool> Lanes for Pack<$t, W, FMA> {
            type Float = $t;
            const WIDTH: usize = W;
            // Of 64-bit ARM.
            const REGISTERS: usize = 32;

            type Proof = ();

            #[inline(always)]
            fn like(self, value: f64) -> Self {
                Pack([<$t as Float>::of(value); W])
            }
            #[inline(always)]
            fn as_slice(&self) -> &[$t] {
                &self.0
            }
            #[inline(always)]
            fn as_mut_slice(&mut self) -> &mut [$t] {
                &mut self.0
            }
            shared!($t);

            #[inline(always)]
            fn transpose(square: &mut [Self]) {
                for i in 1..W {
                    for j in 0..i {
                        let old = square[i].0[j];
                        square[i].0[j] = square[j].0[i];
                        square[j].0[i] = old;
                    }
                }
            }
            #[inline(always)]
            fn swap_parts(self) -> Self {
                let mut result = self;
                for i in 0..W {
                    result.0[i] = self.0[(i ^ 1).min(W - 1)];
                }
                result
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                let mut result = self;
                for i in 0..W {
                    result.0[i] = if FMA {
                        fused::$t::<W>(self.0[i], b.0[i], c.0[i])
                    } else {
                        self.0[i] * b.0[i] + c.0[i]
                    };
                }
                result
            }
            #[inline(always)]
            fn neg_mul_add(self, b: Self, c: Self) -> Self {
                (-self).mul_add(b, c)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Pack(self.0.map($t::sqrt))
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Pack(self.0.map($t::abs))
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                let mut result = self;
                for i in 0..W {
                    result.0[i] = self.0[i].copysign(sign.0[i]);
                }
                result
            }
            #[inline(always)]
            fn if_less(self, other: Self, yes: Self, no: Self) -> Self {
                let mut result = no;
                for i in 0..W {
                    if self.0[i] < other.0[i] {
                        result.0[i] = yes.0[i];
                    }
                }
                result
            }
            #[inline(always)]
            fn if_equal(self, other: Self, yes: Self, no: Self) -> Self {
                let mut result = no;
                for i in 0..W {
                    if self.0[i] == other.0[i] {
                        result.0[i] = yes.0[i];
                    }
                }
                result
            }
            #[inline(always)]
            fn any_less(self, other: Self) -> bool {
                (0..W).fold(false, |any, i| any | (self.0[i] < other.0[i]))
            }
            #[inline(always)]
            fn equal_bits(self, other: Self) -> u64 {
                (0..W).fold(0, |bits, i| bits | u64::from(self.0[i] == other.0[i]) << i)
            }
        }
    )*};
}
floats! {
    f32 4 F32x4 F32x8 F32x16;
    f64 2 F64x2 F64x4 F64x8;
}
