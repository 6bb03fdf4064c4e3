//! The functions of the API that take a buffer.

use super::handle::Buffer;
use crate::array::event::Event;
use crate::array::jax_array::deleted;
use crate::array::small::Contents;
use crate::base::entry::{entry, list_entries};
use crate::base::error::{Error, Result};
use crate::client::device::MemorySpace;
use pjrt_api::{
    PJRT_Buffer, PJRT_Buffer_MemoryLayout, PJRT_Buffer_MemoryLayout_Tiled,
    PJRT_Buffer_MemoryLayout_Type,
};
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// # Safety
/// `buffer` is NULL or a buffer of this crate.
unsafe fn buffer<'a>(buffer: *const PJRT_Buffer) -> Result<&'a Buffer> {
    // SAFETY: by this function's contract.
    unsafe { Buffer::from_raw(buffer) }
}

entry!(destroy, PJRT_Buffer_Destroy_Args, |args| {
    if !args.buffer.is_null() {
        // SAFETY: every buffer handed out is a boxed `Buffer`, and it is destroyed once.
        drop(unsafe { Box::from_raw(args.buffer.cast::<Buffer>()) });
    }
    Ok(())
});

entry!(delete, PJRT_Buffer_Delete_Args, |args| {
    // SAFETY: the API's contract.
    let buffer = unsafe { buffer(args.buffer)? };
    if buffer.external.load(Ordering::Relaxed) > 0 {
        let contents = buffer.lock().take();
        if contents.is_some() {
            *buffer.held() = contents;
        }
        return Ok(());
    }
    match buffer.take() {
        // Events that wait for it keep it until they are destroyed.
        Some(Contents::Array(array)) => Arc::try_unwrap(array).map_or(Ok(()), |a| a.delete()),
        Some(Contents::Small(_)) | None => Ok(()),
    }
});

entry!(is_deleted, PJRT_Buffer_IsDeleted_Args, |args| {
    // SAFETY: the API's contract.
    args.is_deleted = unsafe { buffer(args.buffer)? }.lock().is_none();
    Ok(())
});

entry!(element_type, PJRT_Buffer_ElementType_Args, |args| {
    // SAFETY: the API's contract.
    args.r#type = unsafe { buffer(args.buffer)? }.shape.ty;
    Ok(())
});

list_entries! {
    dimensions, PJRT_Buffer_Dimensions_Args,
    |args| buffer(args.buffer)?.shape.dims => dims, num_dims;
    unpadded_dimensions, PJRT_Buffer_UnpaddedDimensions_Args,
    |args| buffer(args.buffer)?.shape.dims => unpadded_dims, num_dims;
}

entry!(
    dynamic_dimension_indices,
    PJRT_Buffer_DynamicDimensionIndices_Args,
    |args| {
        // SAFETY: the API's contract.
        unsafe { buffer(args.buffer)? };
        (args.dynamic_dim_indices, args.num_dynamic_dims) = (std::ptr::null(), 0);
        Ok(())
    }
);

entry!(memory_layout, PJRT_Buffer_GetMemoryLayout_Args, |args| {
    // SAFETY: the API's contract.
    let order = &unsafe { buffer(args.buffer)? }.shape.minor_to_major;
    let mut tiled = PJRT_Buffer_MemoryLayout_Tiled::new();
    tiled.minor_to_major = order.as_ptr();
    tiled.minor_to_major_size = order.len();
    let mut layout = PJRT_Buffer_MemoryLayout::new();
    layout.value.tiled = tiled;
    layout.r#type = PJRT_Buffer_MemoryLayout_Type::Tiled;
    args.layout = layout;
    Ok(())
});

entry!(
    on_device_size,
    PJRT_Buffer_OnDeviceSizeInBytes_Args,
    |args| {
        // SAFETY: the API's contract.
        args.on_device_size_in_bytes = unsafe { buffer(args.buffer)? }.shape.bytes;
        Ok(())
    }
);

entry!(device, PJRT_Buffer_Device_Args, |args| {
    // SAFETY: the API's contract.
    args.device = unsafe { buffer(args.buffer)? }.device().handle();
    Ok(())
});

entry!(memory, PJRT_Buffer_Memory_Args, |args| {
    // SAFETY: the API's contract.
    args.memory = unsafe { buffer(args.buffer)? }.device().default_memory()?;
    Ok(())
});

entry!(is_on_cpu, PJRT_Buffer_IsOnCpu_Args, |args| {
    // SAFETY: the API's contract.
    unsafe { buffer(args.buffer)? };
    args.is_on_cpu = true;
    Ok(())
});

entry!(ready_event, PJRT_Buffer_ReadyEvent_Args, |args| {
    // SAFETY: the API's contract.
    args.event = match unsafe { buffer(args.buffer)? }.contents() {
        Some(contents) => Event::of(contents),
        None => Event::Done(Some(deleted("the buffer"))),
    }
    .into_raw();
    Ok(())
});

entry!(unsafe_pointer, PJRT_Buffer_UnsafePointer_Args, |args| {
    // SAFETY: the API's contract.
    args.buffer_pointer = unsafe { buffer(args.buffer)? }.address()?;
    Ok(())
});

entry!(
    opaque_pointer,
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args,
    |args| {
        // SAFETY: the API's contract.
        args.device_memory_ptr = unsafe { buffer(args.buffer)? }.address()? as *mut _;
        Ok(())
    }
);

entry!(
    increase_references,
    PJRT_Buffer_IncreaseExternalReferenceCount_Args,
    |args| {
        // SAFETY: the API's contract.
        let buffer = unsafe { buffer(args.buffer)? };
        buffer.live()?;
        buffer.external.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
);

entry!(
    decrease_references,
    PJRT_Buffer_DecreaseExternalReferenceCount_Args,
    |args| {
        // SAFETY: the API's contract.
        let buffer = unsafe { buffer(args.buffer)? };
        let before = buffer
            .external
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
            .map_err(|_| Error::precondition("the buffer's external reference count is zero"))?;
        if before == 1 {
            let held = buffer.held().take();
            drop(buffer.gone(held));
        }
        Ok(())
    }
);

entry!(copy_to_device, PJRT_Buffer_CopyToDevice_Args, |args| {
    // SAFETY: the API's contract.
    args.dst_buffer = unsafe { buffer(args.buffer)? }.copy_to(args.dst_device)?;
    Ok(())
});

entry!(copy_to_memory, PJRT_Buffer_CopyToMemory_Args, |args| {
    // SAFETY: the API's contract.
    let (buffer, device) = unsafe {
        (
            buffer(args.buffer)?,
            MemorySpace::device_of_default(args.dst_memory)?,
        )
    };
    args.dst_buffer = buffer.copy_to(device)?;
    Ok(())
});
