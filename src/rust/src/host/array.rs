//! Dtypes and shapes as R writes them, and arrays on their way back to R.

use extendr_api::Robj;
use extendr_ffi::{
    R_ClassSymbol, R_DimSymbol, R_NilValue, Rf_setAttrib, COMPLEX, INTEGER, LOGICAL, RAW, REAL,
    SEXP, SEXPTYPE,
};
use pjrt::{Buffer, DType, Dest, Order};

use crate::host::contents::size;
use crate::r::argument::counts;
use crate::r::bit64;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::{attribute, borrowed, text};
use crate::r::protected::{alloc, Protected};
use crate::r::unwind::{check_interrupt, protect};
use crate::r::value::{IntoSexp, Value};
use crate::r::vector::{fill, length};

/// A dtype from its name.
pub fn dtype(name: &Robj) -> Outcome<DType> {
    let name =
        text(name).ok_or_else(|| Failure::argument("dtype", "`dtype` must be one string"))?;
    DType::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
        Failure::argument("dtype", format!("there is no dtype \"{name}\""))
            .hint(format!("There are: {}.", known.join(", ")))
    })
}

/// The dimensions of an R object: its `dim`, or its length.
pub fn dims_of(data: &Robj) -> Vec<i64> {
    // SAFETY: a symbol of R's; the attribute belongs to `data`, which the caller protects.
    let dim = unsafe { attribute(data, R_DimSymbol) };
    // SAFETY: as above.
    match counts(unsafe { borrowed(&dim) }) {
        Some(dims) if !dims.is_empty() => dims,
        _ => vec![length(data) as i64],
    }
}

/// Whether an R object has dimensions.
pub fn has_dims(data: &Robj) -> bool {
    // SAFETY: a symbol of R's; the attribute is only looked at.
    unsafe { attribute(data, R_DimSymbol) != R_NilValue }
}

/// Whether an R object is an array of one axis, and no plain vector.
pub fn has_one_axis(data: &Robj) -> bool {
    // SAFETY: a symbol of R's; the attribute belongs to `data`, which the caller protects.
    let dim = unsafe { attribute(data, R_DimSymbol) };
    // SAFETY: as above.
    length(unsafe { borrowed(&dim) }) == 1
}

/// Dimensions from a user's `shape`.
pub fn dims(shape: &Robj) -> Outcome<Vec<i64>> {
    counts(shape).ok_or_else(|| {
        Failure::argument(
            "shape",
            "`shape` must be whole numbers that are not negative",
        )
    })
}

/// How many elements an array has; an error if it cannot be held in memory.
pub fn count(dims: &[i64], dtype: DType) -> Outcome<usize> {
    if dims.contains(&0) {
        return Ok(0);
    }
    let count = dims
        .iter()
        .try_fold(1_usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?));
    count
        .filter(|n| {
            n.checked_mul(dtype.size())
                .is_some_and(|b| isize::try_from(b).is_ok())
        })
        .ok_or_else(|| Failure {
            code: "RESOURCE_EXHAUSTED",
            ..Failure::argument(
                "shape",
                format!(
                    "{dtype} of shape {} does not fit into any memory",
                    shape_text(dims)
                ),
            )
        })
}

/// "(2, 3)".
pub fn shape_text(dims: &[i64]) -> String {
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    format!("({})", dims.join(", "))
}

/// Dimensions for R.
pub fn dims_to_r(dims: &[i64]) -> Outcome<Vec<i32>> {
    dims.iter()
        .map(|&d| i32::try_from(d))
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| {
            Failure::new(
                "OUT_OF_RANGE",
                format!("R has no arrays with the dimensions {}", shape_text(dims)),
            )
        })
}

/// Sets `dim`, except on a scalar.
pub fn set_dims(object: &Protected, dims: &[i64]) -> Outcome<()> {
    if dims.is_empty() {
        return Ok(());
    }
    let dim = Value::from(dims_to_r(dims)?).into_sexp();
    // SAFETY: R's thread; both objects are protected.
    unsafe {
        let dim = Protected::new(dim);
        protect(|| Rf_setAttrib(object.sexp(), R_DimSymbol, dim.sexp()));
    }
    Ok(())
}

