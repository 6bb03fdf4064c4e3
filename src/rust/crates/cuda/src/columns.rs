//! Columns of matrices: those of the identity, the first ones of others, and their transposes.

use crate::{kernels, Batch, DeviceSlice, DeviceSliceMut, Element};
use std::mem::size_of;
use xla_ffi::{Error, Result};

const IDENTITY: [&str; 2] = kernels::for_precisions!("identity");
const TRANSPOSE: [&str; 4] = kernels::for_kinds!("transpose");
const ADJOINT: [&str; 4] = [
    "transpose_f32",
    "transpose_f64",
    "adjoint_c64",
    "adjoint_c128",
];

/// Each matrix becomes the identity, cut or continued with zeros.
///
/// # Errors
/// There is less memory than that; the kernel cannot be launched.
pub fn fill_identity<T: Element>(
    (cx, shape): Batch<'_, '_>,
    mut a: DeviceSliceMut<'_, T>,
) -> Result<()> {
    let a = a.matrices("a", shape.count, shape.elements())?;
    let size = shape.elements() << T::SHIFT;
    let arguments = [
        a.address(),
        size as u64,
        shape.count as u64,
        u64::from(T::SHIFT),
        shape.rows as u64,
    ];
    let sizes = (size, shape.count);
    // SAFETY: `count` matrices of `size` numbers.
    unsafe { kernels::launch(cx.platform(), IDENTITY[T::PRECISION], sizes, arguments) }
}

/// The first columns (matrices of `part`'s shape) of matrices that begin `stride` elements apart.
///
/// # Errors
/// As [`fill_identity`]; `stride` is less than the part's elements.
pub fn take<T: Element>(
    (cx, part): Batch<'_, '_>,
    mut to: DeviceSliceMut<'_, T>,
    from: DeviceSlice<'_, T>,
    stride: usize,
) -> Result<()> {
    expect_stride(part.elements(), stride)?;
    let to = to.matrices("to", part.count, part.elements())?;
    let from = from.matrices("from", part.count, stride)?;
    let words = size_of::<T>() / size_of::<u32>();
    let size = part.elements() * words;
    let arguments = [
        to.address(),
        from.address(),
        size as u64,
        part.count as u64,
        (stride * words) as u64,
    ];
    let sizes = (size, part.count);
    // SAFETY: `count` matrices of `size` words, here and at the beginning of as many that are at
    // least as large.
    unsafe { kernels::launch(cx.platform(), "take_front", sizes, arguments) }
}

/// The transposes of what [`take`] takes, `conjugated` or not.
///
/// # Errors
/// As [`take`].
pub fn transpose<T: Element>(
    (cx, part): Batch<'_, '_>,
    conjugated: bool,
    mut to: DeviceSliceMut<'_, T>,
    from: DeviceSlice<'_, T>,
    stride: usize,
) -> Result<()> {
    let size = part.elements();
    expect_stride(size, stride)?;
    let to = to.matrices("to", part.count, size)?;
    let from = from.matrices("from", part.count, stride)?;
    let arguments = [
        to.address(),
        from.address(),
        size as u64,
        part.count as u64,
        part.rows as u64,
        stride as u64,
    ];
    let kernel = if conjugated {
        ADJOINT[T::KIND]
    } else {
        TRANSPOSE[T::KIND]
    };
    // SAFETY: as in `take`, of elements.
    unsafe { kernels::launch(cx.platform(), kernel, (size, part.count), arguments) }
}

fn expect_stride(part: usize, stride: usize) -> Result<()> {
    if part <= stride {
        return Ok(());
    }
    let text = format!("{part} elements of matrices that begin {stride} elements apart");
    Err(Error::internal(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_within_what_they_are_parts_of() {
        assert_eq!(expect_stride(4, 4), Ok(()));
        assert_eq!(expect_stride(0, 0), Ok(()));
        let error = expect_stride(5, 4).expect_err("it overlaps the next");
        assert_eq!(
            error.to_string(),
            "5 elements of matrices that begin 4 elements apart"
        );
    }
}
