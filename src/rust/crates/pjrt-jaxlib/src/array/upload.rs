//! Buffers from host memory.

use crate::array::Array;
use crate::buffer::Buffer;
use crate::client::Client;
use crate::device::{Device, MemorySpace};
use crate::dlpack::{export, AlignedMemory, Owner, ALIGNMENT};
use crate::entry::{entry, slice};
use crate::error::{Error, Result};
use crate::event::{Event, Signal};
use crate::shape::{Shape, Wanted};
use crate::small::{self, Contents, Small};
use crate::strided;
use pjrt_api::{
    PJRT_Client_BufferFromHostBuffer_Args as Args, PJRT_HostBufferSemantics as Semantics,
};
use std::sync::Arc;

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

/// # Safety
/// `args` holds what the API says.
unsafe fn upload(args: &mut Args) -> Result<()> {
    // SAFETY: by this function's contract, here and below.
    let client = unsafe { Client::share(args.client)? };
    let device = if args.memory.is_null() {
        args.device
    } else {
        // SAFETY: as above.
        unsafe { MemorySpace::device_of_default(args.memory)? }
    };
    if device.is_null() {
        return Err(Error::invalid("`device` and `memory` are both NULL"));
    }
    let device = client.own_device(device)?;
    // SAFETY: as above.
    let dims = unsafe { slice(args.dims, args.num_dims, "dims")? };
    // SAFETY: as above.
    let given = unsafe { slice(args.byte_strides, args.num_byte_strides, "byte_strides")? };
    // SAFETY: as above.
    let shape = match unsafe { Wanted::read(args.device_layout, dims.len())? } {
        None => Shape::row_major(args.r#type, dims)?,
        Some(Wanted::Order(order)) => Shape::new(args.r#type, dims, order)?,
        Some(Wanted::Strides(_)) => {
            return Err(Error::unimplemented(
                "`device_layout` must be an order of dimensions",
            ))
        }
    };
    if !given.is_empty() && given.len() != dims.len() {
        return Err(Error::invalid(format!(
            "`byte_strides` has {} elements, the array has {} dimensions",
            given.len(),
            dims.len()
        )));
    }
    if args.data.is_null() && shape.bytes > 0 {
        return Err(Error::invalid(format!(
            "`data` is NULL for an array {shape}"
        )));
    }
    // No strides mean row-major order, which is only the device's order where that is it too.
    let row_major;
    let strides = if given.is_empty() {
        if shape.is_row_major() {
            None
        } else {
            row_major = Shape::row_major(args.r#type, dims)?.strides();
            Some(&row_major[..])
        }
    } else {
        Some(given).filter(|given| !shape.lies_by(given))
    };
    let semantics = args.host_buffer_semantics;
    if semantics.0 > Semantics::kMutableZeroCopy.0 {
        return Err(Error::invalid(format!(
            "host buffer semantics {} are unknown",
            semantics.0
        )));
    }
    let may_alias =
        semantics == Semantics::kImmutableZeroCopy || semantics == Semantics::kMutableZeroCopy;
    let alias =
        may_alias && strides.is_none() && shape.bytes > 0 && args.data.align_offset(ALIGNMENT) == 0;
    if !alias && small::fits(&shape) {
        // SAFETY: the caller's memory holds the array, and the other one has room for it.
        let fill = |to| unsafe { fill(to, args.data.cast(), strides, &shape) };
        let small = Contents::Small(Arc::new(Small::new(shape.bytes, fill)?));
        let device: *const Device = device;
        args.buffer = Buffer::new(client, device, Arc::new(shape), small, false).into_raw();
        args.done_with_host_buffer = Event::Done(None).into_raw();
        return Ok(());
    }
    let (owner, done) = if alias {
        let signal = Signal::new();
        (
            Owner::Caller(args.data.cast_mut(), Arc::clone(&signal)),
            Event::Signal(signal),
        )
    } else {
        // SAFETY: the caller's memory holds the array.
        let memory = unsafe { copy_in(args.data.cast(), strides, &shape)? };
        (Owner::Ours(memory), Event::Done(None))
    };
    let array = Contents::Array(Arc::new(make_array(&client, device, &shape, owner)?));
    let immutable = alias && semantics == Semantics::kImmutableZeroCopy;
    let device: *const Device = device;
    args.buffer = Buffer::new(client, device, Arc::new(shape), array, immutable).into_raw();
    args.done_with_host_buffer = done.into_raw();
    Ok(())
}

entry!(
    from_host_buffer,
    PJRT_Client_BufferFromHostBuffer_Args,
    |args| {
        // SAFETY: the API's contract.
        unsafe { upload(args) }
    }
);
