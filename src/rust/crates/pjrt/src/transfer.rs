//! Bytes that go to a device before the whole array is there.

use crate::api::call;
use crate::buffer::Buffer;
use crate::client::Client;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Code, Error, Kind, Result};
use crate::event::Event;
use crate::layout::{self, Order};
use crate::staging::Block;
use pjrt_api::*;
use std::ptr::null_mut;

/// A buffer of a device that is being filled from its first byte on.
pub(crate) struct Transfer {
    client: Client,
    manager: *mut PJRT_AsyncHostToDeviceTransferManager,
    /// The array, ready when all bytes have come.
    buffer: Option<Buffer>,
    /// What the plugin may still read.
    last: Option<(Event, Block)>,
    /// Why some bytes did not come: then the array is lost.
    failed: Option<Error>,
}

// SAFETY: the API allows calls on a transfer manager from any thread.
unsafe impl Send for Transfer {}

impl Drop for Transfer {
    fn drop(&mut self) {
        // The plugin must have finished with the memory; what became of the transfer matters to nobody.
        let _ = self.settle();
        self.buffer = None;
        let mut args = PJRT_AsyncHostToDeviceTransferManager_Destroy_Args::new();
        args.transfer_manager = self.manager;
        // SAFETY: ours, given up here. An error has nobody to go to.
        let _ = unsafe {
            call!(
                self.client.api(),
                PJRT_AsyncHostToDeviceTransferManager_Destroy(args)
            )
        };
    }
}

impl Transfer {
    /// Makes the buffer. `None` where the plugin has no such transfers, or would not lay the array out row by row.
    ///
    /// # Errors
    /// What the plugin returns, for instance where the device has no room.
    pub(crate) fn start(device: &Device, dims: &[i64], dtype: DType) -> Result<Option<Self>> {
        let client = device.client();
        let mut shape = PJRT_ShapeSpec::new();
        shape.dims = dims.as_ptr();
        shape.num_dims = dims.len();
        shape.element_type = dtype.to_pjrt();
        let mut args = PJRT_Client_CreateBuffersForAsyncHostToDevice_Args::new();
        args.client = client.raw();
        args.shape_specs = &mut shape;
        args.num_shape_specs = 1;
        let made = device.default_memory().and_then(|memory| {
            args.memory = memory.raw();
            // SAFETY: client and memory are alive, and the shape outlives the call.
            unsafe {
                call!(
                    client.api(),
                    PJRT_Client_CreateBuffersForAsyncHostToDevice(args)
                )
            }
        });
        match made {
            Err(e) if e.code() == Code::UNIMPLEMENTED => return Ok(None),
            made => made?,
        }
        let mut this = Self {
            client: client.clone(),
            manager: args.transfer_manager,
            buffer: None,
            last: None,
            failed: None,
        };
        let mut args = PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args::new();
        args.transfer_manager = this.manager;
        // SAFETY: the manager is alive.
        unsafe {
            call!(
                client.api(),
                PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(args)
            )?;
        }
        let buffer = Buffer::take(client, args.buffer_out)?;
        let wanted = layout::dense(dims, Order::RowMajor);
        let by_rows = buffer.strides().is_some_and(|given| {
            let pairs = given.iter().zip(&wanted).zip(dims);
            pairs
                .filter(|(_, &d)| d != 1)
                .all(|((given, wanted), _)| given == wanted)
        });
        this.buffer = Some(buffer);
        Ok(by_rows.then_some(this))
    }

    /// Sends the next bytes, when those before them are there: while one block goes to the device the next one is filled.
    ///
    /// # Errors
    /// What the plugin returns.
    ///
    /// # Safety
    /// `block` holds `bytes` bytes, which fit into the buffer from `offset` on.
    pub(crate) unsafe fn send(
        &mut self,
        block: Block,
        offset: usize,
        bytes: usize,
        is_last: bool,
    ) -> Result<()> {
        self.settle()?;
        let mut args = PJRT_AsyncHostToDeviceTransferManager_TransferData_Args::new();
        args.transfer_manager = self.manager;
        args.data = block.as_ptr().cast();
        args.offset = offset as i64;
        args.transfer_size = bytes as i64;
        args.is_last_transfer = is_last;
        args.done_with_h2d_transfer = null_mut();
        // SAFETY: the manager is alive; the block is kept until its event is ready.
        let sent = unsafe {
            call!(
                self.client.api(),
                PJRT_AsyncHostToDeviceTransferManager_TransferData(args)
            )
        };
        self.unless_failed(sent)?;
        let event = Event::take(&self.client, args.done_with_h2d_transfer);
        self.last = event.map(|event| (event, block));
        Ok(())
    }

    /// Waits for the bytes that were sent last. What failed once fails for good.
    fn settle(&mut self) -> Result<()> {
        let outcome = match (&self.failed, self.last.take()) {
            (Some(error), _) => Err(error.clone()),
            (None, Some((event, _block))) => event.wait(),
            (None, None) => Ok(()),
        };
        self.unless_failed(outcome)
    }

    fn unless_failed(&mut self, outcome: Result<()>) -> Result<()> {
        outcome.inspect_err(|error| self.failed = Some(error.clone()))
    }

    /// The array, when all bytes have been sent.
    ///
    /// # Errors
    /// What the plugin returns for the last bytes.
    pub(crate) fn finish(&mut self) -> Result<Buffer> {
        self.settle()?;
        self.buffer.take().ok_or_else(|| {
            Error::new(
                Kind::Argument,
                Code::FAILED_PRECONDITION,
                "the array has been handed over before",
            )
        })
    }
}
