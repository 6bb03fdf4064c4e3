//! Numbers, names and sizes of element types.

use core::fmt;

/// The element type of a buffer or attribute, in XLA's numbering.
///
/// A number that this crate does not know (a newer XLA's) is a value like any other: it has no
/// name and no size, and no typed buffer accepts it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct DataType(
    /// XLA's number.
    pub i32,
);

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DataKind {
    /// A truth value.
    Pred,
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A floating-point number.
    Float,
    /// A complex number: two floating-point numbers.
    Complex,
}

/// What is known of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataTypeInfo {
    /// The type.
    pub dtype: DataType,
    /// Short name: `"f32"`, `"pred"`, `"i32"`, `"ui8"`, `"bf16"`, `"c64"`…
    pub name: &'static str,
    /// Other names that [`DataType::from_name`] takes: `"bool"`, `"s32"`, `"u8"`…
    pub aliases: &'static [&'static str],
    /// What an element is.
    pub kind: DataKind,
    /// Bits of an element; a truth value has 8.
    pub bits: usize,
    /// Bytes per element as XLA stores them for a handler: types below 8 bits take a whole byte.
    pub size: usize,
    /// The name that numpy or ml_dtypes has for it.
    pub numpy: &'static str,
    /// DLPack's type code, as of its version 1.1.
    pub dlpack: u8,
}

macro_rules! data_types {
    ($($id:ident = $xla:literal ($pjrt:tt, $name:literal, $aliases:tt, $kind:ident, $bits:literal,
       $numpy:literal, $dlpack:literal) $doc:literal;)*) => {
        impl DataType {
            $(#[doc = $doc] pub const $id: DataType = DataType($xla);)*

            /// Every element type that this crate knows, in XLA's order.
            pub const ALL: &'static [DataType] = &[$(DataType::$id),*];

            /// What is known of the type; `None` for [`INVALID`](DataType::INVALID),
            /// [`TOKEN`](DataType::TOKEN) and a number that this crate does not know.
            #[must_use]
            pub const fn info(self) -> Option<&'static DataTypeInfo> {
                match self {
                    $(DataType::$id => {
                        const INFO: &DataTypeInfo = &DataTypeInfo {
                            dtype: DataType::$id,
                            name: $name,
                            aliases: &$aliases,
                            kind: DataKind::$kind,
                            bits: $bits,
                            size: usize::div_ceil($bits, 8),
                            numpy: $numpy,
                            dlpack: $dlpack,
                        };
                        Some(INFO)
                    })*
                    _ => None,
                }
            }
        }
    };
}

for_each_dtype!(data_types);

impl DataType {
    /// No type.
    pub const INVALID: DataType = DataType(0);
    /// Orders side effects; no data.
    pub const TOKEN: DataType = DataType(17);

    /// Short name: `"f32"`, `"pred"`, `"i32"`, `"ui8"`, `"bf16"`, `"c64"`…; `"unknown"` for a number
    /// that this crate does not know.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match (self, self.info()) {
            (_, Some(info)) => info.name,
            (DataType::INVALID, None) => "invalid",
            (DataType::TOKEN, None) => "token",
            _ => "unknown",
        }
    }

    /// The element type of that name or alias, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<DataType> {
        let mut known = DataType::ALL.iter().filter_map(|dtype| dtype.info());
        known
            .find(|info| info.name == name || info.aliases.contains(&name))
            .map(|info| info.dtype)
    }

    /// Bytes per element as XLA stores them for a handler (types below 8 bits take a whole
    /// byte there); `None` where that is not known.
    #[must_use]
    pub const fn size(self) -> Option<usize> {
        match (self, self.info()) {
            (_, Some(info)) => Some(info.size),
            (DataType::INVALID | DataType::TOKEN, None) => Some(0),
            _ => None,
        }
    }

    /// The type of the two parts of complex numbers, `f32` for `c64`.
    #[must_use]
    pub const fn part(self) -> Option<DataType> {
        match self {
            DataType::C64 => Some(DataType::F32),
            DataType::C128 => Some(DataType::F64),
            _ => None,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.size() {
            Some(_) => f.write_str(self.name()),
            None => write!(f, "unknown dtype {}", self.0),
        }
    }
}

impl fmt::Debug for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
