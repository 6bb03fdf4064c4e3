//! Buffers from host memory.

use super::copy::{copy_in, fill, make_array};
use crate::array::buffer::Buffer;
use crate::array::dlpack::{Owner, ALIGNMENT};
use crate::array::event::Event;
use crate::array::shape::{Shape, Wanted};
use crate::array::small;
use crate::array::small::{Contents, Small};
use crate::base::entry::{entry, slice};
use crate::base::error::{Error, Result};
use crate::client::device::{Device, MemorySpace};
use crate::client::Client;
use crate::run::signal::Signal;
use pjrt_api::{
    PJRT_Client_BufferFromHostBuffer_Args as Args, PJRT_HostBufferSemantics as Semantics,
};
use std::sync::Arc;

/// The array's shape on the device, and the strides that were given.
///
/// # Safety
/// As [`upload`].
unsafe fn described(args: &Args) -> Result<(Shape, &[i64])> {
    // SAFETY: by this function's contract, here and below.
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
    Ok((shape, given))
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
    let (shape, given) = unsafe { described(args)? };
    // No strides mean row-major order, which is only the device's order where that is it too.
    let row_major;
    let strides = if given.is_empty() {
        if shape.is_row_major() {
            None
        } else {
            row_major = Shape::row_major(args.r#type, &shape.dims)?.strides();
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
