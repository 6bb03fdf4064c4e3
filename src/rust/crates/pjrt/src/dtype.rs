//! Element types.

use pjrt_api::PJRT_Buffer_Type;
use std::fmt;

macro_rules! dtypes {
    ($($variant:ident, $xla:ident, $name:literal, $size:literal, [$($alias:literal),*], $doc:literal;)*) => {
        /// An element type that this host moves to and from a device.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum DType {
            $(#[doc = $doc] $variant,)*
        }

        impl DType {
            /// Every element type.
            pub const ALL: &'static [DType] = &[$(DType::$variant),*];

            /// The name that users see, e.g. `"f32"`, `"ui8"`, `"pred"`.
            pub fn name(self) -> &'static str {
                match self {
                    $(DType::$variant => $name,)*
                }
            }

            /// The type of that name or alias (`i1`, `bool`, `s32`, `u8`, …), if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name $(| $alias)* => Some(DType::$variant),)*
                    _ => None,
                }
            }

            /// Bytes per element.
            pub fn size(self) -> usize {
                match self {
                    $(DType::$variant => $size,)*
                }
            }

            /// The C API's name of the type.
            pub fn to_pjrt(self) -> PJRT_Buffer_Type {
                match self {
                    $(DType::$variant => PJRT_Buffer_Type::$xla,)*
                }
            }

            /// The type of that name in the C API, if this host supports it.
            pub fn from_pjrt(code: PJRT_Buffer_Type) -> Option<Self> {
                match code {
                    $(PJRT_Buffer_Type::$xla => Some(DType::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

dtypes! {
    Pred, PRED, "pred", 1, ["i1", "bool"], "True or false, one byte each.";
    I8, S8, "i8", 1, ["s8"], "8-bit signed integer.";
    I16, S16, "i16", 2, ["s16"], "16-bit signed integer.";
    I32, S32, "i32", 4, ["s32"], "32-bit signed integer.";
    I64, S64, "i64", 8, ["s64"], "64-bit signed integer.";
    U8, U8, "ui8", 1, ["u8"], "8-bit unsigned integer.";
    U16, U16, "ui16", 2, ["u16"], "16-bit unsigned integer.";
    U32, U32, "ui32", 4, ["u32"], "32-bit unsigned integer.";
    U64, U64, "ui64", 8, ["u64"], "64-bit unsigned integer.";
    F16, F16, "f16", 2, [], "IEEE half precision.";
    BF16, BF16, "bf16", 2, [], "The upper half of an `f32`.";
    F32, F32, "f32", 4, [], "Single precision.";
    F64, F64, "f64", 8, [], "Double precision.";
    C64, C64, "c64", 8, [], "Complex of two `f32`.";
    C128, C128, "c128", 16, [], "Complex of two `f64`.";
}

impl DType {
    /// Whether elements are complex.
    pub fn is_complex(self) -> bool {
        matches!(self, DType::C64 | DType::C128)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