/// Jumps where the user has pressed Ctrl-C, before so many bytes are moved that a loop over such
/// moves would be deaf: R itself looks after a thousand steps of its own only.
pub fn look_for_interrupt(bytes: usize) {
    const LARGE: usize = 1 << 20;
    if bytes >= LARGE {
        check_interrupt();
    }
}

/// Bytes of a buffer, in Rust's memory. Waits.
pub fn read_bytes(buffer: &Buffer, order: Order) -> Outcome<Vec<u8>> {
    look_for_interrupt(size(buffer));
    let mut bytes = fill(0_u8, buffer.num_elements() * buffer.dtype().size())?;
    buffer.read_with_pauses(Dest::Bytes(&mut bytes), order, &check_interrupt)?;
    Ok(bytes)
}

/// Bytes of a buffer as an R raw vector, not protected. Waits.
pub fn read_raw(buffer: &Buffer, order: Order) -> Outcome<SEXP> {
    look_for_interrupt(size(buffer));
    let len = buffer.num_elements() * buffer.dtype().size();
    let raw = alloc(SEXPTYPE::RAWSXP, len)?;
    // SAFETY: a fresh raw vector of that length.
    let bytes = unsafe { memory(RAW(raw.sexp()), len) };
    buffer.read_with_pauses(Dest::Bytes(bytes), order, &check_interrupt)?;
    Ok(raw.sexp())
}

/// The memory of a fresh R vector. An empty one has no usable address.
///
/// # Safety
/// `data` is the memory of a vector of `len` elements that nobody else sees yet.
unsafe fn memory<'a, T>(data: *mut T, len: usize) -> &'a mut [T] {
    match len {
        0 => &mut [],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts_mut(data, len) },
    }
}

/// The R array of a buffer, not protected. Waits.
pub fn read(buffer: &Buffer) -> Outcome<SEXP> {
    look_for_interrupt(size(buffer));
    let array = new_array(buffer.dtype(), buffer.num_elements(), |dest| {
        Ok(buffer.read_with_pauses(dest, Order::ColumnMajor, &check_interrupt)?)
    })?;
    set_dims(&array, buffer.dims())?;
    Ok(array.sexp())
}

/// An R vector of the type that has numbers of `dtype`, filled by `fill`.
pub fn new_array(
    dtype: DType,
    len: usize,
    fill: impl FnOnce(Dest<'_>) -> Outcome<()>,
) -> Outcome<Protected> {
    let kind = match dtype {
        DType::Pred => SEXPTYPE::LGLSXP,
        DType::I8 | DType::I16 | DType::I32 | DType::U8 | DType::U16 => SEXPTYPE::INTSXP,
        DType::U32 | DType::I64 | DType::U64 => SEXPTYPE::REALSXP,
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => SEXPTYPE::REALSXP,
        DType::C64 | DType::C128 => SEXPTYPE::CPLXSXP,
    };
    let is_integer64 = matches!(dtype, DType::U32 | DType::I64 | DType::U64);
    if is_integer64 {
        bit64::load();
    }
    let array = alloc(kind, len)?;
    // SAFETY: R's thread; a fresh vector of the type whose memory is taken, and of that length.
    // 64-bit integers have the size and alignment of the doubles whose memory they use, and a
    // complex number is its real and its imaginary part.
    let dest = unsafe {
        let sexp = array.sexp();
        match (kind, dtype) {
            (SEXPTYPE::LGLSXP, _) => Dest::I32(memory(LOGICAL(sexp), len)),
            (SEXPTYPE::INTSXP, _) => Dest::I32(memory(INTEGER(sexp), len)),
            (SEXPTYPE::CPLXSXP, _) => Dest::Complex(memory(COMPLEX(sexp).cast(), len)),
            // The bits as they are: large numbers wrap, as R's users of pjrt know it.
            (_, DType::U64) => Dest::Bytes(memory(REAL(sexp).cast(), len * 8)),
            (_, DType::U32 | DType::I64) => Dest::I64(memory(REAL(sexp).cast(), len)),
            _ => Dest::F64(memory(REAL(sexp), len)),
        }
    };
    fill(dest)?;
    if is_integer64 {
        // SAFETY: R's thread; both objects are protected.
        unsafe {
            let class = Protected::new(Value::from("integer64").into_sexp());
            protect(|| Rf_setAttrib(array.sexp(), R_ClassSymbol, class.sexp()));
        }
    }
    Ok(array)
}
