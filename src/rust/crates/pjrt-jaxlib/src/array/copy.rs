//! Arrays of jaxlib's made of host memory.

use super::dlpack::{export, AlignedMemory, Owner};
use super::jax_array::Array;
use super::shape::Shape;
use crate::base::error::Result;
use crate::base::strided;
use crate::client::device::Device;
use crate::client::Client;

/// Makes an array of `shape` on a device.
pub(crate) fn make_array(
    client: &Client,
    device: &Device,
    shape: &Shape,
    owner: Owner,
) -> Result<Array> {
    let jax = client.jax;
    let gil = jax.gil()?;
    let capsule = export(&gil, shape, owner)?;
    let none = gil.none()?;
    let object = jax.making_arrays(&gil, || {
        gil.call(&jax.from_dlpack, [&capsule, &device.object, &none])
    })?;
    capsule.release(&gil);
    none.release(&gil);
    Ok(Array::new(jax, object))
}

/// A copy of host memory in the order of `shape`.
///
/// # Safety
/// `data` is readable wherever `strides` and the dimensions reach.
pub(crate) unsafe fn copy_in(
    data: *const u8,
    strides: Option<&[i64]>,
    shape: &Shape,
) -> Result<AlignedMemory> {
    let memory = AlignedMemory::new(shape.bytes)?;
    // SAFETY: by this function's contract; the memory holds the array.
    unsafe { fill(memory.as_ptr(), data, strides, shape) };
    Ok(memory)
}

/// Copies host memory into memory in the order of `shape`.
///
/// # Safety
/// As [`copy_in`]; `to` has room for the array.
pub(crate) unsafe fn fill(to: *mut u8, data: *const u8, strides: Option<&[i64]>, shape: &Shape) {
    match strides {
        _ if shape.bytes == 0 => {}
        // SAFETY: both sides hold the array's bytes.
        None => unsafe { std::ptr::copy_nonoverlapping(data, to, shape.bytes) },
        // SAFETY: by this function's contract; the memory holds the array in dense order.
        Some(strides) => unsafe {
            let size = shape.element_size();
            strided::copy(to, &shape.strides(), data, strides, &shape.dims, size);
        },
    }
}
