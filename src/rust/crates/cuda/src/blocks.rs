//! Kernels that give each matrix a block of threads. Each is compiled when it is first needed, for one element type: all of
//! them take seconds.

use crate::kernels::{self, for_kinds, ELEMENT_TYPES};
use crate::modules::{KernelSource, Ptx};
use crate::Cuda;
use xla_ffi::Result;

/// What they share, before a kernel's own source.
macro_rules! source {
    ($($file:literal),+) => {
        concat!(
            include_str!("kernels/types.cu"),
            include_str!("kernels/arithmetic.cu"),
            include_str!("kernels/blocks.cu"),
            $(include_str!(concat!("kernels/", $file)),)+
        )
    };
}
pub(crate) use source;

/// A kernel, of which there is one for each kind of element.
pub(crate) struct Family {
    names: [&'static str; 4],
    source: &'static str,
    /// Where NVRTC cannot compile it; without, NVIDIA's routines take such matrices then.
    ptx: Option<&'static Ptx>,
}

/// LU factorisation. As PTX it would be as large as all others.
pub(crate) static LU: Family = Family {
    names: for_kinds!("lu"),
    source: source!("lu.cu"),
    ptx: None,
};
/// QR factorisation.
pub(crate) static QR: Family = Family {
    names: for_kinds!("qr"),
    source: source!("qr.cu"),
    ptx: Some(&PTX),
};
/// Columns of Q that are long.
pub(crate) static COLUMNS: Family = Family {
    names: for_kinds!("long_columns_of_q"),
    source: source!("q.cu"),
    ptx: Some(&PTX),
};
/// Singular values.
pub(crate) static JACOBI: Family = Family {
    names: for_kinds!("jacobi"),
    source: source!("jacobi.cu"),
    ptx: Some(&PTX),
};

/// Made by `tools/cuda/ptx.py`.
static PTX: Ptx = Ptx {
    name: "blocks, as PTX",
    text: concat!(include_str!("kernels/generated/blocks.ptx"), "\0"),
};

impl Family {
    /// The kernel for one kind of element ([`crate::Element::KIND`]).
    pub(crate) fn of(&'static self, kind: usize) -> OfKind {
        OfKind(self, kind)
    }
}

/// A family's kernel for one kind of element.
pub(crate) struct OfKind(&'static Family, usize);

impl KernelSource for OfKind {
    fn name(&self) -> &'static str {
        self.0.names[self.1]
    }

    fn text(&self) -> String {
        let Self(family, kind) = self;
        format!(
            "#define ELEMENT {}\n{}",
            ELEMENT_TYPES[*kind], family.source
        )
    }

    fn ptx(&self) -> Option<&'static Ptx> {
        self.0.ptx
    }
}

/// Blocks of threads for a kernel that gives each a matrix. It strides over the matrices that are
/// more than the blocks.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    /// How many.
    pub(crate) count: usize,
    /// Warps in each.
    pub(crate) warps: usize,
    /// Bytes of shared memory for each, beside what the kernel has in any case.
    pub(crate) shared: usize,
}

/// Runs a kernel in blocks, each argument being passed as 64 bits.
///
/// # Errors
/// As [`kernels::launch`].
///
/// # Safety
/// As [`kernels::launch`].
pub(crate) unsafe fn launch<const N: usize>(
    cuda: &Cuda,
    kernel: &impl KernelSource,
    blocks: Blocks,
    arguments: [u64; N],
) -> Result<()> {
    let grid = blocks.count.min(1 << 20) as u32;
    let sizes = ([grid, 1], [32, blocks.warps as u32], blocks.shared as u32);
    // SAFETY: as promised.
    kernel.with_kernel(|kernel| unsafe { kernels::started(cuda, kernel, sizes, arguments) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvrtc;

    #[test]
    fn the_ptx_is_of_these_sources() {
        let names = ["long_columns_of_q_f32", "jacobi_c64", "qr_c128"];
        let source = source!("q.cu", "qr.cu", "jacobi.cu");
        kernels::assert_made_of(PTX.text, source, &names);
    }

    #[test]
    #[ignore = "needs NVRTC in XLAFFI_CUDA_PATH"]
    fn nvrtc_takes_every_kernel() {
        for family in [&LU, &QR, &COLUMNS, &JACOBI] {
            for kernel in (0..4).map(|kind| family.of(kind)) {
                nvrtc::assert_takes(kernel.name(), &kernel.text());
            }
        }
    }
}
