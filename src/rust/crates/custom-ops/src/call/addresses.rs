//! Where the arrays of a call lie, taken from its frame while their types are compared with those of
//! an earlier call.

use core::ffi::c_void;
use core::ptr;

use xla_ffi::{DataType, Described};

use super::arrays::Flat;
use super::inline::Inline;

/// Where the arrays of a call lie.
pub(crate) struct Addresses {
    pub(crate) data: Inline<*mut c_void, 8>,
    /// The same as numbers, each with its size in bytes.
    pub(crate) spans: Inline<(usize, usize), 8>,
}

impl Addresses {
    #[inline]
    pub(crate) fn new() -> Self {
        Addresses {
            data: Inline::new(),
            spans: Inline::new(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.data.clear();
        self.spans.clear();
    }

    /// Adds an array if it is of the next of these types.
    #[inline(always)]
    pub(crate) fn take(&mut self, array: Option<Described<'_>>, types: &mut &[i64]) -> Option<()> {
        let array = array?;
        let (&[type_, size], rest) = types.split_first_chunk()?;
        if type_ != type_of(array.dtype, array.dims.len()) {
            return None;
        }
        let (dims, rest) = rest.split_at_checked(array.dims.len())?;
        *types = rest;
        let align = (1 << (size & ALIGNMENT)) - 1;
        let size = (size >> ALIGNMENT_BITS) as usize;
        let address = array.data as usize;
        let fits = same(dims, array.dims) && (size == 0 || (address != 0 && address & align == 0));
        fits.then(|| {
            self.data.push(array.data);
            self.spans.push((address, size));
        })
    }

    /// Adds an operand that was left out.
    pub(crate) fn leave_out(&mut self) {
        self.data.push(ptr::null_mut());
        self.spans.push((0, 0));
    }
}

/// Adds the type of an array that was checked: element type and rank; size and alignment; dimensions.
pub(crate) fn push_type(types: &mut Vec<i64>, array: &Flat<'_>) -> Option<()> {
    let size = i64::try_from(array.size).ok()?;
    let align = array.dtype.size().unwrap_or(1).clamp(1, 8);
    types.push(type_of(array.dtype, array.dims.len()));
    types.push(size.checked_mul(1 << ALIGNMENT_BITS)? | i64::from(align.trailing_zeros()));
    types.extend_from_slice(array.dims);
    Some(())
}

/// Takes a type off that [`push_type`] has added: element type and dimensions.
pub(crate) fn pop_type<'a>(types: &mut &'a [i64]) -> Option<(DataType, &'a [i64])> {
    let (&[type_, _], rest) = types.split_first_chunk()?;
    let (dims, rest) = rest.split_at_checked((type_ >> 32) as usize)?;
    *types = rest;
    Some((DataType(type_ as i32), dims))
}

/// In the last bits of a size stands the logarithm of the alignment: 0 to 3.
const ALIGNMENT_BITS: u32 = 2;
const ALIGNMENT: i64 = (1 << ALIGNMENT_BITS) - 1;

fn type_of(dtype: DataType, rank: usize) -> i64 {
    i64::from(dtype.0) | (rank as i64) << 32
}

/// Equality in a plain loop: shapes are too short to call `memcmp` for.
#[inline(always)]
fn same(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}
