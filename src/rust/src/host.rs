//! R vectors as the host's data, and back. R's memory is column-major and used where it lies.

use extendr_api::prelude::*;
use extendr_api::{wrapper, AsTypedSlice};
use extendr_ffi::{Rcomplex, SEXPTYPE};
use pjrt::{Buffer, DType, Dest, Order, Source};
use xla_ffi::DataType;

use crate::failure::{Failure, Outcome};
use crate::pointer::{alloc, described};

/// The elements of an R vector.
pub enum Vector<'a> {
    /// Logical.
    Logical(&'a [i32]),
    /// Integer.
    Integer(&'a [i32]),
    /// Double.
    Double(&'a [f64]),
    /// bit64's integer64: 64-bit integers in the memory of doubles.
    Integer64(&'a [i64]),
    /// Complex.
    Complex(&'a [[f64; 2]]),
}

impl<'a> Vector<'a> {
    /// Sees an R vector as one of the types that can go to a device.
    pub fn new(data: &'a Robj) -> Outcome<Self> {
        match data.rtype() {
            Rtype::Doubles => {
                let slice: &[f64] = slice(data)?;
                if data.inherits("integer64") {
                    // SAFETY: f64 and i64 have the same size and alignment, and every bit
                    // pattern is a valid i64.
                    let slice = unsafe {
                        std::slice::from_raw_parts(slice.as_ptr().cast::<i64>(), slice.len())
                    };
                    return Ok(Vector::Integer64(slice));
                }
                Ok(Vector::Double(slice))
            }
            Rtype::Integers => Ok(Vector::Integer(slice(data)?)),
            Rtype::Logicals => {
                let slice: &[Rbool] = slice(data)?;
                // SAFETY: an Rbool is a transparent i32.
                let slice = unsafe {
                    std::slice::from_raw_parts(slice.as_ptr().cast::<i32>(), slice.len())
                };
                Ok(Vector::Logical(slice))
            }
            Rtype::Complexes => {
                let slice: &[c64] = slice(data)?;
                const _: () = assert!(size_of::<c64>() == size_of::<[f64; 2]>());
                // SAFETY: a complex number is its real and its imaginary part, in this order.
                let slice = unsafe {
                    std::slice::from_raw_parts(slice.as_ptr().cast::<[f64; 2]>(), slice.len())
                };
                Ok(Vector::Complex(slice))
            }
            _ => Err(Failure::argument(
                "data",
                format!("`data` must be a vector of numbers, not {}", described(data)),
            )),
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Vector::Logical(x) | Vector::Integer(x) => x.len(),
            Vector::Double(x) => x.len(),
            Vector::Integer64(x) => x.len(),
            Vector::Complex(x) => x.len(),
        }
    }

    /// The dtype if the user names none.
    pub fn default_dtype(&self) -> DType {
        match self {
            Vector::Logical(_) => DType::Pred,
            Vector::Integer(_) => DType::I32,
            Vector::Double(_) => DType::F32,
            Vector::Integer64(_) => DType::I64,
            Vector::Complex(_) => DType::C64,
        }
    }

    /// As the host takes it.
    pub fn source(&self) -> Source<'a> {
        match self {
            Vector::Logical(x) | Vector::Integer(x) => Source::I32(x),
            Vector::Double(x) => Source::F64(x),
            Vector::Integer64(x) => Source::I64(x),
            Vector::Complex(x) => Source::Complex(x),
        }
    }

    /// The first element, `count` times.
    pub fn repeat(&self, count: usize) -> Outcome<Filled> {
        Ok(match self {
            Vector::Logical(x) | Vector::Integer(x) => Filled::I32(fill(x[0], count)?),
            Vector::Double(x) => Filled::F64(fill(x[0], count)?),
            Vector::Integer64(x) => Filled::I64(fill(x[0], count)?),
            Vector::Complex(x) => Filled::Complex(fill(x[0], count)?),
        })
    }
}

/// A repeated element.
pub enum Filled {
    /// Integer or logical.
    I32(Vec<i32>),
    /// Double.
    F64(Vec<f64>),
    /// integer64.
    I64(Vec<i64>),
    /// Complex.
    Complex(Vec<[f64; 2]>),
}

impl Filled {
    /// As the host takes it.
    pub fn source(&self) -> Source<'_> {
        match self {
            Filled::I32(x) => Source::I32(x),
            Filled::F64(x) => Source::F64(x),
            Filled::I64(x) => Source::I64(x),
            Filled::Complex(x) => Source::Complex(x),
        }
    }
}

fn fill<T: Clone>(value: T, count: usize) -> Outcome<Vec<T>> {
    let mut filled = Vec::new();
    filled
        .try_reserve_exact(count)
        .map_err(|_| too_large(count.saturating_mul(size_of::<T>())))?;
    filled.resize(count, value);
    Ok(filled)
}

/// `bytes` zeros.
pub fn zeros(bytes: usize) -> Outcome<Vec<u8>> {
    fill(0, bytes)
}

fn too_large(bytes: usize) -> Failure {
    Failure::new(
        "RESOURCE_EXHAUSTED",
        format!("{bytes} bytes of memory cannot be allocated"),
    )
}

fn slice<'a, T>(data: &'a Robj) -> Outcome<&'a [T]>
where
    Robj: AsTypedSlice<'a, T>,
    T: 'a,
{
    data.as_typed_slice()
        .ok_or_else(|| Failure::argument("data", "`data` cannot be read as a vector"))
}

/// A dtype from its name.
pub fn dtype(name: &Robj) -> Outcome<DType> {
    let name = name
        .as_str()
        .ok_or_else(|| Failure::argument("dtype", "`dtype` must be one string"))?;
    DType::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
        Failure::argument("dtype", format!("there is no dtype \"{name}\""))
            .hint(format!("There are: {}.", known.join(", ")))
    })
}

