//! Arrays on a device.

use crate::api::{call, slice, Api};
use crate::client::Client;
use crate::device::{Device, Memory};
use crate::dtype::DType;
use crate::error::{Code, Error, Kind, Result};
use pjrt_api::*;
use std::sync::atomic::AtomicBool;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockWriteGuard};

/// An array on a device.
pub struct Buffer {
    pub(crate) client: Client,
    pub(crate) raw: *mut PJRT_Buffer,
    dtype: DType,
    dims: Vec<i64>,
    /// Set once its contents are known to be there.
    pub(crate) ready: AtomicBool,
    /// Read-held while its memory is read, write-held where it may be given away.
    pub(crate) lock: RwLock<()>,
    /// Strides of its memory in elements; `None` where it is not a plain dense array.
    pub(crate) strides: OnceLock<Option<Vec<isize>>>,
}

// SAFETY: the API allows calls on a buffer from any thread; what must not happen at once is kept
// apart by `lock`.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Drop for Buffer {
    fn drop(&mut self) {
        destroy(self.client.api(), self.raw);
    }
}

fn destroy(api: Api, raw: *mut PJRT_Buffer) {
    let mut args = PJRT_Buffer_Destroy_Args::new();
    args.buffer = raw;
    // SAFETY: callers own the buffer and give it up here. An error has nobody to go to.
    let _ = unsafe { call!(api, PJRT_Buffer_Destroy(args)) };
}

/// The error for a buffer that is gone; `what` is the operation, in the words that XLA itself uses.
pub(crate) fn deleted(what: &str) -> Error {
    Error::new(
        Kind::Deleted,
        Code::INVALID_ARGUMENT,
        format!(
            "{what} called on deleted or donated buffer: its memory is gone or belongs to the \
             result of an earlier execution"
        ),
    )
}

