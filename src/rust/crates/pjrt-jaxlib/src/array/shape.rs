//! Element types, shapes and layouts.

use crate::base::error::{Error, Result};
use pjrt_api::{
    PJRT_Buffer_MemoryLayout, PJRT_Buffer_MemoryLayout_Type as LayoutType, PJRT_Buffer_Type as Type,
};
use std::fmt;
use xla_ffi::{DataType, DataTypeInfo};

/// What is known of an element type, where this plugin holds arrays of it: of whole bytes.
fn known(dtype: DataType) -> Option<&'static DataTypeInfo> {
    dtype.info().filter(|info| info.bits % 8 == 0)
}

/// What is known of a type of the C API.
pub(crate) fn facts(ty: Type) -> Result<&'static DataTypeInfo> {
    ty.data_type().and_then(known).ok_or_else(|| {
        let name = ty.header_name();
        Error::unimplemented(format!("element type {name} ({}) is not supported", ty.0))
    })
}

/// The C API's name of a type of XLA's own enumeration.
pub(crate) fn type_of_xla(number: u64) -> Result<Type> {
    let dtype = i32::try_from(number).ok().map(DataType);
    match dtype.and_then(known) {
        Some(info) => Ok(Type::of(info.dtype)),
        None => Err(Error::unimplemented(format!(
            "a value of XLA's primitive type {number} is not supported"
        ))),
    }
}

/// The shape of an array, and the order of its elements in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub ty: Type,
    pub dims: Box<[i64]>,
    /// Dimensions, the fastest varying first.
    pub minor_to_major: Box<[i64]>,
    /// Bytes in all.
    pub bytes: usize,
}

impl Shape {
    /// A shape in row-major order.
    pub fn row_major(ty: Type, dims: &[i64]) -> Result<Self> {
        let order = (0..dims.len() as i64).rev().collect();
        Self::new(ty, dims, order)
    }

    /// A shape whose dimensions vary in the given order, the fastest first.
    pub fn new(ty: Type, dims: &[i64], minor_to_major: Box<[i64]>) -> Result<Self> {
        let mut seen = 0u64;
        for &d in &*minor_to_major {
            if (0..dims.len() as i64).contains(&d) && d < 64 {
                seen |= 1 << d;
            }
        }
        if minor_to_major.len() != dims.len() || seen.count_ones() as usize != dims.len() {
            return Err(Error::invalid(format!(
                "layout {} is not an order of {} dimensions",
                Order(&minor_to_major),
                dims.len()
            )));
        }
        if let Some(bad) = dims.iter().find(|d| **d < 0) {
            return Err(Error::invalid(format!(
                "dimension {bad} of {} is negative",
                Dims(dims)
            )));
        }
        let size = facts(ty)?.size;
        // A zero anywhere makes the array empty, however large the other dimensions.
        let bytes = if dims.contains(&0) {
            Some(0)
        } else {
            dims.iter()
                .try_fold(size, |n, d| n.checked_mul(usize::try_from(*d).ok()?))
        };
        match bytes.filter(|n| isize::try_from(*n).is_ok()) {
            Some(bytes) => Ok(Self {
                ty,
                dims: dims.into(),
                minor_to_major,
                bytes,
            }),
            None => Err(Error::exhausted(format!(
                "an array {} of {size}-byte elements is larger than memory",
                Dims(dims)
            ))),
        }
    }

    /// Bytes per element.
    pub fn element_size(&self) -> usize {
        facts(self.ty).map_or(1, |f| f.size)
    }

    pub fn is_row_major(&self) -> bool {
        self.minor_to_major
            .iter()
            .rev()
            .copied()
            .eq(0..self.dims.len() as i64)
    }

    /// The sizes in the order in which they lie in memory, slowest first.
    pub fn physical_dims(&self) -> Box<[i64]> {
        self.minor_to_major
            .iter()
            .rev()
            .map(|&d| self.dims[d as usize])
            .collect()
    }

