//! Element types.

use pjrt_api::PJRT_Buffer_Type;
use std::fmt;
use xla_ffi::{DataKind, DataType, DataTypeInfo};

macro_rules! dtypes {
    ($($variant:ident = $id:ident),* $(,)?) => {
        /// An element type that this host moves to and from a device. Names, sizes and numbers are
        /// those of [`DataType`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names say it")]
        pub enum DType {
            $($variant,)*
        }

        impl DType {
            /// Every element type.
            pub const ALL: &'static [DType] = &[$(DType::$variant),*];

            /// What is known of the type.
            pub const fn info(self) -> &'static DataTypeInfo {
                match self {
                    $(DType::$variant => const {
                        match DataType::$id.info() {
                            Some(info) => info,
                            None => panic!("it is in the table"),
                        }
                    },)*
                }
            }

            /// The type of XLA's that has this number, if this host supports it.
            pub const fn of(dtype: DataType) -> Option<Self> {
                match dtype {
                    $(DataType::$id => Some(DType::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

dtypes! {
    Pred = PRED, I8 = S8, I16 = S16, I32 = S32, I64 = S64, U8 = U8, U16 = U16, U32 = U32, U64 = U64,
    F16 = F16, BF16 = BF16, F32 = F32, F64 = F64, C64 = C64, C128 = C128,
}

impl DType {
    /// The name that users see, e.g. `"f32"`, `"ui8"`, `"pred"`.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The type of that name or alias (`i1`, `bool`, `s32`, `u8`, …), if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        DataType::from_name(name).and_then(Self::of)
    }

    /// Bytes per element.
    pub const fn size(self) -> usize {
        self.info().size
    }

    /// The C API's name of the type.
    pub const fn to_pjrt(self) -> PJRT_Buffer_Type {
        PJRT_Buffer_Type::of(self.info().dtype)
    }

    /// The type of that name in the C API, if this host supports it.
    pub fn from_pjrt(code: PJRT_Buffer_Type) -> Option<Self> {
        code.data_type().and_then(Self::of)
    }

    /// Whether there is NaN among its numbers.
    pub fn has_nan(self) -> bool {
        matches!(self.info().kind, DataKind::Float | DataKind::Complex)
    }

    /// Whether elements are complex.
    pub fn is_complex(self) -> bool {
        self.info().kind == DataKind::Complex
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases() {
        for &dtype in DType::ALL {
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
            assert_eq!(DType::from_pjrt(dtype.to_pjrt()), Some(dtype));
        }
        assert_eq!(DType::from_name("bool"), Some(DType::Pred));
        assert_eq!(DType::from_name("u16"), Some(DType::U16));
        assert_eq!(DType::from_name("s64"), Some(DType::I64));
        assert_eq!(DType::from_name("f8"), None);
    }
}
