//! Arrays of a call as R's, and R's as those.

use custom_ops::signature::Order;
use extendr_api::{GetSexp, Robj};
use extendr_ffi::{Rboolean, Rf_isObject, SEXP};
use pjrt::{DType, Shape};
use xla_ffi::{Code, DataKind, DataType, Error, Result};

use crate::host::array::{dims_of, has_dims, new_array, set_dims};
use crate::r::failure::Outcome;
use crate::r::object::{described, inherits};
use crate::r::vector::Vector;

/// An array of a call that XLA waits for.
pub struct Array {
    /// Its name in the signature.
    pub name: Box<str>,
    /// Whether it may come several times.
    pub several: bool,
    dtype: DType,
    /// All dimensions.
    dims: Vec<i64>,
    /// How many of them are of the batch.
    batch: usize,
    /// Whether matrices lie by columns.
    columns: bool,
    /// Bytes from one element of the batch to the next, along each of its axes.
    steps: Vec<isize>,
    place: Place,
}

/// The address of an array's memory.
pub struct Place(pub *mut u8);

// SAFETY: nobody else uses the memory of a call's arrays until XLA is told that it is complete, and
// one thread at a time has the request that these belong to.
unsafe impl Send for Place {}

/// R's counterpart of an element type.
pub fn dtype_of(dtype: DataType) -> Result<DType> {
    DType::from_name(dtype.name()).ok_or_else(|| {
        Error::new(
            Code::Unimplemented,
            format!("R has no numbers for dtype {dtype}"),
        )
    })
}

impl Array {
    /// A named array, of which there may be several of that name. The first of its dimensions are
    /// those of the batch, along whose axes it is so many bytes from one element to the next.
    pub fn new<B>(
        array: &custom_ops::Array<'_, B>,
        several: bool,
        (batch, steps): (usize, Vec<isize>),
        place: Place,
    ) -> Result<Self> {
        Ok(Array {
            name: array.name.into(),
            several,
            dtype: dtype_of(array.dtype)?,
            dims: array.dims.to_vec(),
            batch,
            columns: array.order == Order::Column,
            steps,
            place,
        })
    }

    fn size(&self, dims: &[i64]) -> usize {
        dims.iter().map(|&d| d as usize).product::<usize>() * self.dtype.size()
    }

    /// Where the element of the batch lies, and its dimensions; without one, all.
    fn part(&self, element: Option<usize>, sizes: &[usize]) -> (isize, &[i64]) {
        let Some(mut rest) = element else {
            return (0, &self.dims);
        };
        let mut offset = 0;
        // The last axis goes fastest.
        for (&size, &step) in sizes.iter().zip(&self.steps).rev() {
            offset += (rest % size) as isize * step;
            rest /= size;
        }
        (offset, &self.dims[self.batch..])
    }

