//! A buffer as lines of text, in the look of the R package {pjrt}.

use super::number::{Notation, Value};
use xla_ffi::half::{bf16, f16};
use xla_ffi::{DataType, Error, Result};

/// How much of a buffer is written; in each limit a negative number means "no limit".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Rows in all, counted over slices and column blocks.
    pub max_rows: i64,
    /// Characters per line; wider matrices are broken into blocks of columns.
    pub max_width: i64,
    /// Rows per slice.
    pub max_rows_slice: i64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_rows: 30,
            max_width: 85,
            max_rows_slice: 30,
        }
    }
}

const TRUNCATED: &str = " ... [output was truncated, set max_rows = -1 to see all]";

/// The lines (without line ends) that show a dense row-major buffer of `dtype` and `dims`.
///
/// The last two dimensions are written as matrices, a vector as a column, a scalar as one value,
/// further dimensions as slices headed by `(1,.,.) =`. Empty buffers give no lines.
///
/// # Errors
/// `InvalidArgument` for a dtype that has no text form here, dimensions that are negative or too
/// large, and `bytes` of the wrong length.
pub fn format_buffer(
    dtype: DataType,
    dims: &[i64],
    bytes: &[u8],
    options: &Options,
) -> Result<Vec<String>> {
    let (Some(read), Some(size)) = (reader(dtype), dtype.size()) else {
        return Err(invalid(format!("cannot print a buffer of dtype {dtype}")));
    };
    let count = element_count(dims)?;
    if count.checked_mul(size) != Some(bytes.len()) {
        let came = bytes.len();
        return Err(invalid(format!(
            "cannot print {came} bytes as {dtype}{dims:?}"
        )));
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    let (lead, rows, cols) = match *dims {
        [] => (&dims[..0], 1, 1),
        [n] => (&dims[..0], n as usize, 1),
        [.., m, n] => (&dims[..dims.len() - 2], m as usize, n as usize),
    };
    let mut page = Page {
        lines: Vec::new(),
        rows_left: limit(options.max_rows),
        // Every row starts with a blank.
        width: limit(options.max_width).map_or(usize::MAX, |w| w.saturating_sub(1).max(1)),
        truncated: false,
    };
    let rows_shown = rows.min(limit(options.max_rows_slice).unwrap_or(usize::MAX));
    let slice_bytes = rows * cols * size;
    for (index, slice) in bytes.chunks_exact(slice_bytes).enumerate() {
        if page.rows_left == Some(0) {
            page.truncated = true;
            break;
        }
        if !lead.is_empty() {
            if index > 0 {
                page.lines.push(String::new());
            }
            page.lines.push(slice_heading(lead, index));
        }
        let slice = Slice {
            bytes: slice,
            read,
            size,
            cols,
        };
        page.add_slice(&slice, rows_shown);
    }
    if page.truncated {
        page.lines.push(TRUNCATED.to_owned());
    }
    Ok(page.lines)
}

/// The name of a dtype as {pjrt} prints it: `bool` for `pred`.
pub fn dtype_label(dtype: DataType) -> &'static str {
    match dtype {
        DataType::PRED => "bool",
        other => other.name(),
    }
}

/// The lines under construction.
struct Page {
    lines: Vec<String>,
    rows_left: Option<usize>,
    width: usize,
    truncated: bool,
}

impl Page {
    /// Writes the first `rows` rows of a slice, block of columns by block of columns.
    fn add_slice(&mut self, slice: &Slice<'_>, rows: usize) {
        let rows = rows.min(self.rows_left.unwrap_or(usize::MAX));
        self.truncated |= rows < slice.rows();
        let notation = slice.notation();
        self.lines.extend(notation.prefix());
        let mut start = 0;
        while start < slice.cols {
            let (block, width) = slice.block(notation, start, rows, self.width);
            let end = start + block.len();
            if end - start < slice.cols {
                self.lines.push(format!("Columns {} to {end}", start + 1));
            }
            for r in 0..rows {
                let mut line = String::new();
                for column in &block {
                    line.push_str(&format!(" {:>width$}", column[r]));
                }
                self.lines.push(line);
            }
            start = end;
            if let Some(left) = &mut self.rows_left {
                *left = left.saturating_sub(rows);
                if *left == 0 {
                    self.truncated |= start < slice.cols;
                    return;
                }
            }
        }
    }
}

/// One matrix of the buffer.
struct Slice<'a> {
    bytes: &'a [u8],
    read: fn(&[u8]) -> Value,
    size: usize,
    cols: usize,
}

