//! The same number of each of several matrices: one lane per matrix.

use super::block;
use super::rows::{self, Block, Product, Step, Task};
#[cfg(target_arch = "x86_64")]
use super::x86;
use matrices::Element;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Range, Sub};

/// f32 or f64.
pub trait Float: Element<Real = Self> + PartialOrd {
    /// A block on another processor than x86-64.
    #[cfg(any(feature = "testing", not(target_arch = "x86_64")))]
    type Plain: Lanes<Float = Self, Proof = ()>;
    /// A block with AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Float = Self, Proof = crate::processor::Avx2>;
    /// A block with AVX-512.
    #[cfg(all(target_arch = "x86_64", avx512))]
    type Avx512: Lanes<Float = Self, Proof = crate::processor::Avx512>;
    /// One matrix alone.
    type One<const FMA: bool>: Lanes<Float = Self, Proof = ()>;

    /// Half the unit in the last place of 1: LAPACK's `eps`.
    const ROUNDING: Self;
    /// The smallest normal number, whose reciprocal is finite: LAPACK's `safmin`.
    const SMALLEST: Self;

    /// The nearest.
    fn of(value: f64) -> Self;
    /// The same number.
    fn f64(self) -> f64;
}

/// Arithmetic on each lane alone, so that a lane's results depend neither on the others nor on how
/// many there are. Nothing is fused but what says so.
pub trait Lanes:
    Copy
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// What a lane holds.
    type Float: Float;
    /// The number of lanes.
    const WIDTH: usize;
    /// How many vectors the processor holds in registers.
    const REGISTERS: usize;

    /// What shows that the processor has these vectors. There is no other way to one, so whoever has a
    /// vector has shown it.
    type Proof: Copy;

    /// `value`, rounded, in all lanes of another vector.
    fn like(self, value: f64) -> Self;
    /// The lanes.
    fn as_slice(&self) -> &[Self::Float];
    /// The lanes, to be changed.
    fn as_mut_slice(&mut self) -> &mut [Self::Float];
    /// [`block::gather_full`], not inlined: kernels have it many times.
    fn gather(matrices: &[Self::Float], to: &mut [Self]);
    /// [`block::scatter_full`], not inlined.
    fn scatter(from: &mut [Self], matrices: &mut [Self::Float]);
    /// The first vectors of `square`, as many as each has lanes, transposed as a matrix.
    fn transpose(square: &mut [Self]);
    /// `self * b + c`, rounded once where the processor can and twice elsewhere, but always the
    /// same way for all of a process.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `c - self * b`, in the same way.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// The absolute value with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// `yes` where `self < other`, else `no`; `no` with NaN.
    fn if_less(self, other: Self, yes: Self, no: Self) -> Self;
    /// `yes` where `self == other`, else `no`; `no` with NaN.
    fn if_equal(self, other: Self, yes: Self, no: Self) -> Self;
    /// Whether `self < other` in some lane.
    fn any_less(self, other: Self) -> bool;
    /// A bit for each lane, the first one's last, that is 1 where `self == other`.
    fn equal_bits(self, other: Self) -> u64;
    /// [`rows::product`], not inlined.
    fn product(columns: &mut [Self], step: &Product<'_, Self>, work: &mut [Self]);
    /// [`rows::follow`], not inlined.
    fn follow(columns: &mut [Self], step: &Step<'_, Self>, work: &mut [Self]);
    /// [`rows::reflect`], not inlined.
    fn reflect(columns: &mut [Self], stride: usize, blocks: &[Block<'_, Self>]);
    /// [`rows::prepare`], not inlined.
    fn prepare(
        panel: &[Self],
        stride: usize,
        rows: (usize, usize),
        tau: (&[Self::Float], Task),
        memory: &mut [Self],
    );
    /// [`rows::project`], not inlined.
    fn project(
        left: &[Self],
        columns: &[Self],
        stride: usize,
        which: Range<usize>,
        to: &mut [Self],
    );

    /// The lanes of all vectors, one after the other.
    #[inline(always)]
    fn flat(values: &[Self]) -> &[Self::Float] {
        const { assert!(size_of::<Self>() == Self::WIDTH * size_of::<Self::Float>()) };
        let count = values.len() * Self::WIDTH;
        // SAFETY: vectors are arrays of their lanes, without anything between them, and any bits
        // are a number.
        unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), count) }
    }

    /// The same, to be changed.
    #[inline(always)]
    fn flat_mut(values: &mut [Self]) -> &mut [Self::Float] {
        const { assert!(size_of::<Self>() == Self::WIDTH * size_of::<Self::Float>()) };
        let count = values.len() * Self::WIDTH;
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), count) }
    }

    /// The larger; `other` with NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        other.if_less(self, self, other)
    }
}

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
#[cfg(any(feature = "testing", not(target_arch = "x86_64")))]
pub(crate) const PLAIN_FMA: bool = cfg!(any(target_arch = "aarch64", target_arch = "x86_64"));

/// `a * b + c` with one rounding, of a vector of `W` numbers.
mod fused {
    macro_rules! fused {
        ($($t:ident $call:ident)*) => {$(
            #[inline(always)]
            pub(super) fn $t<const W: usize>(a: $t, b: $t, c: $t) -> $t {
                // In tests, where no instruction is asked for. It would be a call of the C library's, and Windows' rounds
                // twice.
                #[cfg(all(feature = "testing", target_arch = "x86_64"))]
                if W > 1 {
                    return libm::$call(a, b, c);
                }
                a.mul_add(b, c)
            }
        )*};
    }
    fused!(f32 fmaf f64 fma);
}

/// What kernels share, of vectors whose instructions need not be asked for.
macro_rules! shared {
    ($float:ty) => {
        #[inline(never)]
        fn gather(matrices: &[$float], to: &mut [Self]) {
            block::gather_full(matrices, to);
        }
        #[inline(never)]
        fn scatter(from: &mut [Self], matrices: &mut [$float]) {
            block::scatter_full(from, matrices);
        }
        #[inline(never)]
        fn product(columns: &mut [Self], step: &Product<'_, Self>, work: &mut [Self]) {
            rows::product(columns, step, work);
        }
        #[inline(never)]
        fn follow(columns: &mut [Self], step: &Step<'_, Self>, work: &mut [Self]) {
            rows::follow(columns, step, work);
        }
        #[inline(never)]
        fn reflect(columns: &mut [Self], stride: usize, blocks: &[Block<'_, Self>]) {
            rows::reflect(columns, stride, blocks);
        }
        #[inline(never)]
        fn prepare(
            panel: &[Self],
            stride: usize,
            rows: (usize, usize),
            tau: (&[$float], Task),
            memory: &mut [Self],
        ) {
            rows::prepare(panel, stride, rows, tau, memory);
        }
        #[inline(never)]
        fn project(
            left: &[Self],
            columns: &[Self],
            stride: usize,
            which: Range<usize>,
            to: &mut [Self],
        ) {
            rows::project(left, columns, stride, which, to);
        }
    };
}
#[cfg(target_arch = "aarch64")]
pub(crate) use shared;

macro_rules! floats {
    ($($t:ident $plain:literal $neon:ident $avx2:ident $avx512:ident;)*) => {$(
        impl Float for $t {
            #[cfg(target_arch = "aarch64")]
            type Plain = crate::arm64::$neon;
            #[cfg(all(
                not(target_arch = "aarch64"),
                any(feature = "testing", not(target_arch = "x86_64"))
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
