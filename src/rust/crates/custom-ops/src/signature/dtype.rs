//! Element types in signatures: which there are, and what an unknown one may have meant.

use core::ops::Range;

use xla_ffi::raw::nearest;
use xla_ffi::{DataKind, DataType};

use super::error::{Fault, Result};

/// The element types of own ops: those that C has a type for, in XLA's order.
pub const DTYPES: [DataType; 15] = [
    DataType::PRED,
    DataType::S8,
    DataType::S16,
    DataType::S32,
    DataType::S64,
    DataType::U8,
    DataType::U16,
    DataType::U32,
    DataType::U64,
    DataType::F16,
    DataType::F32,
    DataType::F64,
    DataType::C64,
    DataType::BF16,
    DataType::C128,
];

/// What others call them.
const FOREIGN: [(&str, &str); 12] = [
    ("double", "f64"),
    ("float", "f32"),
    ("single", "f32"),
    ("half", "f16"),
    ("numeric", "f64"),
    ("int", "i32"),
    ("integer", "i32"),
    ("long", "i64"),
    ("integer64", "i64"),
    ("logical", "pred"),
    ("complex", "c128"),
    ("char", "i8"),
];

/// A name in the place of an element type: one of XLA's, or `None` for a variable.
pub(super) fn named(name: &str, at: &Range<usize>) -> Result<Option<DataType>> {
    if let Some(dtype) = DataType::from_name(name) {
        return match DTYPES.contains(&dtype) {
            true => Ok(Some(dtype)),
            false => {
                let known: Vec<_> = DTYPES.iter().map(|dtype| dtype.name()).collect();
                let fault = Fault::new(at, format!("own ops have no arrays of {name}"));
                Err(fault.hint(format!("There are {}.", known.join(", "))))
            }
        };
    }
    let meant = meant(name);
    let variable = name.starts_with(|c: char| c.is_ascii_uppercase());
    match meant {
        // Not `F64`, which would take f32 as well.
        Some(meant) if !variable || meant.eq_ignore_ascii_case(name) => {
            let fault = Fault::new(at, format!("there is no dtype `{name}`"));
            Err(fault.hint(format!("Did you mean `{meant}`?")))
        }
        _ if variable => Ok(None),
        _ => {
            let fault = Fault::new(at, format!("there is no dtype `{name}`"));
            Err(fault.hint("A variable for dtypes begins with a capital letter, as `T`."))
        }
    }
}

fn meant(name: &str) -> Option<&'static str> {
    let infos = || DTYPES.iter().filter_map(|dtype| dtype.info());
    let foreign = FOREIGN.iter().find(|(foreign, _)| *foreign == name);
    let numpy = || {
        infos()
            .find(|info| info.numpy == name)
            .map(|info| info.name)
    };
    let letters = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    let swapped = || {
        infos()
            .find(|info| letters(info.name) == letters(name))
            .map(|info| info.name)
    };
    let near = || nearest(name, &infos().map(|info| info.name).collect::<Vec<_>>());
    let foreign = foreign.map(|(_, ours)| *ours);
    foreign.or_else(numpy).or_else(swapped).or_else(near)
}

/// Whether it holds integers.
pub(crate) fn is_integer(dtype: DataType) -> bool {
    kind(dtype).is_some_and(|kind| matches!(kind, DataKind::Signed | DataKind::Unsigned))
}

/// What an element is.
pub(crate) fn kind(dtype: DataType) -> Option<DataKind> {
    dtype.info().map(|info| info.kind)
}

/// The least and the greatest integer; none for other types. The greatest `ui64` is cut to what
/// an `i64` holds.
pub(crate) fn range(dtype: DataType) -> Option<(i64, i64)> {
    let info = dtype.info()?;
    match info.kind {
        DataKind::Signed => Some((-1 << (info.bits - 1), i64::MAX >> (64 - info.bits))),
        DataKind::Unsigned => Some((0, i64::MAX >> (63 - info.bits.min(63)))),
        _ => None,
    }
}