    /// Bytes from one element to the next along each dimension.
    pub fn strides(&self) -> Box<[i64]> {
        strides(&self.dims, &self.minor_to_major, self.element_size())
    }

    /// Whether these strides reach the elements in the order in which they lie. Along a dimension of
    /// one element, and in an array without any, a stride is never taken.
    pub fn lies_by(&self, strides: &[i64]) -> bool {
        let own = self.strides();
        let mut sides = self.dims.iter().zip(own.iter().zip(strides));
        self.bytes == 0 || sides.all(|(&size, (own, given))| size == 1 || own == given)
    }

    /// The same array with its elements in another order.
    pub fn with_order(&self, minor_to_major: &[i64]) -> Result<Self> {
        Self::new(self.ty, &self.dims, minor_to_major.into())
    }
}

/// Bytes from one element to the next along each dimension of a dense array.
fn strides(dims: &[i64], minor_to_major: &[i64], size: usize) -> Box<[i64]> {
    let mut strides = vec![0; dims.len()];
    let mut step = size as i64;
    for &d in minor_to_major {
        strides[d as usize] = step;
        // Empty arrays have no elements to step over; the value only has to exist.
        step = step.saturating_mul(dims[d as usize].max(1));
    }
    strides.into()
}

/// A layout that a caller asks for.
pub(crate) enum Wanted {
    /// Dense, dimensions in this order, the fastest first.
    Order(Box<[i64]>),
    /// Bytes from one element to the next along each dimension.
    Strides(Box<[i64]>),
}

impl Wanted {
    /// Reads a layout of the C API.
    ///
    /// # Safety
    /// `layout` is NULL (for `None`) or valid, and so are the arrays that it points to.
    pub unsafe fn read(
        layout: *const PJRT_Buffer_MemoryLayout,
        rank: usize,
    ) -> Result<Option<Self>> {
        // SAFETY: by this function's contract.
        let Some(layout) = (unsafe { layout.as_ref() }) else {
            return Ok(None);
        };
        let numbers = |pointer, length: usize, what: &str| -> Result<Box<[i64]>> {
            if length != rank {
                return Err(Error::invalid(format!(
                    "`{what}` has {length} elements, the array has {rank} dimensions"
                )));
            }
            // SAFETY: by this function's contract.
            Ok(unsafe { crate::base::entry::slice(pointer, length, what)? }.into())
        };
        match layout.r#type {
            LayoutType::Tiled => {
                // SAFETY: the type says which member holds.
                let tiled = unsafe { layout.value.tiled };
                if tiled.num_tiles != 0 {
                    return Err(Error::unimplemented("tiled layouts do not exist on CPU"));
                }
                numbers(
                    tiled.minor_to_major,
                    tiled.minor_to_major_size,
                    "minor_to_major",
                )
                .map(|order| Some(Self::Order(order)))
            }
            LayoutType::Strides => {
                // SAFETY: the type says which member holds.
                let strides = unsafe { layout.value.strides };
                numbers(
                    strides.byte_strides,
                    strides.num_byte_strides,
                    "byte_strides",
                )
                .map(|strides| Some(Self::Strides(strides)))
            }
            other => Err(Error::invalid(format!(
                "layout type {} is unknown",
                other.0
            ))),
        }
    }
}

struct Dims<'a>(&'a [i64]);
struct Order<'a>(&'a [i64]);

fn join(f: &mut fmt::Formatter<'_>, numbers: &[i64]) -> fmt::Result {
    for (i, n) in numbers.iter().enumerate() {
        write!(f, "{}{n}", if i == 0 { "" } else { "," })?;
    }
    Ok(())
}

impl fmt::Display for Dims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        join(f, self.0)?;
        f.write_str("]")
    }
}

impl fmt::Display for Order<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        join(f, self.0)?;
        f.write_str("}")
    }
}

impl fmt::Display for Shape {
    /// As in `f32[2,3]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}",
            facts(self.ty).map_or("?", |f| f.name),
            Dims(&self.dims)
        )
    }
}
