//! From host memory to a device.

use crate::api::call;
use crate::buffer::Buffer;
use crate::client::Client;
use crate::convert::{self, Target};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::event::{self, keep_until};
use crate::host_data::HostData;
use crate::layout::{self, Order};
use crate::staging::{self, Block};
use pjrt_api::*;
use std::ptr::null_mut;

/// Up to this many bytes the plugin copies: the included one keeps such arrays in memory of its own. Above,
/// our own copy into pooled memory that the plugin takes over is faster.
pub(crate) const PLUGIN_COPIES: usize = 32 << 10;

impl Client {
    /// Makes an array on `device` (the first one if `None`) from host memory, which may be
    /// changed as soon as this returns. The device's array is row-major.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` where number of elements and shape disagree, an integer type does not have a
    /// number, or complex numbers are to become real ones; `RESOURCE_EXHAUSTED` where memory does not suffice; else what the
    /// plugin returns.
    pub fn upload(&self, host: HostData<'_>, device: Option<&Device>) -> Result<Buffer> {
        self.upload_with_pauses(host, device, &|| ())
    }

    /// As [`upload`](Self::upload). While a large array is converted `pause` is called now and then, on
    /// this thread; it may panic, which ends the upload.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    pub fn upload_with_pauses(
        &self,
        host: HostData<'_>,
        device: Option<&Device>,
        pause: &dyn Fn(),
    ) -> Result<Buffer> {
        Error::if_forked()?;
        let device = match device {
            None => self.first_device()?,
            Some(d) if d.client().is_same(self) => d.raw(),
            Some(_) => return Err(Error::argument("the device belongs to another client")),
        };
        let count = layout::elements(host.dims, host.dtype.size())?;
        let given = host.source.len(host.dtype)?;
        if given != count {
            return Err(Error::argument(format!(
                "`data` has {given} elements, but specified shape is {:?} with {count} elements",
                host.dims
            )));
        }
        convert::range::check(&host.source, host.dtype)?;
        let bytes = count * host.dtype.size();
        let mut args = self.array_on(device, host.dims, host.dtype);
        let plain = convert::is_plain(&host.source, host.dtype)
            && (host.order == Order::RowMajor || host.dims.iter().filter(|&&d| d != 1).count() < 2);
        if plain && bytes <= PLUGIN_COPIES {
            args.data = host.source.as_ptr().cast();
            // SAFETY: client and device are alive; data and shape outlive the call.
            return unsafe { self.copied(args) };
        }

        let block = staging::take(bytes)?;
        // SAFETY: source and block have as many elements as the shape, which dense strides reach.
        unsafe {
            convert::to_device(
                host.source,
                host.dims,
                &layout::dense(host.dims, host.order),
                Target {
                    data: block.as_ptr(),
                    dtype: host.dtype,
                    strides: &layout::dense(host.dims, Order::RowMajor),
                },
                pause,
            )
        }?;
        // SAFETY: the block has been filled; client, device and shape are alive.
        unsafe { self.hand_over(&mut Some(block), args, bytes) }
    }

    /// Makes an array of what a block holds in row-major order. The plugin gets the block; where it refuses, the block stays.
    ///
    /// # Safety
    /// The block holds the `bytes` of the array that `args` describes but for its data, and all that `args` points to is there.
    pub(crate) unsafe fn hand_over(
        &self,
        block: &mut Option<Block>,
        mut args: PJRT_Client_BufferFromHostBuffer_Args,
        bytes: usize,
    ) -> Result<Buffer> {
        let Some(memory) = block.as_ref() else {
            return Err(Error::argument("the array has been handed over before"));
        };
        args.data = memory.as_ptr().cast();
        if bytes <= PLUGIN_COPIES {
            // SAFETY: by contract.
            return unsafe { self.copied(args) };
        }
        args.host_buffer_semantics = if self.on_host() {
            PJRT_HostBufferSemantics::kMutableZeroCopy
        } else {
            PJRT_HostBufferSemantics::kImmutableUntilTransferCompletes
        };
        args.done_with_host_buffer = null_mut();
        // SAFETY: by contract; the block is kept until the plugin says that it has finished with it.
        unsafe { call!(self.api(), PJRT_Client_BufferFromHostBuffer(args))? };
        let buffer = Buffer::take(self, args.buffer);
        keep_until(self.api(), args.done_with_host_buffer, block.take())?;
        buffer
    }

    /// The arguments for an array of that shape, but for its data.
    pub(crate) fn array_on(
        &self,
        device: *mut PJRT_Device,
        dims: &[i64],
        dtype: DType,
    ) -> PJRT_Client_BufferFromHostBuffer_Args {
        let mut args = PJRT_Client_BufferFromHostBuffer_Args::new();
        args.client = self.raw();
        args.r#type = dtype.to_pjrt();
        args.dims = dims.as_ptr();
        args.num_dims = dims.len();
        args.device = device;
        args
    }

    /// Has the plugin copy the data.
    ///
    /// # Safety
    /// All that `args` points to is there.
    unsafe fn copied(&self, mut args: PJRT_Client_BufferFromHostBuffer_Args) -> Result<Buffer> {
        args.host_buffer_semantics = PJRT_HostBufferSemantics::kImmutableOnlyDuringCall;
        // SAFETY: by contract; the plugin has finished with the data when it returns.
        unsafe { call!(self.api(), PJRT_Client_BufferFromHostBuffer(args))? };
        let buffer = Buffer::take(self, args.buffer);
        if !args.done_with_host_buffer.is_null() {
            event::destroy(self.api(), args.done_with_host_buffer);
        }
        buffer
    }
}
