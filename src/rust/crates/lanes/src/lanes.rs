//! The same number of each of several matrices: one lane per matrix.

use super::operands::{
    Block, Gemver, Hemv, Product, Room, Roots, Secular, Spread, Stedc, Step, Substitution, Sweep,
    Task, Update,
};
use matrices::Element;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Range, Sub};

/// f32 or f64.
pub trait Float: Element<Real = Self> + PartialOrd {
    /// A block on another processor than x86-64.
    #[cfg(any(feature = "plain", not(target_arch = "x86_64")))]
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

/// Work that several kernels have in common. It is compiled once, by [`Lanes::apart`].
pub trait Apart {
    /// Does it. To be `#[inline(always)]`, as what it calls: so it gets the vector instructions.
    fn run(self);
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
    /// `block::gather_full`, not inlined: kernels have it many times.
    fn gather(matrices: &[Self::Float], to: &mut [Self]);
    /// `block::scatter_full`, not inlined.
    fn scatter(from: &mut [Self], matrices: &mut [Self::Float]);
    /// The first vectors of `square`, as many as each has lanes, transposed as a matrix.
    fn transpose(square: &mut [Self]);
    /// Each two lanes side by side exchanged, which are the parts of a complex number.
    fn swap_parts(self) -> Self;
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
    /// `rows::product`, not inlined.
    fn product(columns: &mut [Self], step: &Product<'_, Self>, work: &mut [Self]);
    /// `rows::follow`, not inlined.
    fn follow(columns: &mut [Self], step: &Step<'_, Self>, work: &mut [Self]);
    /// `rows::substitute`, not inlined.
    fn substitute(strip: &mut [Self], step: &Substitution<'_, Self>, work: &mut [Self]);
    /// `rows::reflect`, not inlined.
    fn reflect(columns: &mut [Self], stride: usize, blocks: &[Block<'_, Self>]);
    /// `rows::prepare`, not inlined.
    fn prepare(
        panel: &[Self],
        stride: usize,
        rows: (usize, usize),
        tau: (&[Self::Float], Task),
        memory: &mut [Self],
    );
    /// `rows::project`, not inlined.
    fn project(
        left: &[Self],
        columns: &[Self],
        stride: usize,
        which: Range<usize>,
        to: &mut [Self],
    );
    /// `rows::sweep`, not inlined.
    fn sweep(a: &mut [Self], step: &Sweep<'_, Self>, p: &mut [Self]);
    /// `rows::multiply`, not inlined.
    fn multiply(p: &mut [Self], a: &[Self], step: &Sweep<'_, Self>, which: Range<usize>);
    /// `rows::hemv`, not inlined.
    fn hemv(p: &mut [Self], a: &[Self], step: &Hemv<'_, Self>, which: Range<usize>);
    /// `rows::larfg`, not inlined.
    fn larfg(column: &mut [Self], row: usize, x: &mut [Self], results: &mut [Self::Float; 2]);
    /// `rows::gemver`, not inlined.
    fn gemver(
        a: &mut [Self],
        step: &Gemver<'_, Self>,
        update: Update<'_, Self>,
        results: [&mut [Self]; 3],
    );
    /// `rows::gemvt`, not inlined.
    fn gemvt(a: &[Self], step: &Gemver<'_, Self>, results: [&mut [Self]; 3]);
    /// `rows::gemvh`, not inlined.
    fn gemvh(a: &[Self], step: &Gemver<'_, Self>, results: [&mut [Self]; 3]);
    /// Does the work, not inlined; `any` shows that there are such vectors.
    fn apart<Work: Apart>(work: Work, any: Self);
    /// `singular::diagonal`, with factors, not inlined: of how many elements it did not get rid becomes `failed`.
    fn bdsqr(d: &mut [Self], e: &mut [Self], factors: [(&mut [Self], usize); 2], failed: &mut Self);
    /// `symmetric::diagonal`, with a `q`, not inlined: of how many elements it did not get rid becomes `failed`.
    fn steqr(d: &mut [Self], e: &mut [Self], q: &mut [Self], failed: &mut Self);
    /// `rows::stedc`, not inlined.
    fn stedc(
        q: &mut [Self],
        problem: &mut Stedc<'_, Self::Float>,
        room: &mut Room<'_, Self>,
        found: &mut bool,
    );
    /// `rows::sterf`, not inlined.
    fn sterf(room: &mut [Self], problem: &mut Stedc<'_, Self::Float>, found: &mut bool);
    /// `rows::roots`, not inlined.
    fn roots(pairs: &mut [Self], equation: &Secular<'_, Self::Float>, first: usize);
    /// `rows::weights`, not inlined.
    fn weights(
        z: &mut [Self],
        equation: &Secular<'_, Self::Float>,
        roots: &Roots<'_, Self>,
        first: usize,
    );
    /// `rows::spread`, not inlined.
    fn spread(columns: &mut [Self], stride: usize, of: &Spread<'_, Self>, first: usize);
    /// `rows::ends`, not inlined.
    fn ends(columns: &mut [Self], of: [&[Self]; 4], roots: &Roots<'_, Self>, first: usize);

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

    /// -1 and 1 in turns: with those, the parts [swapped](Lanes::swap_parts) are a complex number times i.
    #[inline(always)]
    fn signs(self) -> Self {
        let mut signs = self.like(1.0);
        // A plain loop over all lanes: others are computed when the program runs.
        for (lane, sign) in signs.as_mut_slice().iter_mut().enumerate() {
            *sign = Self::Float::of(if lane % 2 == 0 { -1.0 } else { 1.0 });
        }
        signs
    }

    /// Complex numbers, whose parts are lanes side by side, times i.
    #[inline(always)]
    fn times_i(self) -> Self {
        self.swap_parts() * self.signs()
    }

    /// The larger; `other` with NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        other.if_less(self, self, other)
    }
}
