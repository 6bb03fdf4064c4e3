//! Arrays in files, on their way to a device.

use crate::dtype::DType;
use crate::error::{Code, Error, Kind, Result};
use crate::host_data::Source;
use crate::layout::{self, Order};
use crate::parts::Parts;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// So many bytes are read at once.
const CHUNK: usize = 16 << 20;
/// So many bytes are read without a look at Ctrl-C.
const UNINTERRUPTED: usize = 1 << 20;

/// Elements in a file, or a range of rows of them, one after the other in either order and without anything between them.
pub struct Stored {
    file: File,
    name: String,
    start: u64,
    dtype: DType,
    /// The shape in the file.
    dims: Vec<i64>,
    /// Elements of one index of the first dimension.
    row: usize,
    order: Order,
    swapped: bool,
    rows: Range<usize>,
    way: Option<Way>,
    /// Elements, places of the last axis or rows that have been read, whichever goes with the way.
    at: usize,
    /// At most so many bytes are read at once, but for what cannot be divided.
    chunk: usize,
    bytes: Vec<u8>,
}

/// How the file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// In one go: its elements lie as the device wants them.
    Through,
    /// In one go, a few places of the last axis at once, which go to where they belong.
    Slabs,
    /// A few rows at once, which are gathered from all over the file.
    Rows,
}