impl Slice<'_> {
    fn values(&self) -> impl Iterator<Item = Value> + '_ {
        self.bytes.chunks_exact(self.size).map(self.read)
    }

    fn rows(&self) -> usize {
        self.bytes.len() / (self.size * self.cols)
    }

    fn notation(&self) -> Notation {
        let count = self.bytes.len() / self.size;
        Notation::choose(count, self.values().flat_map(Value::parts))
    }

    fn column(&self, notation: Notation, c: usize, rows: usize) -> Vec<String> {
        (0..rows)
            .map(|r| (r * self.cols + c) * self.size)
            .map(|at| notation.write((self.read)(&self.bytes[at..at + self.size])))
            .collect()
    }

    /// The columns from `start` that fit into `width` at one common column width, at least one.
    fn block(
        &self,
        notation: Notation,
        start: usize,
        rows: usize,
        width: usize,
    ) -> (Vec<Vec<String>>, usize) {
        let mut columns = Vec::new();
        let mut common = 0;
        for c in start..self.cols {
            let column = self.column(notation, c, rows);
            let widest = column.iter().map(String::len).max().unwrap_or(0);
            let wider = common.max(widest);
            let needed = (columns.len() + 1) * (wider + 1) - 1;
            if needed > width && !columns.is_empty() {
                break;
            }
            common = wider;
            columns.push(column);
        }
        (columns, common)
    }
}

fn slice_heading(lead: &[i64], mut index: usize) -> String {
    let mut position = vec![0; lead.len()];
    for (at, &extent) in position.iter_mut().zip(lead).rev() {
        *at = index % extent as usize + 1;
        index /= extent as usize;
    }
    let position: Vec<String> = position.iter().map(usize::to_string).collect();
    format!("({},.,.) =", position.join(","))
}

fn limit(value: i64) -> Option<usize> {
    usize::try_from(value).ok()
}

fn element_count(dims: &[i64]) -> Result<usize> {
    if dims.contains(&0) && dims.iter().all(|&d| d >= 0) {
        return Ok(0);
    }
    dims.iter()
        .try_fold(1_usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?))
        .ok_or_else(|| invalid(format!("cannot print a buffer of dimensions {dims:?}")))
}

fn invalid(message: String) -> Error {
    Error::invalid_argument(message)
}

/// Reads one element of `dtype` from its bytes in memory order; `None` for dtypes without a text
/// form. The slice handed to the reader has the length of one element.
fn reader(dtype: DataType) -> Option<fn(&[u8]) -> Value> {
    /// The bytes of a part of an element; zeros only if the caller broke the length contract.
    fn raw<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.try_into().unwrap_or([0; N])
    }
    fn halves(bytes: &[u8]) -> (&[u8], &[u8]) {
        bytes.split_at(bytes.len() / 2)
    }
    Some(match dtype {
        DataType::PRED => |b| Value::Int((raw::<1>(b)[0] != 0).into()),
        DataType::S8 => |b| Value::Int(i8::from_ne_bytes(raw(b)).into()),
        DataType::S16 => |b| Value::Int(i16::from_ne_bytes(raw(b)).into()),
        DataType::S32 => |b| Value::Int(i32::from_ne_bytes(raw(b)).into()),
        DataType::S64 => |b| Value::Int(i64::from_ne_bytes(raw(b)).into()),
        DataType::U8 => |b| Value::Int(u8::from_ne_bytes(raw(b)).into()),
        DataType::U16 => |b| Value::Int(u16::from_ne_bytes(raw(b)).into()),
        DataType::U32 => |b| Value::Int(u32::from_ne_bytes(raw(b)).into()),
        DataType::U64 => |b| Value::Int(u64::from_ne_bytes(raw(b)).into()),
        DataType::F16 => |b| Value::Real(f16::from_ne_bytes(raw(b)).into()),
        DataType::BF16 => |b| Value::Real(bf16::from_ne_bytes(raw(b)).into()),
        DataType::F32 => |b| Value::Real(f32::from_ne_bytes(raw(b)).into()),
        DataType::F64 => |b| Value::Real(f64::from_ne_bytes(raw(b))),
        DataType::C64 => |b| {
            let (re, im) = halves(b);
            let part = |half| f32::from_ne_bytes(raw(half)).into();
            Value::Complex(part(re), part(im))
        },
        DataType::C128 => |b| {
            let (re, im) = halves(b);
            let part = |half| f64::from_ne_bytes(raw(half));
            Value::Complex(part(re), part(im))
        },
        _ => return None,
    })
}