    fn shape<'a>(&self, dims: &'a [i64]) -> Shape<'a> {
        Shape {
            dtype: self.dtype,
            dims,
            columns: self.columns,
        }
    }

    /// As R has it, not protected.
    pub fn to_r(&self, element: Option<usize>, sizes: &[usize]) -> Outcome<SEXP> {
        let (offset, dims) = self.part(element, sizes);
        let bytes = self.size(dims);
        // SAFETY: the frame's array, which lives until the call is complete; the part lies in it.
        let memory = unsafe { slice(self.place.0.wrapping_offset(offset), bytes) };
        let shape = self.shape(dims);
        let array = new_array(self.dtype, bytes / self.dtype.size(), |dest| {
            Ok(shape.read(memory, dest, pjrt::Order::ColumnMajor)?)
        })?;
        if dims.len() > 1 {
            set_dims(&array, dims)?;
        }
        Ok(array.sexp())
    }

    /// Takes what R has computed.
    pub fn take(&self, value: &Robj, element: Option<usize>, sizes: &[usize]) -> Result<()> {
        let (offset, dims) = self.part(element, sizes);
        // What a class says of numbers, the levels of a factor say, has no place in an array.
        // SAFETY: R's thread; the value is protected by the caller.
        let is_object = unsafe { Rf_isObject(value.get()) } != Rboolean::FALSE;
        if is_object && !inherits(value, "integer64") {
            return Err(self.refuse("numbers without a class", value));
        }
        let given = Vector::new(value).map_err(|_| self.refuse("numbers", value))?;
        self.check_shape(value, dims)?;
        let mut doubles = Vec::new();
        let vector = given
            .with_nan(self.dtype, &mut doubles)
            .map_err(|failure| Error::internal(failure.message))?;
        self.check_elements(&vector, value)?;
        let bytes = self.size(dims);
        // SAFETY: the frame's array, which lives until the call is complete, and which nobody else
        // writes; the part lies in it.
        let memory = unsafe { slice_mut(self.place.0.wrapping_offset(offset), bytes) };
        self.shape(dims)
            .write(vector.source(), pjrt::Order::ColumnMajor, memory)
            .map_err(|error| {
                Error::invalid_argument(error.message().replace("`data`", &self.called()))
            })
    }

    fn called(&self) -> String {
        format!("result `{}`", self.name)
    }

    fn refuse(&self, expected: &str, value: &Robj) -> Error {
        Error::invalid_argument(format!(
            "{} must be {expected}, not {}",
            self.called(),
            described(value)
        ))
    }

    fn check_shape(&self, value: &Robj, dims: &[i64]) -> Result<()> {
        let given = dims_of(value);
        let fits = match dims {
            [] => given.iter().all(|&d| d == 1),
            _ => given == dims,
        };
        if fits {
            return Ok(());
        }
        let text = |dims: &[i64]| {
            let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
            format!("({})", dims.join(", "))
        };
        let what = if has_dims(value) { "shape" } else { "length" };
        let given = match what {
            "length" => given[0].to_string(),
            _ => text(&given),
        };
        Err(Error::invalid_argument(format!(
            "{} must have shape {}, got {what} {given}",
            self.called(),
            text(dims),
        )))
    }

    /// Only what changes no number, but by rounding to a floating-point type of fewer digits.
    fn check_elements(&self, vector: &Vector<'_>, value: &Robj) -> Result<()> {
        let not = |fine: bool, expected: &str| match fine {
            true => Ok(()),
            false => Err(self.refuse(expected, value)),
        };
        match (self.dtype, vector) {
            (dtype, _) if vector.has_na(dtype) => {
                Err(self.has(&format!("NA, which {dtype} has not")))
            }
            (DType::Pred, Vector::Logical(_)) => Ok(()),
            (DType::Pred, _) => not(false, "logical"),
            (dtype, Vector::Complex(_)) => not(dtype.is_complex(), "real numbers"),
            (dtype, Vector::Double(x)) if is_integer(dtype) => {
                match x.iter().position(|x| x.is_finite() && x.fract() != 0.0) {
                    Some(at) => Err(self.has(&format!(
                        "numbers that are not whole, which {dtype} has not: element {} is {}",
                        at + 1,
                        x[at]
                    ))),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn has(&self, what: &str) -> Error {
        Error::invalid_argument(format!("{} has {what}", self.called()))
    }
}

fn is_integer(dtype: DType) -> bool {
    matches!(dtype.info().kind, DataKind::Signed | DataKind::Unsigned)
}

/// # Safety
/// As for a slice; an array without elements has no usable address.
unsafe fn slice<'a>(data: *const u8, bytes: usize) -> &'a [u8] {
    match bytes {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts(data, bytes) },
    }
}

/// # Safety
/// As above, for a mutable one.
unsafe fn slice_mut<'a>(data: *mut u8, bytes: usize) -> &'a mut [u8] {
    match bytes {
        0 => &mut [],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts_mut(data, bytes) },
    }
}
