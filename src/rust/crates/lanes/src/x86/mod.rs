//! Lanes in the vector registers of x86-64. All begins with [`Line::lanes`](crate::scratch::Line::lanes),
//! which asks for a [proof](crate::processor) that the processor has them; so where there is a vector,
//! its instructions may be used.

// `build.rs` has asked the compiler for those of AVX-512.
#![allow(clippy::incompatible_msrv)]

mod transpose;

use crate::block;
use crate::lanes::{Apart, Float, Lanes};
use crate::operands::{
    Block, Gemver, Hemv, Product, Room, Roots, Secular, Spread, Stedc, Step, Substitution, Sweep,
    Task, Update,
};
use crate::processor;
use crate::rows;
use crate::shared::{arithmetic, as_array, functions};
use crate::singular;
use crate::symmetric;
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Range, Sub};

/// A vector type from its instructions.
macro_rules! vector {
    (
        $(#[$meta:meta])* $name:ident($raw:ty) = $width:literal $float:ident, $proof:ident $features:literal $registers:literal:
        $splat:ident $add:ident $sub:ident $mul:ident $div:ident
        $fmadd:ident $fnmadd:ident $sqrt:ident $and:ident $andnot:ident $or:ident $xor:ident $transpose:ident,
        |$a:ident, $b:ident| $compare:ident, |$mask:ident, $yes:ident, $no:ident| $blend:expr,
        any $any:expr, swap $swap:ident $order:literal
    ) => {
        arithmetic!(
            $(#[$meta])*
            $name($raw): Add add $add, Sub sub $sub, Mul mul $mul, Div div $div;
            fn neg(self) = $xor(self.0, $splat(-0.0))
        );

        impl Lanes for $name {
            type Float = $float;
            const WIDTH: usize = $width;
            const REGISTERS: usize = $registers;

            type Proof = processor::$proof;

            #[inline(always)]
            fn like(self, value: f64) -> Self {
                // SAFETY: see the module's documentation.
                $name(unsafe { $splat(<$float as Float>::of(value)) })
            }
            as_array!($float, $width);
            vector!(@shared $features:
                fn gather(matrices: &[$float], to: &mut [$name]) = block::gather_full if to;
                fn scatter(from: &mut [$name], matrices: &mut [$float]) = block::scatter_full if from;
                fn product(columns: &mut [$name], step: &Product<'_, $name>, work: &mut [$name]) = rows::product if columns;
                fn follow(columns: &mut [$name], step: &Step<'_, $name>, work: &mut [$name]) = rows::follow if columns;
                fn substitute(
                    strip: &mut [$name],
                    step: &Substitution<'_, $name>,
                    work: &mut [$name]
                ) = rows::substitute if strip;
                fn reflect(columns: &mut [$name], stride: usize, blocks: &[Block<'_, $name>]) = rows::reflect if columns;
                fn prepare(
                    panel: &[$name],
                    stride: usize,
                    rows: (usize, usize),
                    tau: (&[$float], Task),
                    memory: &mut [$name]
                ) = rows::prepare if panel;
                fn project(
                    left: &[$name],
                    columns: &[$name],
                    stride: usize,
                    which: Range<usize>,
                    to: &mut [$name]
                ) = rows::project if columns;
                fn sweep(a: &mut [$name], step: &Sweep<'_, $name>, p: &mut [$name]) = rows::sweep if a;
                fn multiply(p: &mut [$name], a: &[$name], step: &Sweep<'_, $name>, which: Range<usize>) = rows::multiply if p;
                fn hemv(p: &mut [$name], a: &[$name], step: &Hemv<'_, $name>, which: Range<usize>) = rows::hemv if p;
                fn larfg(
                    column: &mut [$name],
                    row: usize,
                    x: &mut [$name],
                    results: &mut [$float; 2]
                ) = rows::larfg if column;
                fn gemver(
                    a: &mut [$name],
                    step: &Gemver<'_, $name>,
                    update: Update<'_, $name>,
                    results: [&mut [$name]; 3]
                ) = rows::gemver if a;
                fn gemvt(a: &[$name], step: &Gemver<'_, $name>, results: [&mut [$name]; 3]) = rows::gemvt if a;
                fn gemvh(a: &[$name], step: &Gemver<'_, $name>, results: [&mut [$name]; 3]) = rows::gemvh if a;
                fn bdsqr(
                    d: &mut [$name],
                    e: &mut [$name],
                    factors: [(&mut [$name], usize); 2],
                    failed: &mut $name
                ) = singular::bdsqr if d;
                fn steqr(d: &mut [$name], e: &mut [$name], q: &mut [$name], failed: &mut $name) = symmetric::steqr if d;
                fn stedc(
                    q: &mut [$name],
                    problem: &mut Stedc<'_, $float>,
                    room: &mut Room<'_, $name>,
                    found: &mut bool
                ) = rows::stedc if q;
                fn sterf(
                    room: &mut [$name],
                    problem: &mut Stedc<'_, $float>,
                    found: &mut bool
                ) = rows::sterf if room;
                fn roots(pairs: &mut [$name], equation: &Secular<'_, $float>, first: usize) = rows::roots if pairs;
                fn weights(
                    z: &mut [$name],
                    equation: &Secular<'_, $float>,
                    roots: &Roots<'_, $name>,
                    first: usize
                ) = rows::weights if z;
                fn spread(
                    columns: &mut [$name],
                    stride: usize,
                    of: &Spread<'_, $name>,
                    first: usize
                ) = rows::spread if columns;
                fn ends(
                    columns: &mut [$name],
                    of: [&[$name]; 4],
                    roots: &Roots<'_, $name>,
                    first: usize
                ) = rows::ends if columns;
            );

            #[inline(always)]
            fn apart<Work: Apart>(work: Work, _: Self) {
                #[inline(never)]
                #[target_feature(enable = $features)]
                unsafe fn apart<Work: Apart>(work: Work) {
                    work.run();
                }
                // SAFETY: see the module's documentation.
                unsafe { apart(work) };
            }

            #[inline(always)]
            fn transpose(square: &mut [Self]) {
                let rows: [_; $width] = std::array::from_fn(|i| square[i].0);
                // SAFETY: see the module's documentation.
                let columns = unsafe { transpose::$transpose(rows) };
                for (to, column) in square[..$width].iter_mut().zip(columns) {
                    to.0 = column;
                }
            }
            functions!($name:
                fn swap_parts(self) = $swap::<$order>(self.0);
                fn mul_add(self, b, c) = $fmadd(self.0, b.0, c.0);
                fn neg_mul_add(self, b, c) = $fnmadd(self.0, b.0, c.0);
                fn sqrt(self) = $sqrt(self.0);
                fn abs(self) = $andnot($splat(-0.0), self.0);
                fn copysign(self, sign) = {
                    let minus = $splat(-0.0);
                    $or($andnot(minus, self.0), $and(minus, sign.0))
                };
                fn if_less(self, other, yes, no) = {
                    let ($yes, $no) = (yes.0, no.0);
                    let $mask = $compare::<_CMP_LT_OQ>(self.0, other.0);
                    $blend
                };
                fn if_equal(self, other, yes, no) = {
                    let ($yes, $no) = (yes.0, no.0);
                    let $mask = $compare::<_CMP_EQ_OQ>(self.0, other.0);
                    $blend
                };
            );
            #[inline(always)]
            fn any_less(self, other: Self) -> bool {
                // SAFETY: see the module's documentation.
                unsafe {
                    let $mask = $compare::<_CMP_LT_OQ>(self.0, other.0);
                    $any != 0
                }
            }
            #[inline(always)]
            fn equal_bits(self, other: Self) -> u64 {
                // SAFETY: as above.
                unsafe {
                    let $mask = $compare::<_CMP_EQ_OQ>(self.0, other.0);
                    // Not negative, as it has a bit for each lane.
                    $any as u64
                }
            }
        }
    };
    // Compiled with the vector's instructions, once; where there are vectors, which show that the processor has those.
    (@shared $features:literal: $(fn $name:ident($($argument:ident: $type:ty),*) = $room:ident::$of:ident if $shown:ident;)*) => {$(
        #[inline(always)]
        fn $name($($argument: $type),*) {
            #[inline(never)]
            #[target_feature(enable = $features)]
            unsafe fn $name($($argument: $type),*) {
                $room::$of($($argument),*);
            }
            if !$shown.is_empty() {
                // SAFETY: see the module's documentation.
                unsafe { $name($($argument),*) };
            }
        }
    )*};
}

vector! {
    /// AVX2 and FMA.
    F64x4(__m256d) = 4 f64, Avx2 "avx2,fma" 16:
    _mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd
    _mm256_fmadd_pd _mm256_fnmadd_pd _mm256_sqrt_pd
    _mm256_and_pd _mm256_andnot_pd _mm256_or_pd _mm256_xor_pd f64x4,
    |a, b| _mm256_cmp_pd, |mask, yes, no| _mm256_blendv_pd(no, yes, mask),
    any _mm256_movemask_pd(mask), swap _mm256_permute_pd 0b0101
}

vector! {
    /// AVX2 and FMA.
    F32x8(__m256) = 8 f32, Avx2 "avx2,fma" 16:
    _mm256_set1_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps
    _mm256_fmadd_ps _mm256_fnmadd_ps _mm256_sqrt_ps
    _mm256_and_ps _mm256_andnot_ps _mm256_or_ps _mm256_xor_ps f32x8,
    |a, b| _mm256_cmp_ps, |mask, yes, no| _mm256_blendv_ps(no, yes, mask),
    any _mm256_movemask_ps(mask), swap _mm256_permute_ps 0b10_11_00_01
}

#[cfg(avx512)]
vector! {
    /// AVX-512 F and DQ.
    F64x8(__m512d) = 8 f64, Avx512 "avx512f,avx512dq,avx512vl,fma" 32:
    _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd
    _mm512_fmadd_pd _mm512_fnmadd_pd _mm512_sqrt_pd
    _mm512_and_pd _mm512_andnot_pd _mm512_or_pd _mm512_xor_pd f64x8,
    |a, b| _mm512_cmp_pd_mask, |mask, yes, no| _mm512_mask_blend_pd(mask, no, yes),
    any mask, swap _mm512_permute_pd 0b0101_0101
}

#[cfg(avx512)]
vector! {
    /// AVX-512 F and DQ.
    F32x16(__m512) = 16 f32, Avx512 "avx512f,avx512dq,avx512vl,fma" 32:
    _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps
    _mm512_fmadd_ps _mm512_fnmadd_ps _mm512_sqrt_ps
    _mm512_and_ps _mm512_andnot_ps _mm512_or_ps _mm512_xor_ps f32x16,
    |a, b| _mm512_cmp_ps_mask, |mask, yes, no| _mm512_mask_blend_ps(mask, no, yes),
    any mask, swap _mm512_permute_ps 0b10_11_00_01
}
