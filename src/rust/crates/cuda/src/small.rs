//! Kernels of our own for small matrices, which they keep in registers. Each is compiled when it is first needed, for one
//! order and one element type: that takes a second, all of them a minute. Only NVRTC can do so; where it is missing, what
//! is for larger matrices takes small ones, too.

use crate::kernels;
use crate::modules::KernelSource;
use crate::{sizes, Cuda, Element};
use matrices::Matrices;
use xla_ffi::Result;

/// Up to how many rows and columns kernels are made for: as many threads have a matrix.
pub(crate) const ORDERS: [usize; 4] = [4, 8, 16, 32];

/// Threads of a warp, of which a block has one.
const WARP: usize = 32;

/// A kernel by order and element type.
pub struct Routine {
    name: &'static str,
    names: [[&'static str; 4]; ORDERS.len()],
    source: &'static str,
}

macro_rules! routine {
    ($name:literal, $file:literal) => {
        $crate::small::Routine {
            name: $name,
            names: [
                $crate::kernels::for_kinds!($name, "_4"),
                $crate::kernels::for_kinds!($name, "_8"),
                $crate::kernels::for_kinds!($name, "_16"),
                $crate::kernels::for_kinds!($name, "_32"),
            ],
            source: concat!(
                include_str!("kernels/types.cu"),
                include_str!("kernels/arithmetic.cu"),
                include_str!("kernels/small.cu"),
                include_str!($file),
            ),
        }
    };
}

/// LU factorisation: `small_lu.cu`.
pub static LU: Routine = routine!("small_lu", "kernels/small_lu.cu");
/// QR factorisation: `small_qr.cu`.
pub static QR: Routine = routine!("small_qr", "kernels/small_qr.cu");
/// The columns of Q: `small_qr.cu`.
pub static Q: Routine = routine!("small_q", "kernels/small_qr.cu");
/// Eigenvalues of Hermitian matrices: `small_eigh.cu`.
pub static EIGH: Routine = routine!("small_eigh", "kernels/small_eigh.cu");
/// Singular values: `small_svd.cu`.
pub static SVD: Routine = routine!("small_svd", "kernels/small_svd.cu");

/// A kernel that is there for the matrices of a call.
#[derive(Clone, Copy)]
pub struct Small {
    routine: &'static Routine,
    /// The place in [`ORDERS`], and [`Element::KIND`].
    at: (usize, usize),
}

impl Small {
    /// The routine's kernel for these matrices; `None` where they are too large for it, and where it cannot be compiled
    /// or loaded.
    pub fn find<T: Element>(
        cuda: &Cuda,
        routine: &'static Routine,
        shape: Matrices,
    ) -> Option<Self> {
        if !sizes::is_small(shape, T::KIND) {
            return None;
        }
        let larger = shape.rows.max(shape.cols) as usize;
        let order = ORDERS.iter().position(|&order| larger <= order)?;
        let small = Small {
            routine,
            at: (order, T::KIND),
        };
        small.is_there(cuda).then_some(small)
    }

    /// How many threads have a matrix, and how many columns they have room for.
    #[must_use]
    pub fn order(&self) -> usize {
        ORDERS[self.at.0]
    }

    /// How many matrices a block has at a time.
    #[must_use]
    pub fn matrices(&self) -> usize {
        WARP / self.order()
    }

    /// Runs the kernel for `count` matrices, each argument being passed as 64 bits, with so many bytes of shared memory
    /// for each of a block's matrices.
    ///
    /// # Errors
    /// The driver's.
    ///
    /// # Safety
    /// As [`kernels::launch`].
    pub(crate) unsafe fn launch<const N: usize>(
        &self,
        cuda: &Cuda,
        (count, shared): (usize, usize),
        arguments: [u64; N],
    ) -> Result<()> {
        let grid = count.div_ceil(self.matrices()).min(1 << 20) as u32;
        let bytes = (shared * self.matrices()) as u32;
        let sizes = ([grid, 1], [WARP as u32, 1], bytes);
        // SAFETY: as promised.
        self.with_kernel(|kernel| unsafe { kernels::started(cuda, kernel, sizes, arguments) })
    }
}

impl KernelSource for Small {
    fn name(&self) -> &'static str {
        self.routine.names[self.at.0][self.at.1]
    }

    fn text(&self) -> String {
        let (source, name) = (self.routine.source, self.routine.name);
        let (order, types) = (self.order(), kernels::ELEMENT_TYPES[self.at.1]);
        format!("{source}SMALL_KERNEL({name}, {order}, {types})\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvrtc;

    #[test]
    #[ignore = "needs NVRTC in XLAFFI_CUDA_PATH"]
    fn nvrtc_takes_every_kernel() {
        for routine in [&LU, &QR, &Q, &EIGH, &SVD] {
            for (order, kind) in
                (0..ORDERS.len()).flat_map(|order| [(order, 0), (order, 1), (order, 2), (order, 3)])
            {
                let rows = ORDERS[order] as i32;
                let shape = Matrices {
                    count: 1,
                    rows,
                    cols: rows,
                };
                if !sizes::is_small(shape, kind) {
                    continue;
                }
                let small = Small {
                    routine,
                    at: (order, kind),
                };
                nvrtc::assert_takes(small.name(), &small.text());
            }
        }
    }
}
