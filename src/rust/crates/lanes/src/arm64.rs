//! Lanes in the vector registers of 64-bit ARM, which all of its processors have. The compiler makes vectors of
//! arrays, too, but not everywhere: where a factor is the same for many of them it computed lane by lane.

// What is safe depends on the compiler's version.
#![allow(unused_unsafe)]

use crate::block;
use crate::lanes::{Apart, Float, Lanes};
use crate::operands::{
    Block, Gemver, Hemv, Product, Room, Roots, Secular, Spread, Stedc, Step, Substitution, Sweep,
    Task, Update,
};
use crate::rows;
use crate::shared::{arithmetic, as_array, functions, shared};
use crate::singular;
use crate::symmetric;
use std::arch::aarch64::*;
use std::ops::{Add, Div, Mul, Range, Sub};

/// A vector type from its instructions.
macro_rules! neon {
    (
        $name:ident($raw:ty) = $width:literal $float:ident:
        $splat:ident $add:ident $sub:ident $mul:ident $div:ident $neg:ident
        $fma:ident $fms:ident $sqrt:ident $abs:ident $less:ident $equal:ident $select:ident,
        sign $sign:expr, |$mask:ident| words $words:expr, |$parts:ident| swapped $swapped:expr
    ) => {
        arithmetic!(
            $name($raw): Add add $add, Sub sub $sub, Mul mul $mul, Div div $div; fn neg(self) = $neg(self.0)
        );

        impl Lanes for $name {
            type Float = $float;
            const WIDTH: usize = $width;
            const REGISTERS: usize = 32;

            type Proof = ();

            #[inline(always)]
            fn like(self, value: f64) -> Self {
                // SAFETY: every processor has the instruction.
                $name(unsafe { $splat(<$float as Float>::of(value)) })
            }
            as_array!($float, $width);
            shared!($float);

            #[inline(always)]
            fn transpose(square: &mut [Self]) {
                for i in 1..$width {
                    for j in 0..i {
                        let (x, y) = (square[i].as_slice()[j], square[j].as_slice()[i]);
                        square[i].as_mut_slice()[j] = y;
                        square[j].as_mut_slice()[i] = x;
                    }
                }
            }
            functions!($name:
                fn swap_parts(self) = {
                    let $parts = self.0;
                    $swapped
                };
                fn mul_add(self, b, c) = $fma(c.0, self.0, b.0);
                fn neg_mul_add(self, b, c) = $fms(c.0, self.0, b.0);
                fn sqrt(self) = $sqrt(self.0);
                fn abs(self) = $abs(self.0);
                fn copysign(self, sign) = $select($sign, sign.0, self.0);
                fn if_less(self, other, yes, no) = $select($less(self.0, other.0), yes.0, no.0);
                fn if_equal(self, other, yes, no) = $select($equal(self.0, other.0), yes.0, no.0);
            );
            #[inline(always)]
            fn any_less(self, other: Self) -> bool {
                // SAFETY: as above.
                unsafe {
                    let $mask = $less(self.0, other.0);
                    vmaxvq_u32($words) != 0
                }
            }
            #[inline(always)]
            fn equal_bits(self, other: Self) -> u64 {
                let mut bits = 0;
                for (i, (x, y)) in self.as_slice().iter().zip(other.as_slice()).enumerate() {
                    bits |= u64::from(x == y) << i;
                }
                bits
            }
        }
    };
}

neon! {
    F64x2(float64x2_t) = 2 f64:
    vdupq_n_f64 vaddq_f64 vsubq_f64 vmulq_f64 vdivq_f64 vnegq_f64
    vfmaq_f64 vfmsq_f64 vsqrtq_f64 vabsq_f64 vcltq_f64 vceqq_f64 vbslq_f64,
    sign vdupq_n_u64(1 << 63), |mask| words vreinterpretq_u32_u64(mask), |parts| swapped vextq_f64::<1>(parts, parts)
}

neon! {
    F32x4(float32x4_t) = 4 f32:
    vdupq_n_f32 vaddq_f32 vsubq_f32 vmulq_f32 vdivq_f32 vnegq_f32
    vfmaq_f32 vfmsq_f32 vsqrtq_f32 vabsq_f32 vcltq_f32 vceqq_f32 vbslq_f32,
    sign vdupq_n_u32(1 << 31), |mask| words mask, |parts| swapped vrev64q_f32(parts)
}
