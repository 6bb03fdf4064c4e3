//! Arrays that come to a device part by part, so that no host memory has to hold a second copy.

use crate::client::Client;
use crate::convert::{self, Target};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Code, Error, Kind, Result};
use crate::host_data::Source;
use crate::layout::{self, Order};
use crate::staging::{self, Block};
use crate::transfer::Transfer;
use crate::upload::PLUGIN_COPIES;
use crate::Buffer;

/// An array of which so far the first elements are there, in row-major order.
///
/// Where device memory is memory of this process, parts go to their place in memory that the plugin takes over in the end. Other
/// devices get them as they come, if their plugin has transfers by parts; else the array is put together here first.
pub struct Parts {
    device: Device,
    dtype: DType,
    dims: Vec<i64>,
    /// Whether the first dimension is what will have come in the end.
    open: bool,
    /// Elements of one index of the first dimension.
    row: usize,
    /// Elements of the whole, as far as it is known.
    total: usize,
    /// Elements that are there.
    done: usize,
    place: Place,
}

enum Place {
    /// Memory for all of it.
    Whole(Option<Block>),
    /// Memory of each part, with the number of its bytes.
    Pieces(Vec<(Block, usize)>),
    /// Memory of the device.
    Transfer(Transfer),
}

impl Client {
    /// Begins an array on `device` (the first one if `None`).
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a device of another client or a shape that is none; `RESOURCE_EXHAUSTED` where memory does not
    /// suffice; else what the plugin returns.
    pub fn parts(&self, dims: &[i64], dtype: DType, device: Option<&Device>) -> Result<Parts> {
        let mut parts = Parts::new(self, dims, dtype, device)?;
        let bytes = parts.total * dtype.size();
        let transfer = match self.on_host() || bytes <= PLUGIN_COPIES {
            true => None,
            false => Transfer::start(&parts.device, dims, dtype)?,
        };
        parts.place = match transfer {
            Some(transfer) => Place::Transfer(transfer),
            None => Place::Whole(Some(staging::take(bytes)?)),
        };
        Ok(parts)
    }

    /// Begins an array whose number of rows nobody knows yet; `row` is the shape of one.
    ///
    /// # Errors
    /// As [`parts`](Self::parts); `INVALID_ARGUMENT` also for rows without elements, which cannot be counted.
    pub fn open_parts(&self, row: &[i64], dtype: DType, device: Option<&Device>) -> Result<Parts> {
        let dims: Vec<i64> = std::iter::once(1).chain(row.iter().copied()).collect();
        let mut parts = Parts::new(self, &dims, dtype, device)?;
        if parts.row == 0 {
            return Err(Error::argument(format!(
                "rows of shape {row:?} have no elements: their number must be given"
            )));
        }
        (parts.open, parts.total, parts.dims[0]) = (true, 0, 0);
        Ok(parts)
    }
}

impl Parts {
    fn new(client: &Client, dims: &[i64], dtype: DType, device: Option<&Device>) -> Result<Self> {
        Error::if_forked()?;
        let device = match device {
            None => client.devices().into_iter().next().ok_or_else(|| {
                Error::argument("the client has no device that this process can use")
            })?,
            Some(device) if device.client().is_same(client) => device.clone(),
            Some(_) => return Err(Error::argument("the device belongs to another client")),
        };
        Ok(Self {
            device,
            dtype,
            dims: dims.to_vec(),
            open: false,
            row: layout::elements(dims.get(1..).unwrap_or_default(), dtype.size())?,
            total: layout::elements(dims, dtype.size())?,
            done: 0,
            place: Place::Pieces(Vec::new()),
        })
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of elements that are there.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Number of elements that there will be; `None` where nobody knows.
    pub fn total(&self) -> Option<usize> {
        (!self.open).then_some(self.total)
    }

    /// Whether parts may go to any place.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.place, Place::Whole(_))
    }

    /// Puts the next part: in row-major order any number of elements, in column-major order whole rows. Numbers are converted
    /// as in [`HostData`](crate::HostData). `pause` is called now and then, and may panic: then the part is not there.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for more elements than the array has, a column-major part that is no whole number of rows or does not begin
    /// with one, and what [`HostData`](crate::HostData) refuses; `RESOURCE_EXHAUSTED`; else what the plugin returns.
    pub fn put(&mut self, source: Source<'_>, order: Order, pause: &dyn Fn()) -> Result<()> {
        Error::if_forked()?;
        let given = source.len(self.dtype)?;
        self.expect_room_for(given)?;
        convert::range::check(&source, self.dtype)?;
        if given == 0 {
            return Ok(());
        }
        let by_columns = order == Order::ColumnMajor && self.dims.len() > 1;
        let dims = match by_columns {
            false => vec![given as i64],
            true if given % self.row == 0 && self.done % self.row == 0 => {
                let mut dims = self.dims.clone();
                dims[0] = (given / self.row) as i64;
                dims
            }
            true => {
                return Err(Error::argument(format!(
                    "{given} elements are no whole number of rows of {} elements, which parts in column-major order must be",
                    self.row
                )))
            }
        };
        let dtype = self.dtype;
        self.fill(given, |data| {
            let target = Target {
                data,
                dtype,
                strides: &layout::dense(&dims, Order::RowMajor),
            };
            // SAFETY: source and target have as many elements as the shape, which dense strides reach.
            unsafe {
                convert::to_device(source, &dims, &layout::dense(&dims, order), target, pause)
            }
        })
    }

