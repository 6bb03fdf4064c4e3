//! Columns of matrices: those of the identity, and the first ones of others.

use crate::{kernels, Batch, Element};
use std::ffi::c_void;
use std::mem::size_of;
use xla_ffi::Result;

const IDENTITY: [&str; 2] = ["identity_f32", "identity_f64"];
/// Each matrix becomes the identity, cut or continued with zeros.
///
/// # Errors
/// As [`kernels::launch`].
pub fn fill_identity<T: Element>(batch: Batch<'_, '_>, a: *mut c_void) -> Result<()> {
    let (cx, shape) = batch;
    let size = shape.elements() << T::SHIFT;
    let arguments = [
        a as u64,
        size as u64,
        shape.count as u64,
        u64::from(T::SHIFT),
        shape.rows as u64,
    ];
    kernels::launch(
        cx.platform(),
        IDENTITY[T::PRECISION],
        (size, shape.count),
        arguments,
    )
}

/// The first columns of matrices that begin `stride` elements apart.
///
/// # Errors
/// As [`kernels::launch`].
pub fn take<T: Element>(
    (cx, part): Batch<'_, '_>,
    to: *mut c_void,
    from: *const c_void,
    stride: usize,
) -> Result<()> {
    let words = size_of::<T>() / size_of::<u32>();
    let size = part.elements() * words;
    let arguments = [
        to as u64,
        from as u64,
        size as u64,
        part.count as u64,
        (stride * words) as u64,
    ];
    kernels::launch(cx.platform(), "take_front", (size, part.count), arguments)
}
