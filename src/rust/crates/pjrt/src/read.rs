//! From a device to host memory.

use crate::api::{call, slice};
use crate::buffer::{deleted, Buffer};
use crate::convert::{self, Origin};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::host_data::Dest;
use crate::layout::{self, Order};
use crate::staging;
use pjrt_api::*;

impl Buffer {
    /// Waits for the array and copies it to host memory in the given order, converting as
    /// [`HostData`](crate::HostData) says.
    ///
    /// # Errors
    /// [`Kind::Deleted`](crate::Kind::Deleted) for a buffer that is gone; `INVALID_ARGUMENT`
    /// where `dest` does not have exactly as many elements as the array, or complex numbers are to become
    /// real ones; the error of the execution that makes the array; else what the plugin returns.
    pub fn read(&self, dest: Dest<'_>, order: Order) -> Result<()> {
        self.read_with_pauses(dest, order, &|| ())
    }

    /// As [`read`](Self::read). While a large array is converted `pause` is called now and then, on
    /// this thread; it may panic, which leaves `dest` filled in part.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_with_pauses(&self, dest: Dest<'_>, order: Order, pause: &dyn Fn()) -> Result<()> {
        Error::if_forked()?;
        let count = layout::elements(self.dims(), self.dtype().size())?;
        let room = dest.len(self.dtype());
        if room != count {
            return Err(Error::argument(format!(
                "the array of shape {:?} has {count} elements, but there is room for {room}",
                self.dims()
            )));
        }
        convert::check_read(self.dtype(), &dest)?;
        self.held(|| {
            self.wait()?;
            if count == 0 {
                return Ok(());
            }
            let to = layout::dense(self.dims(), order);
            if self.client().on_host() {
                if let Some(strides) = self.strides() {
                    let data = self.unsafe_pointer()? as *const u8;
                    // SAFETY: the plugin says where the array lies and how, and it can neither be
                    // deleted nor donated meanwhile; `dest` has as many elements.
                    return unsafe {
                        convert::from_device(self.origin(data, strides), &to, dest, pause)
                    };
                }
            }
            self.read_staged(&to, dest, pause)
        })
    }

    fn origin<'a>(&'a self, data: *const u8, strides: &'a [isize]) -> Origin<'a> {
        Origin {
            data,
            dtype: self.dtype(),
            dims: self.dims(),
            strides,
        }
    }

    /// Lets the plugin copy to staging memory in row-major order, and converts from there.
    fn read_staged(&self, to: &[isize], dest: Dest<'_>, pause: &dyn Fn()) -> Result<()> {
        let from = layout::dense(self.dims(), Order::RowMajor);
        let rank = self.dims().len() as i64;
        let minor_to_major: Vec<i64> = (0..rank).rev().collect();
        let mut host = PJRT_Buffer_MemoryLayout::new();
        host.r#type = PJRT_Buffer_MemoryLayout_Type::Tiled;
        host.value.tiled = PJRT_Buffer_MemoryLayout_Tiled::new();
        host.value.tiled.minor_to_major = minor_to_major.as_ptr();
        host.value.tiled.minor_to_major_size = minor_to_major.len();
        let bytes = self.num_elements() * self.dtype().size();
        let block = staging::take(bytes)?;
        let mut args = PJRT_Buffer_ToHostBuffer_Args::new();
        args.src = self.raw();
        args.host_layout = &mut host;
        args.dst = block.as_ptr().cast();
        args.dst_size = bytes;
        // SAFETY: the buffer is alive, the layout outlives the call, and the block outlives the
        // transfer: it is waited for before anything can fail.
        unsafe { call!(self.api(), PJRT_Buffer_ToHostBuffer(args))? };
        if let Some(event) = Event::take(self.client(), args.event) {
            event.wait()?;
        }
        // SAFETY: block and `dest` have as many elements as the shape, which dense strides reach.
        unsafe { convert::from_device(self.origin(block.as_ptr(), &from), to, dest, pause) }
    }

    /// Strides of the array's memory in elements; `None` where the plugin cannot tell or the
    /// array is not stored as a plain dense one.
    pub(crate) fn strides(&self) -> Option<&[isize]> {
        self.strides
            .get_or_init(|| self.query_strides().ok().flatten())
            .as_deref()
    }

    fn query_strides(&self) -> Result<Option<Vec<isize>>> {
        let mut args = PJRT_Buffer_GetMemoryLayout_Args::new();
        args.buffer = self.raw();
        if self.is_deleted()? {
            return Err(deleted("reading"));
        }
        // SAFETY: the buffer is alive and so is what its layout points to; the union's member is
        // the one that the type names.
        unsafe {
            call!(self.api(), PJRT_Buffer_GetMemoryLayout(args))?;
            match args.layout.r#type {
                PJRT_Buffer_MemoryLayout_Type::Tiled => {
                    let tiled = args.layout.value.tiled;
                    if tiled.num_tiles > 0 {
                        return Ok(None);
                    }
                    let order = slice(tiled.minor_to_major, tiled.minor_to_major_size);
                    Ok(layout::from_minor_to_major(self.dims(), order))
                }
                PJRT_Buffer_MemoryLayout_Type::Strides => {
                    let strides = args.layout.value.strides;
                    let size = self.dtype().size() as i64;
                    let bytes = slice(strides.byte_strides, strides.num_byte_strides);
                    let whole = bytes.len() == self.dims().len()
                        && bytes.iter().all(|b| *b >= 0 && b % size == 0);
                    Ok(whole.then(|| bytes.iter().map(|b| (b / size) as isize).collect()))
                }
                _ => Ok(None),
            }
        }
    }
}
