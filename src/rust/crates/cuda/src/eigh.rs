//! The kernel for eigenvalues of matrices that have a block of threads each. It is compiled when it is first needed, for
//! one order and one element type, which takes a few seconds. Only NVRTC can do so; where it is missing, cuSOLVER takes
//! such matrices.

use crate::blocks::source;
use crate::kernels::{self, ELEMENT_TYPES};
use crate::modules::KernelSource;
use crate::{sizes, Cuda, Element};
use matrices::Matrices;
use std::mem::size_of;

/// Up to how many rows there are kernels for: so much room has a warp in registers for a column.
const ORDERS: [usize; 3] = [64, 128, 256];

const NAMES: [[&str; 4]; ORDERS.len()] = [
    kernels::for_kinds!("eigh", "_64"),
    kernels::for_kinds!("eigh", "_128"),
    kernels::for_kinds!("eigh", "_256"),
];

const SOURCE: &str = source!(
    "eigh_reduce.cu",
    "eigh_merge.cu",
    "eigh_secular.cu",
    "eigh_leaf.cu",
    "eigh.cu"
);

/// A kernel that is there for the matrices of a call.
#[derive(Clone, Copy)]
pub struct InBlocks {
    /// The place in [`ORDERS`], and [`Element::KIND`].
    at: (usize, usize),
}

impl InBlocks {
    /// The kernel for these matrices; `None` where there are too few or they are too large, and where it cannot be
    /// compiled or loaded.
    pub fn find<T: Element>(cuda: &Cuda, shape: Matrices) -> Option<Self> {
        if !sizes::eigh_in_blocks(shape) {
            return None;
        }
        let rows = shape.rows as usize;
        let order = ORDERS.iter().position(|&order| rows <= order)?;
        let found = InBlocks {
            at: (order, T::KIND),
        };
        found.is_there(cuda).then_some(found)
    }
}

impl KernelSource for InBlocks {
    fn name(&self) -> &'static str {
        NAMES[self.at.0][self.at.1]
    }

    fn text(&self) -> String {
        let (order, types) = (ORDERS[self.at.0], ELEMENT_TYPES[self.at.1]);
        format!("{SOURCE}EIGH_KERNEL({order}, {types})\n")
    }
}

/// Where a block has what it works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Numbers from one column of A to the next: so many that the numbers of a row are not in the same bank.
    pub(crate) stride: usize,
    /// How many columns of A are in shared memory, the last ones.
    pub(crate) columns: usize,
    /// How many of the three other matrices are there, too.
    pub(crate) near: usize,
    /// Bytes of shared memory.
    pub(crate) shared: usize,
    /// Bytes of scratch memory.
    pub(crate) far: usize,
}

impl Room {
    /// For matrices of `n` rows, with so many bytes of shared memory.
    pub(crate) fn of<T: Element>(n: usize, most: usize) -> Self {
        let (whole, real) = (size_of::<T>(), size_of::<T::Real>());
        let stride = n | 1;
        // In eigh.cu: tau, d and e, and `Merged`.
        let rows = n * (whole + 11 * real + size_of::<[i32; 8]>());
        let left = most.saturating_sub(rows);
        let columns = n.min(left / (stride * whole));
        let left = left - columns * stride * whole;
        let near = if columns == n {
            (left / (n * n * real)).min(3)
        } else {
            0
        };
        let far = (n - columns) * stride * whole + (3 - near) * n * n * real;
        Room {
            stride,
            columns,
            near,
            shared: rows + columns * stride * whole + near * n * n * real,
            // The next block's part must be aligned, too.
            far: far.next_multiple_of(16),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvrtc;
    use xla_ffi::Complex;

    /// What every device has is enough, if only for what cannot be elsewhere.
    #[test]
    fn shared_memory_is_never_more_than_there_is() {
        for n in 33..=256 {
            for most in [47 << 10, 113 << 10, 226 << 10] {
                let rooms = [
                    Room::of::<f32>(n, most),
                    Room::of::<f64>(n, most),
                    Room::of::<Complex<f32>>(n, most),
                    Room::of::<Complex<f64>>(n, most),
                ];
                for room in rooms {
                    assert!(room.shared <= most, "{n}, {most}: {room:?}");
                    assert_eq!(room.near == 3, room.far == 0);
                    assert!(room.near == 0 || room.columns == n);
                    assert_eq!(room.far % 16, 0);
                }
            }
        }
    }

    #[test]
    #[ignore = "needs NVRTC in XLAFFI_CUDA_PATH"]
    fn nvrtc_takes_every_kernel() {
        for at in
            (0..ORDERS.len()).flat_map(|order| [(order, 0), (order, 1), (order, 2), (order, 3)])
        {
            let kernel = InBlocks { at };
            nvrtc::assert_takes(kernel.name(), &kernel.text());
        }
    }
}
