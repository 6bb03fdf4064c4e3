//! What a host holds as a buffer.

use crate::array::jax_array::{deleted, Array};
use crate::array::shape::Shape;
use crate::array::small::Contents;
use crate::base::entry::object;
use crate::base::error::{Error, Result};
use crate::client::device::Device;
use crate::client::Client;
use pjrt_api::{PJRT_Buffer, PJRT_Device};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a `PJRT_Buffer` is. Shape and layout are known here: to jaxlib an array is so many bytes.
pub(crate) struct Buffer {
    pub client: Arc<Client>,
    pub(super) device: *const Device,
    pub shape: Arc<Shape>,
    /// `None` once deleted or donated.
    pub(super) contents: Mutex<Option<Contents>>,
    /// Whether the elements lie in memory of the caller that must not be written.
    pub immutable: bool,
    /// How many users outside hold on to the elements.
    pub(super) external: AtomicUsize,
    /// What was deleted while they did.
    pub(super) held: Mutex<Option<Contents>>,
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

    pub(super) fn lock(&self) -> MutexGuard<'_, Option<Contents>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Option<Contents>> {
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
    pub(super) fn address(&self) -> Result<usize> {
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
    pub(super) fn gone(&self, contents: Option<Contents>) -> Option<Contents> {
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
    pub(super) fn copy_to(&self, target: *const PJRT_Device) -> Result<*mut PJRT_Buffer> {
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
