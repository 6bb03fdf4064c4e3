//! How a kernel is launched: blocks and threads, from its grid or from what there is to do.

use cuda::unit::Grid;
use xla_ffi::{Error, Result};

use super::prepared::Call;
use crate::body::cuda::Launch;
use crate::signature::Dim;

/// Threads of a block, where the kernel does not say.
const THREADS: usize = 256;
/// Blocks at most, where the kernel strides over what they do not reach.
const BLOCKS: usize = 1 << 20;
/// What CUDA takes of blocks, along each axis, and of threads.
pub(super) const MOST_BLOCKS: [i64; 3] = [(1 << 31) - 1, 65_535, 65_535];
const MOST_THREADS: [i64; 3] = [1024, 1024, 64];

/// How the elements of the batch are launched.
pub(super) struct Shape {
    /// What each has to do, where the body is run for an index.
    pub(super) items: usize,
    /// Blocks and threads, where the kernel says them.
    pub(super) grid: Option<Grid>,
}

impl Call<'_> {
    fn number(&self, part: &str, dim: &Dim) -> Result<i64> {
        let value = dim.eval(self.layout.bound.dims(), &self.attributes.numbers);
        value.map_err(|problem| {
            let text = format!("`{part}` {problem}: {}", self.signature.dim_text(dim));
            Error::invalid_argument(text)
        })
    }

    fn within(&self, part: &str, dim: &Dim, least: i64, most: i64) -> Result<u32> {
        let value = self.number(part, dim)?;
        let fits = (least..=most).contains(&value);
        let value = fits.then(|| u32::try_from(value).ok()).flatten();
        value.ok_or_else(|| {
            let text = self.signature.dim_text(dim);
            let value = self.number(part, dim).unwrap_or(0);
            Error::invalid_argument(format!(
                "`{part}` must be from {least} to {most}, but {text} is {value}"
            ))
        })
    }

    pub(super) fn shape(&self) -> Result<Shape> {
        match &self.kernels.launch {
            Launch::Each(over) => {
                let items = match over {
                    Some(over) => self.number("over", over)?,
                    None => {
                        let first = &self.flats[self.signature.operands.len()];
                        (first.bytes / first.dtype.size().unwrap_or(1)) as i64
                    }
                };
                let items = usize::try_from(items).map_err(|_| {
                    Error::invalid_argument(format!("`over` must not be negative, but is {items}"))
                })?;
                Ok(Shape { items, grid: None })
            }
            Launch::Grid {
                blocks,
                threads,
                shared,
            } => {
                let mut grid = Grid {
                    blocks: [1; 3],
                    threads: [1; 3],
                    shared: 0,
                };
                for (axis, dim) in blocks.iter().enumerate() {
                    grid.blocks[axis] = self.within("grid", dim, 1, MOST_BLOCKS[axis])?;
                }
                for (axis, dim) in threads.iter().enumerate() {
                    grid.threads[axis] = self.within("block", dim, 1, MOST_THREADS[axis])?;
                }
                let all: u32 = grid.threads.iter().product();
                if i64::from(all) > MOST_THREADS[0] {
                    let text = format!(
                        "`block` must have at most {} threads, got {all}",
                        MOST_THREADS[0]
                    );
                    return Err(Error::invalid_argument(text));
                }
                if let Some(dim) = shared {
                    grid.shared = self.within("shared", dim, 0, i64::from(i32::MAX))?;
                }
                let grid = Some(grid);
                Ok(Shape { items: 1, grid })
            }
        }
    }
}

/// A thread for each item of each element, as far as blocks go.
pub(super) fn each_grid(elements: usize, items: usize) -> Result<Grid> {
    let all = elements.checked_mul(items);
    let all = all
        .filter(|&all| i64::try_from(all).is_ok())
        .ok_or_else(|| {
            Error::invalid_argument("the kernel would be run more than 2^63 times".to_owned())
        })?;
    let threads = all.next_power_of_two().clamp(32, THREADS);
    Ok(Grid {
        blocks: [all.div_ceil(threads).min(BLOCKS) as u32, 1, 1],
        threads: [threads as u32, 1, 1],
        shared: 0,
    })
}