    fn expect_room_for(&self, given: usize) -> Result<()> {
        if !self.open && given > self.total - self.done {
            return Err(Error::argument(format!(
                "there are {given} more elements after {}, but an array of shape {:?} has {}",
                self.done, self.dims, self.total
            )));
        }
        Ok(())
    }

    /// Has the next elements written to an address, and sends them where they do not stay.
    fn fill(&mut self, given: usize, write: impl FnOnce(*mut u8) -> Result<()>) -> Result<()> {
        let size = self.dtype.size();
        let (at, bytes) = (self.done * size, given * size);
        match &mut self.place {
            Place::Whole(Some(block)) => {
                // SAFETY: the block holds the whole array, of which there is room for so many elements.
                write(unsafe { block.as_ptr().add(at) })?;
            }
            Place::Whole(None) => return Err(finished()),
            Place::Pieces(pieces) => {
                let block = staging::take(bytes)?.not_pooled();
                write(block.as_ptr())?;
                pieces.push((block, bytes));
            }
            Place::Transfer(transfer) => {
                let block = staging::take(bytes)?;
                write(block.as_ptr())?;
                let is_last = self.done + given == self.total;
                // SAFETY: the block is that long, and the array has room for so many elements.
                unsafe { transfer.send(block, at, bytes, is_last)? };
            }
        }
        self.done += given;
        Ok(())
    }

    /// Puts all that lies at some places of the last axis, from `from` on: `bytes` in column-major order, with `stored` rows of which
    /// those from `first` on are this array's. Only where [`is_whole`](Self::is_whole); places come in order.
    pub(crate) fn put_slabs(
        &mut self,
        bytes: &[u8],
        (from, count): (usize, usize),
        (first, stored): (usize, usize),
        pause: &dyn Fn(),
    ) -> Result<()> {
        let Place::Whole(Some(block)) = &self.place else {
            return Err(finished());
        };
        let (size, last) = (self.dtype.size(), self.dims.len() - 1);
        let mut dims = self.dims.clone();
        dims[last] = count as i64;
        let given = layout::elements(&dims, size)?;
        let mut there = dims.clone();
        there[0] = stored as i64;
        assert!(
            last > 0
                && from + count <= self.dims[last] as usize
                && first + self.dims[0] as usize <= stored
                && bytes.len() == layout::elements(&there, size)? * size,
            "slabs outside of the array"
        );
        if given > 0 {
            // SAFETY: both sides reach over the asserted ranges: the rows `first..` of `stored` in the bytes, and the places
            // `from..from + count` of the last axis in the block, whose elements lie next to each other there.
            unsafe {
                convert::to_device(
                    Source::Bytes(&bytes[first * size..]),
                    &dims,
                    &layout::dense(&there, Order::ColumnMajor),
                    Target {
                        data: block.as_ptr().add(from * size),
                        dtype: self.dtype,
                        strides: &layout::dense(&self.dims, Order::RowMajor),
                    },
                    pause,
                )?;
            }
        }
        self.done += given;
        Ok(())
    }

    /// The array, when all of it is there. After an error of the plugin's it may be asked for once more.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` where elements are missing; `RESOURCE_EXHAUSTED`; else what the plugin returns.
    pub fn finish(&mut self) -> Result<Buffer> {
        Error::if_forked()?;
        if self.open {
            self.close()?;
        }
        if self.done < self.total {
            return Err(Error::argument(format!(
                "there are {} elements, but an array of shape {:?} has {}",
                self.done, self.dims, self.total
            )));
        }
        let client = self.device.client();
        match &mut self.place {
            Place::Whole(None) => Err(finished()),
            Place::Transfer(transfer) => transfer.finish(),
            Place::Whole(block) => {
                let args = client.array_on(self.device.raw(), &self.dims, self.dtype);
                // SAFETY: every element of the block has been written; device and shape are alive.
                let buffer =
                    unsafe { client.hand_over(block, args, self.total * self.dtype.size()) }?;
                *block = None;
                Ok(buffer)
            }
            Place::Pieces(_) => Err(finished()),
        }
    }

    /// Joins the pieces, of which each goes when it has been copied.
    fn close(&mut self) -> Result<()> {
        if self.done % self.row != 0 {
            return Err(Error::argument(format!(
                "the last row is not complete: there are {} elements, and rows have {}",
                self.done, self.row
            )));
        }
        let Place::Pieces(pieces) = &mut self.place else {
            return Err(finished());
        };
        let whole = staging::take(self.done * self.dtype.size())?;
        let mut at = 0;
        for (piece, bytes) in pieces.drain(..) {
            // SAFETY: the pieces' bytes are those of the elements that are there, for which the other block has room.
            unsafe {
                std::ptr::copy_nonoverlapping(piece.as_ptr(), whole.as_ptr().add(at), bytes);
            }
            at += bytes;
        }
        self.place = Place::Whole(Some(whole));
        (self.open, self.total) = (false, self.done);
        self.dims[0] = (self.done / self.row) as i64;
        Ok(())
    }
}

fn finished() -> Error {
    Error::new(
        Kind::Argument,
        Code::FAILED_PRECONDITION,
        "the array has been handed over before",
    )
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Parts({} of {}{:?})", self.done, self.dtype, self.dims)
    }
}
