//! Buffers.

use crate::array::{deleted, Array};
use crate::client::Client;
use crate::device::{Device, MemorySpace};
use crate::entry::{entry, object};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::shape::Shape;
use crate::small::Contents;
use pjrt_api::{
    PJRT_Buffer, PJRT_Buffer_MemoryLayout, PJRT_Buffer_MemoryLayout_Tiled,
    PJRT_Buffer_MemoryLayout_Type, PJRT_Device,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a `PJRT_Buffer` is. Shape and layout are known here: to jaxlib an array is so many bytes.
pub(crate) struct Buffer {
    pub client: Arc<Client>,
    device: *const Device,
    pub shape: Arc<Shape>,
    /// `None` once deleted or donated.
    contents: Mutex<Option<Contents>>,
    /// Whether the elements lie in memory of the caller that must not be written.
    pub immutable: bool,
    /// How many users outside hold on to the elements.
    external: AtomicUsize,
    /// What was deleted while they did.
    held: Mutex<Option<Contents>>,
}

// SAFETY: `device` leads into `client`, which nobody changes.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    pub fn new(
        client: Arc<Client>,
        device: *const Device,
        shape: Arc<Shape>,
        contents: Contents,
        immutable: bool,
    ) -> Self {
        let this = Self {
            client,
            device,
            shape,
            contents: Mutex::new(Some(contents)),
            immutable,
            external: AtomicUsize::new(0),
            held: Mutex::new(None),
        };
        this.device().usage.add(this.shape.bytes);
        this
    }

    pub fn into_raw(self) -> *mut PJRT_Buffer {
        Box::into_raw(Box::new(self)).cast()
    }

    /// # Safety
    /// `buffer` is NULL or a buffer of this crate.
    pub unsafe fn from_raw<'a>(buffer: *const PJRT_Buffer) -> Result<&'a Self> {
        // SAFETY: by this function's contract.
        unsafe { object(buffer, "buffer") }
    }

    pub fn device(&self) -> &Device {
        // SAFETY: leads into `client`, which this buffer keeps.
        unsafe { &*self.device }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Contents>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, Option<Contents>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it holds, where that still is.
    pub fn contents(&self) -> Option<Contents> {
        self.lock().clone()
    }

    /// What it holds, or an error that says that `what` is no more.
    pub fn live(&self) -> Result<Contents> {
        self.contents().ok_or_else(|| deleted("the buffer"))
    }

    /// As an array of jaxlib's.
    pub fn as_array(&self, contents: Contents) -> Result<Arc<Array>> {
        match contents {
            Contents::Array(array) => Ok(array),
            Contents::Small(small) => small.array(&self.client, self.device(), &self.shape),
        }
    }

    /// Waits, and returns the address of the elements.
    fn address(&self) -> Result<usize> {
        match self.live()? {
            Contents::Array(array) => array.address(),
            Contents::Small(small) => Ok(small.as_ptr() as usize),
        }
    }

    /// Takes the contents away.
    pub fn take(&self) -> Option<Contents> {
        let taken = self.lock().take();
        self.gone(taken)
    }

    /// Counts off what the buffer held until now.
    fn gone(&self, contents: Option<Contents>) -> Option<Contents> {
        if contents.is_some() {
            self.device().usage.remove(self.shape.bytes);
        }
        contents
    }

    /// Whether XLA must leave the elements alone even where the program would reuse them.
    pub fn is_pinned(&self) -> bool {
        self.immutable || self.external.load(Ordering::Relaxed) > 0
    }

    /// A copy on another device.
    fn copy_to(&self, target: *const PJRT_Device) -> Result<*mut PJRT_Buffer> {
        let target = self.client.own_device(target)?;
        if std::ptr::eq(target, self.device) {
            return Err(Error::invalid(format!(
                "the buffer is on {} already",
                target.short()
            )));
        }
        let array = self.as_array(self.live()?)?;
        let jax = self.client.jax;
        let gil = jax.gil()?;
        let copy = jax.making_arrays(&gil, || {
            gil.call(&jax.copy, [array.object(), &target.list, &target.sharding])
        })?;
        let client = Arc::clone(&self.client);
        let shape = Arc::clone(&self.shape);
        let mut copy = Array::new(jax, copy);
        if let Some(run) = array.run() {
            copy = copy.computed_by(run);
        }
        let copy = Contents::Array(Arc::new(copy));
        Ok(Self::new(client, target, shape, copy, false).into_raw())
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        drop(self.take());
        let held = self.held().take();
        drop(self.gone(held));
    }
}

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

entry!(dimensions, PJRT_Buffer_Dimensions_Args, |args| {
    // SAFETY: the API's contract.
    let dims = &unsafe { buffer(args.buffer)? }.shape.dims;
    (args.dims, args.num_dims) = (dims.as_ptr(), dims.len());
    Ok(())
});

entry!(
    unpadded_dimensions,
    PJRT_Buffer_UnpaddedDimensions_Args,
    |args| {
        // SAFETY: the API's contract.
        let dims = &unsafe { buffer(args.buffer)? }.shape.dims;
        (args.unpadded_dims, args.num_dims) = (dims.as_ptr(), dims.len());
        Ok(())
    }
);

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