/// The same type in XLA's numbering. Both crates use the same names.
pub fn ffi_dtype(dtype: DType) -> DataType {
    let same = |other: &&DataType| other.name() == dtype.name();
    DataType::ALL.iter().find(same).copied().unwrap_or(DataType::INVALID)
}

/// The dimensions of an R object: its `dim`, or its length.
pub fn dims_of(data: &Robj) -> Vec<i64> {
    match data.dim() {
        Some(dims) => dims.iter().map(|d| i64::from(d.0)).collect(),
        None => vec![data.len() as i64],
    }
}

/// Dimensions from a user's `shape`.
pub fn dims(shape: &Robj) -> Outcome<Vec<i64>> {
    let whole = |&x: &f64| x.fract() == 0.0 && (0.0..9e15).contains(&x);
    let numbers: Option<Vec<f64>> = match shape.rtype() {
        Rtype::Integers => shape
            .as_integer_slice()
            .map(|x| x.iter().map(|&d| f64::from(d)).collect()),
        Rtype::Doubles => shape.as_real_slice().map(<[f64]>::to_vec),
        Rtype::Null => Some(Vec::new()),
        _ => None,
    };
    match numbers {
        Some(numbers) if numbers.iter().all(whole) => {
            Ok(numbers.into_iter().map(|x| x as i64).collect())
        }
        _ => Err(Failure::argument(
            "shape",
            "`shape` must be whole numbers that are not negative",
        )),
    }
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
        .filter(|n| n.checked_mul(dtype.size()).is_some_and(|b| isize::try_from(b).is_ok()))
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
pub fn with_dims(mut robj: Robj, dims: &[i64]) -> Outcome<Robj> {
    if !dims.is_empty() {
        let dims = Robj::from(dims_to_r(dims)?);
        robj.set_attrib(wrapper::symbol::dim_symbol(), dims)
            .map_err(|error| Failure::new("INTERNAL", error))?;
    }
    Ok(robj)
}

/// Bytes of a buffer, in Rust's memory. Waits.
pub fn read_bytes(buffer: &Buffer, order: Order) -> Outcome<Vec<u8>> {
    let mut bytes = zeros(buffer.num_elements() * buffer.dtype().size())?;
    buffer.read(Dest::Bytes(&mut bytes), order)?;
    Ok(bytes)
}

/// Bytes of a buffer as an R raw vector. Waits.
pub fn read_raw(buffer: &Buffer, order: Order) -> Outcome<Robj> {
    let len = buffer.num_elements() * buffer.dtype().size();
    let mut robj = alloc(SEXPTYPE::RAWSXP, len)?;
    let bytes: &mut [u8] = slice_mut(&mut robj)?;
    buffer.read(Dest::Bytes(bytes), order)?;
    Ok(robj)
}

/// The R array of a buffer. Waits.
pub fn read(buffer: &Buffer) -> Outcome<Robj> {
    let len = buffer.num_elements();
    let order = Order::ColumnMajor;
    let robj = match buffer.dtype() {
        DType::Pred => {
            let mut robj = alloc(SEXPTYPE::LGLSXP, len)?;
            let slice: &mut [Rbool] = slice_mut(&mut robj)?;
            // SAFETY: an Rbool is a transparent i32.
            let slice = unsafe {
                std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast::<i32>(), slice.len())
            };
            buffer.read(Dest::I32(slice), order)?;
            robj
        }
        DType::I8 | DType::I16 | DType::I32 | DType::U8 | DType::U16 => {
            let mut robj = alloc(SEXPTYPE::INTSXP, len)?;
            buffer.read(Dest::I32(slice_mut(&mut robj)?), order)?;
            robj
        }
        DType::U32 | DType::I64 | DType::U64 => {
            let mut robj = alloc(SEXPTYPE::REALSXP, len)?;
            let slice: &mut [f64] = slice_mut(&mut robj)?;
            let pointer = slice.as_mut_ptr();
            if buffer.dtype() == DType::U64 {
                // The bits as they are: large numbers wrap, as R's users of pjrt know it.
                // SAFETY: the memory of the doubles, as bytes.
                let bytes = unsafe { std::slice::from_raw_parts_mut(pointer.cast(), len * 8) };
                buffer.read(Dest::Bytes(bytes), order)?;
            } else {
                // SAFETY: f64 and i64 have the same size and alignment.
                let slice = unsafe { std::slice::from_raw_parts_mut(pointer.cast(), len) };
                buffer.read(Dest::I64(slice), order)?;
            }
            robj.set_attrib(wrapper::symbol::class_symbol(), "integer64")
                .map_err(|error| Failure::new("INTERNAL", error))?;
            robj
        }
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            let mut robj = alloc(SEXPTYPE::REALSXP, len)?;
            buffer.read(Dest::F64(slice_mut(&mut robj)?), order)?;
            robj
        }
        DType::C64 | DType::C128 => {
            let mut robj = alloc(SEXPTYPE::CPLXSXP, len)?;
            let slice: &mut [Rcomplex] = slice_mut(&mut robj)?;
            // SAFETY: a complex number is its real and its imaginary part, in this order.
            let slice = unsafe {
                std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast::<[f64; 2]>(), slice.len())
            };
            buffer.read(Dest::Complex(slice), order)?;
            robj
        }
    };
    with_dims(robj, buffer.dims())
}

fn slice_mut<'a, T>(robj: &'a mut Robj) -> Outcome<&'a mut [T]>
where
    Robj: AsTypedSlice<'a, T>,
    T: 'a,
{
    robj.as_typed_slice_mut()
        .ok_or_else(|| Failure::new("INTERNAL", "R gave a vector of another type"))
}
