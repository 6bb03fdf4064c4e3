//! The arrays of a call, as they lie in memory.

use core::ffi::c_void;
use core::ptr;

use xla_ffi::{DataType, Error, Result};

use super::inline::Inline;
use crate::bind::ArrayView;
use crate::signature::Array;

/// An array of a call (each of those that come several times), or scratch memory.
#[derive(Clone, Copy)]
pub(crate) struct Flat<'f> {
    pub(crate) dtype: DataType,
    /// Of the whole array, those of the batch in front.
    pub(crate) dims: &'f [i64],
    /// How many of them are of the batch.
    pub(crate) batch: usize,
    /// The first byte; of scratch memory the distance from its beginning.
    pub(crate) base: *mut u8,
    /// Bytes of an element of the batch.
    pub(crate) bytes: usize,
    /// Bytes of the whole array.
    pub(crate) size: usize,
}

/// An operand and a result, by their places among the arrays.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// The arrays in the order of the signature: operands, results, scratch; and behind them operands
/// whose elements are copied to their results.
pub(crate) type Flats<'f> = Inline<Flat<'f>, 8>;

/// Pairs of arrays.
pub(crate) type Pairs = Inline<Pair, 2>;

impl Flat<'_> {
    /// An operand that was not given.
    pub(crate) const NONE: Flat<'static> = Flat {
        dtype: DataType::INVALID,
        dims: &[],
        batch: 0,
        base: ptr::null_mut(),
        bytes: 0,
        size: 0,
    };

    /// An array as the frame has it, of which those dimensions are in front.
    #[inline(always)]
    pub(crate) fn new(
        front: usize,
        dtype: DataType,
        dims: &[i64],
        data: *const c_void,
    ) -> Flat<'_> {
        Flat {
            dtype,
            dims,
            batch: front,
            base: data.cast_mut().cast(),
            bytes: 0,
            size: 0,
        }
    }

    /// How much of it is an element of the batch. That it fits into memory was looked at when it was
    /// taken.
    pub(crate) fn lay_out(&mut self, array: &Array, bytes: usize) -> Result<()> {
        self.batch = self.dims.len() - array.dims.len();
        self.bytes = bytes;
        let batch = self.dims[..self.batch].iter();
        self.size = batch.fold(bytes, |size, &dim| size * dim as usize);
        if self.is_addressed() {
            return Ok(());
        }
        let fault = match self.base.is_null() {
            true => "has elements but no memory",
            false => "is not aligned to its element type",
        };
        Err(Error::internal(format!("array `{}` {fault}", array.name)))
    }

    /// Whether its elements lie where elements can.
    fn is_addressed(&self) -> bool {
        let align = self.dtype.size().unwrap_or(1).min(8);
        // Sizes are powers of two.
        self.size == 0 || (!self.base.is_null() && self.base as usize & (align - 1) == 0)
    }

    pub(crate) fn is_given(&self) -> bool {
        self.dtype != DataType::INVALID
    }

    pub(crate) fn overlaps(&self, other: &Flat<'_>) -> bool {
        overlap(
            (self.base as usize, self.size),
            (other.base as usize, other.size),
        )
    }
}

impl ArrayView for Flat<'_> {
    #[inline]
    fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Those behind the batch's.
    #[inline]
    fn dims(&self) -> &[i64] {
        &self.dims[self.batch..]
    }
}

/// Whether two arrays share memory: their addresses and sizes in bytes.
#[inline]
pub(crate) fn overlap(a: (usize, usize), b: (usize, usize)) -> bool {
    a.0 < b.0.saturating_add(b.1) && b.0 < a.0.saturating_add(a.1)
}
