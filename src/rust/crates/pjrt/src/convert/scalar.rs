//! How one number becomes another.

use half::{bf16, f16};

/// True or false in one byte; everything but 0 is true.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
pub(crate) struct Pred(pub u8);

/// Conversion of one element. Numbers out of range become the nearest in range, fractions are
/// cut off, NaN becomes 0 (for integers) or true (for `Pred`).
pub(crate) trait Cast<D>: Copy {
    /// Whether the pair is worth a loop of its own that transposes too.
    const OFTEN: bool = false;

    fn cast(self) -> D;
}

/// No conversion.
impl<T: Copy> Cast<T> for T {
    #[inline(always)]
    fn cast(self) -> T {
        self
    }
}

/// Between integers: clamped, in a type that holds both ranges.
macro_rules! integers {
    ($($s:ty => $($d:ty)+;)*) => {$($(
        impl Cast<$d> for $s {
            #[inline(always)]
            fn cast(self) -> $d {
                if const { (<$d>::MIN as i128) <= (<$s>::MIN as i128) && (<$s>::MAX as i128) <= (<$d>::MAX as i128) } {
                    self as $d
                } else if const { (<$d>::MIN as i128) > (<$s>::MIN as i128) && (<$d>::MAX as i128) >= (<$s>::MAX as i128) } {
                    // Only the lower end is out of range: 0 or the type's own least value.
                    self.max(<$d>::MIN as $s) as $d
                } else if const { (<$d>::MIN as i128) <= (<$s>::MIN as i128) } {
                    self.min(<$d>::MAX as $s) as $d
                } else {
                    self.clamp(<$d>::MIN as $s, <$d>::MAX as $s) as $d
                }
            }
        }
    )+)*};
}

/// R has no unsigned 64-bit integers: integer64 carries their bits, both ways.
impl Cast<u64> for i64 {
    #[inline(always)]
    fn cast(self) -> u64 {
        self as u64
    }
}

/// Rust's `as`: between real types rounded to nearest; from reals to integers as stated above.
macro_rules! numeric {
    ($often:literal: $($s:ty => $($d:ty)+;)*) => {$($(
        impl Cast<$d> for $s {
            const OFTEN: bool = $often;

            #[inline(always)]
            fn cast(self) -> $d {
                self as $d
            }
        }
    )+)*};
}

integers! {
    i32 => i8 i16 i64 u8 u16 u32 u64;
    i64 => i8 i16 i32 u8 u16 u32;
    u8 => i8 i16 i32 i64 u16 u32 u64;
    i8 => i32 i64 u8;
    i16 => i32 i64 u8;
    u16 => i32 i64 u8;
    u32 => i32 i64 u8;
    u64 => i32 i64 u8;
}

numeric! {
    true:
    f64 => f32 i32;
    f32 => f64;
    i32 => f32 f64;
}

numeric! {
    false:
    f64 => i8 i16 i64 u8 u16 u32 u64;
    f32 => i32 i64 u8;
    i64 => f32 f64;
    u8 => f32 f64;
    i8 => f64;
    i16 => f64;
    u16 => f64;
    u32 => f64;
    u64 => f64;
}

/// From and to `Pred`; R's logical values are `i32`.
macro_rules! pred {
    (to: $($s:ty)+; from: $($d:ty)+) => {
        $(impl Cast<Pred> for $s {
            const OFTEN: bool = size_of::<$s>() == 4;

            #[inline(always)]
            fn cast(self) -> Pred {
                Pred(u8::from(self != (0 as $s)))
            }
        })+
        $(impl Cast<$d> for Pred {
            const OFTEN: bool = size_of::<$d>() == 4;

            #[inline(always)]
            fn cast(self) -> $d {
                u8::from(self.0 != 0) as $d
            }
        })+
    };
}

pred! { to: f64 i32 i64 u8; from: f64 i32 i64 u8 }

/// Nearest `f32` in the sense of "round to odd": where `x` lies between two, the one with an odd
/// last bit. Rounding that again to a shorter type gives the correctly rounded result.
#[inline(always)]
fn to_odd(x: f64) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    if back == x || x.is_nan() || near.to_bits() & 1 == 1 {
        return near;
    }
    // `near` is even and not exact: its neighbour on the other side of `x` is odd. The bit
    // pattern, read as an integer, grows with the magnitude.
    let bits = near.to_bits();
    let outwards = back.abs() < x.abs();
    f32::from_bits(if outwards { bits + 1 } else { bits - 1 })
}

/// Half precisions, by way of `f32`.
macro_rules! halves {
    ($($h:ty)+) => {$(
        impl Cast<$h> for f64 {
            #[inline(always)]
            fn cast(self) -> $h {
                <$h>::from_f32(to_odd(self))
            }
        }
        impl Cast<$h> for i32 {
            #[inline(always)]
            fn cast(self) -> $h {
                Cast::<$h>::cast(f64::from(self))
            }
        }
        impl Cast<$h> for i64 {
            #[inline(always)]
            fn cast(self) -> $h {
                Cast::<$h>::cast(self as f64)
            }
        }
        impl Cast<$h> for u8 {
            #[inline(always)]
            fn cast(self) -> $h {
                <$h>::from_f32(f32::from(self))
            }
        }
        impl Cast<f64> for $h {
            #[inline(always)]
            fn cast(self) -> f64 {
                f64::from(self.to_f32())
            }
        }
        impl Cast<i32> for $h {
            #[inline(always)]
            fn cast(self) -> i32 {
                self.to_f32() as i32
            }
        }
        impl Cast<i64> for $h {
            #[inline(always)]
            fn cast(self) -> i64 {
                self.to_f32() as i64
            }
        }
        impl Cast<u8> for $h {
            #[inline(always)]
            fn cast(self) -> u8 {
                self.to_f32() as u8
            }
        }
    )+};
}

halves! { f16 bf16 }

impl Cast<[f32; 2]> for [f64; 2] {
    const OFTEN: bool = true;

    #[inline(always)]
    fn cast(self) -> [f32; 2] {
        [self[0] as f32, self[1] as f32]
    }
}

impl Cast<[f64; 2]> for [f32; 2] {
    const OFTEN: bool = true;

    #[inline(always)]
    fn cast(self) -> [f64; 2] {
        [f64::from(self[0]), f64::from(self[1])]
    }
}

/// Real numbers as complex ones.
macro_rules! complex {
    ($($s:ty)+ => $d:ty) => {$(
        impl Cast<[$d; 2]> for $s {
            #[inline(always)]
            fn cast(self) -> [$d; 2] {
                [Cast::<$d>::cast(self), 0.0]
            }
        }
    )+};
}

complex! { f64 i32 i64 u8 => f32 }
complex! { Pred i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 => f64 }