/// Locks the arguments of an execution against readers. Those that are being read right now are
/// returned by index: the program must copy them instead of taking their memory.
pub(crate) fn lock_for_execution<'a>(
    arguments: &[&'a Buffer],
) -> (Vec<RwLockWriteGuard<'a, ()>>, Vec<usize>) {
    let mut locks = Vec::with_capacity(arguments.len());
    let mut busy = Vec::new();
    for (i, buffer) in arguments.iter().enumerate() {
        // An argument that is given twice is locked by its first appearance already.
        if arguments[..i].iter().any(|b| std::ptr::eq(*b, *buffer)) {
            continue;
        }
        match buffer.lock.try_write() {
            Ok(guard) => locks.push(guard),
            Err(std::sync::TryLockError::Poisoned(p)) => locks.push(p.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => busy.push(i),
        }
    }
    (locks, busy)
}

impl Buffer {
    /// Takes over a buffer of `client`; frees it where it cannot be used.
    pub(crate) fn take(client: &Client, raw: *mut PJRT_Buffer) -> Result<Self> {
        let api = client.api();
        if raw.is_null() {
            return Err(Error::new(
                Kind::Plugin,
                Code::INTERNAL,
                "the plugin returned NULL for a buffer",
            ));
        }
        match Self::describe(api, raw) {
            Ok((dtype, dims)) => Ok(Self {
                client: client.clone(),
                raw,
                dtype,
                dims,
                ready: AtomicBool::new(false),
                lock: RwLock::new(()),
                strides: OnceLock::new(),
            }),
            Err(e) => {
                destroy(api, raw);
                Err(e)
            }
        }
    }

    fn describe(api: Api, raw: *mut PJRT_Buffer) -> Result<(DType, Vec<i64>)> {
        let mut element = PJRT_Buffer_ElementType_Args::new();
        element.buffer = raw;
        let mut shape = PJRT_Buffer_Dimensions_Args::new();
        shape.buffer = raw;
        // SAFETY: the buffer is alive, and what it lends is copied at once.
        let dims = unsafe {
            call!(api, PJRT_Buffer_ElementType(element))?;
            call!(api, PJRT_Buffer_Dimensions(shape))?;
            slice(shape.dims, shape.num_dims).to_vec()
        };
        let dtype = DType::from_pjrt(element.r#type).ok_or_else(|| {
            let name = element.r#type.header_name();
            Error::new(
                Kind::Argument,
                Code::UNIMPLEMENTED,
                format!(
                    "buffers of element type {name} (number {}) are not supported",
                    element.r#type.0
                ),
            )
        })?;
        Ok((dtype, dims))
    }

    pub(crate) fn api(&self) -> Api {
        self.client.api()
    }

    pub(crate) fn raw(&self) -> *mut PJRT_Buffer {
        self.raw
    }

    /// The client that it belongs to.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Shape.
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// Number of elements.
    pub fn num_elements(&self) -> usize {
        self.dims.iter().map(|&d| d.max(0) as usize).product()
    }

    /// The device that holds it.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn device(&self) -> Result<Device> {
        let mut args = PJRT_Buffer_Device_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive.
        unsafe { call!(self.api(), PJRT_Buffer_Device(args))? };
        let index = self
            .client
            .raw_devices()
            .iter()
            .position(|&d| d == args.device)
            .ok_or_else(|| Error::argument("the buffer is on a device of another process"))?;
        Ok(Device::new(&self.client, index))
    }

    /// The memory that holds it.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn memory(&self) -> Result<Memory> {
        let mut args = PJRT_Buffer_Memory_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive.
        unsafe { call!(self.api(), PJRT_Buffer_Memory(args))? };
        Ok(Memory::new(&self.client, args.memory))
    }

    /// Whether it was deleted or donated.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn is_deleted(&self) -> Result<bool> {
        let mut args = PJRT_Buffer_IsDeleted_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive (its handle; what it holds may be gone).
        unsafe { call!(self.api(), PJRT_Buffer_IsDeleted(args))? };
        Ok(args.is_deleted)
    }

    /// Frees its memory on the device now. Using it afterwards is an error.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn delete(&self) -> Result<()> {
        Error::if_forked()?;
        let _lock = self.lock.write().unwrap_or_else(PoisonError::into_inner);
        let mut args = PJRT_Buffer_Delete_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive, and nobody is reading its memory.
        unsafe { call!(self.api(), PJRT_Buffer_Delete(args)) }
    }

    /// A copy on another device of the same client.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a device of another client; else what the plugin returns.
    pub fn copy_to(&self, device: &Device) -> Result<Buffer> {
        if !device.client().is_same(&self.client) {
            return Err(Error::argument(
                "the device belongs to another client than the buffer",
            ));
        }
        if self.is_deleted()? {
            return Err(deleted("copying"));
        }
        let mut args = PJRT_Buffer_CopyToDevice_Args::new();
        args.buffer = self.raw;
        args.dst_device = device.raw();
        // SAFETY: buffer and device are alive.
        unsafe { call!(self.api(), PJRT_Buffer_CopyToDevice(args))? };
        Buffer::take(&self.client, args.dst_buffer)
    }

    /// Its address in device memory, for callers that know what they do: it is valid until the
    /// buffer is deleted, donated or dropped, and the contents are there once it is ready.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn unsafe_pointer(&self) -> Result<usize> {
        let mut args = PJRT_Buffer_UnsafePointer_Args::new();
        args.buffer = self.raw;
        // SAFETY: the buffer is alive.
        unsafe { call!(self.api(), PJRT_Buffer_UnsafePointer(args))? };
        Ok(args.buffer_pointer)
    }

    /// Runs `f` while the buffer's memory can neither be deleted nor donated by this host.
    pub(crate) fn held<T>(&self, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let _lock = self.lock.read().unwrap_or_else(PoisonError::into_inner);
        f()
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({}{:?})", self.dtype, self.dims)
    }
}