impl Stored {
    /// An array of shape `dims` in a file, from the byte `start` on; `swapped` says that its bytes are in the other order than this machine's.
    /// `rows` are those to be read, if not all.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a file that is too short, that is no regular file, or for rows that it does not have; what the system has
    /// against opening it.
    pub fn open(
        path: &Path,
        start: u64,
        (dims, dtype): (&[i64], DType),
        (order, swapped): (Order, bool),
        rows: Option<Range<usize>>,
    ) -> Result<Self> {
        let name = path.display().to_string();
        // To open a pipe that nobody writes to takes for ever.
        let facts = std::fs::metadata(path).map_err(|e| failed(&name, &e))?;
        if !facts.is_file() {
            return Err(Error::argument(format!("`{name}` is no regular file")));
        }
        let file = File::open(path).map_err(|e| failed(&name, &e))?;
        let needed = layout::elements(dims, dtype.size())? * dtype.size();
        let there = facts.len().saturating_sub(start);
        if there < needed as u64 {
            return Err(Error::argument(format!(
                "`{name}` is too short: an array of {dtype} with shape {dims:?} has {needed} bytes, and from byte {start} on there are {there}"
            )));
        }
        let all = 0..dims.first().map_or(1, |&rows| rows as usize);
        let rows = rows.unwrap_or(all.clone());
        if rows.start > rows.end || rows.end > all.end {
            return Err(Error::argument(format!(
                "`{name}` has {} rows: there are no rows from {} to {}",
                all.end,
                rows.start + 1,
                rows.end
            )));
        }
        Ok(Self {
            row: layout::elements(dims.get(1..).unwrap_or_default(), dtype.size())?,
            dims: dims.to_vec(),
            file,
            name,
            start,
            dtype,
            order,
            swapped,
            rows,
            way: None,
            at: 0,
            chunk: CHUNK,
            bytes: Vec::new(),
        })
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape of what is read.
    pub fn dims(&self) -> Vec<i64> {
        let mut dims = self.dims.clone();
        if let Some(rows) = dims.first_mut() {
            *rows = self.rows.len() as i64;
        }
        dims
    }

    /// Reads at most so many bytes at once, but for what cannot be divided.
    pub fn with_chunk(self, chunk: usize) -> Self {
        Self { chunk, ..self }
    }

    /// Reads the next elements into an array of [`dims`](Self::dims), which gets nothing else; false where there are none left.
    /// `pause` is called now and then, and may panic: then nothing was read.
    ///
    /// # Errors
    /// What the system has against reading; `DATA_LOSS` where the file has become shorter; `INVALID_ARGUMENT` for bytes that are no truth
    /// values; else as [`Parts::put`].
    pub fn step(&mut self, to: &mut Parts, pause: &dyn Fn()) -> Result<bool> {
        let whole = to.is_whole();
        let way = *self.way.get_or_insert_with(|| {
            let slab = layout::elements(
                &self.dims[..self.dims.len().saturating_sub(1)],
                self.dtype.size(),
            );
            let slab = slab.map_or(usize::MAX, |slab| slab * self.dtype.size());
            match self.dims.iter().filter(|&&d| d != 1).count() < 2 || self.order == Order::RowMajor
            {
                true => Way::Through,
                false if whole && slab <= self.chunk => Way::Slabs,
                false => Way::Rows,
            }
        });
        if self.row * self.rows.len() == 0 {
            return Ok(false);
        }
        match way {
            Way::Through => self.through(to, pause),
            Way::Slabs => self.slabs(to, pause),
            Way::Rows => self.gather(to, pause),
        }
    }

    fn through(&mut self, to: &mut Parts, pause: &dyn Fn()) -> Result<bool> {
        let all = self.rows.len() * self.row;
        let count = (all - self.at).min((self.chunk / self.dtype.size()).max(1));
        self.read(&[(self.rows.start * self.row + self.at, count)], pause)?;
        to.put(Source::Bytes(&self.bytes), Order::RowMajor, pause)?;
        self.at += count;
        Ok(self.at < all)
    }

    fn slabs(&mut self, to: &mut Parts, pause: &dyn Fn()) -> Result<bool> {
        let last = self.dims.len() - 1;
        let (stored, all) = (self.dims[0] as usize, self.dims[last] as usize);
        let slab = stored * self.row / all;
        let count = (all - self.at).min((self.chunk / (slab * self.dtype.size())).max(1));
        self.read(&[(self.at * slab, count * slab)], pause)?;
        to.put_slabs(
            &self.bytes,
            (self.at, count),
            (self.rows.start, stored),
            pause,
        )?;
        self.at += count;
        Ok(self.at < all)
    }

    fn gather(&mut self, to: &mut Parts, pause: &dyn Fn()) -> Result<bool> {
        let (stored, all) = (self.dims[0] as usize, self.rows.len());
        let row = self.row * self.dtype.size();
        let count = (all - self.at).min((self.chunk / row).max(1));
        let first = self.rows.start + self.at;
        let runs: Vec<_> = (0..self.row)
            .map(|column| (column * stored + first, count))
            .collect();
        self.read(&runs, pause)?;
        to.put(Source::Bytes(&self.bytes), Order::ColumnMajor, pause)?;
        self.at += count;
        Ok(self.at < all)
    }

    /// Fills `bytes` with runs of elements: where each begins, and how long it is.
    fn read(&mut self, runs: &[(usize, usize)], pause: &dyn Fn()) -> Result<()> {
        let size = self.dtype.size();
        let total: usize = runs.iter().map(|(_, count)| count * size).sum();
        self.bytes.clear();
        self.bytes.try_reserve_exact(total).map_err(|_| {
            Error::new(
                Kind::Memory,
                Code::RESOURCE_EXHAUSTED,
                format!("{total} bytes of host memory cannot be allocated"),
            )
        })?;
        self.bytes.resize(total, 0);
        let (mut at, mut since) = (0, 0);
        for (from, count) in runs {
            let place = self.start + (from * size) as u64;
            let moved = self.file.seek(SeekFrom::Start(place));
            moved.map_err(|e| failed(&self.name, &e))?;
            for piece in self.bytes[at..at + count * size].chunks_mut(UNINTERRUPTED) {
                self.file
                    .read_exact(piece)
                    .map_err(|e| failed(&self.name, &e))?;
                since += piece.len();
                if since >= UNINTERRUPTED {
                    since = 0;
                    pause();
                }
            }
            at += count * size;
        }
        if self.swapped {
            let part = if self.dtype.is_complex() {
                size / 2
            } else {
                size
            };
            self.bytes.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        }
        match self.bytes.iter().find(|&&byte| byte > 1) {
            Some(byte) if self.dtype == DType::Pred => Err(Error::argument(format!(
                "`{}` has a byte {byte} where pred has 0 and 1",
                self.name
            ))),
            _ => Ok(()),
        }
    }
}

fn failed(name: &str, error: &std::io::Error) -> Error {
    let code = match error.kind() {
        ErrorKind::NotFound => Code::NOT_FOUND,
        ErrorKind::PermissionDenied => Code::PERMISSION_DENIED,
        ErrorKind::UnexpectedEof => Code::DATA_LOSS,
        _ => Code::UNKNOWN,
    };
    Error::new(Kind::File, code, format!("cannot read `{name}`: {error}"))
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stored({}: {}{:?})", self.name, self.dtype, self.dims)
    }
}
