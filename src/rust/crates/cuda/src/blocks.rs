//! Kernels that give each matrix a block of threads. Each is compiled when it is first needed, for one element type: all of
//! them take seconds.

use crate::kernels::{self, for_kinds, ELEMENT_TYPES};
use crate::modules::{self, Kernel, Ptx};
use crate::sys::Driver;
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
    /// The source for one kind of element ([`crate::Element::KIND`]).
    fn text(&self, kind: usize) -> String {
        format!("#define ELEMENT {}\n{}", ELEMENT_TYPES[kind], self.source)
    }

    /// Calls `f` with the kernel for one kind of element.
    fn kernel<R>(&'static self, kind: usize, f: impl FnOnce(&Kernel<'_>) -> R) -> R {
        let load = |driver: &Driver| modules::compiled(driver, &self.text(kind));
        f(&Kernel {
            name: self.names[kind],
            module: self.names[kind],
            load: &load,
            ptx: self.ptx,
        })
    }

    /// Whether there is the kernel for one kind of element, which is compiled if it was not.
    pub(crate) fn is_there(&'static self, cuda: &Cuda, kind: usize) -> bool {
        self.kernel(kind, |kernel| modules::is_there(cuda, kernel))
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

/// Runs the kernel for one kind of element in blocks, each argument being passed as 64 bits.
///
/// # Errors
/// As [`kernels::launch`].
///
/// # Safety
/// As [`kernels::launch`].
pub(crate) unsafe fn launch<const N: usize>(
    cuda: &Cuda,
    (family, kind): (&'static Family, usize),
    blocks: Blocks,
    arguments: [u64; N],
) -> Result<()> {
    // SAFETY: as promised.
    family.kernel(kind, |kernel| unsafe {
        started(cuda, kernel, blocks, arguments)
    })
}

/// As [`launch`], a kernel that is none of a family.
///
/// # Errors
/// As [`kernels::launch`].
///
/// # Safety
/// As [`kernels::launch`].
pub(crate) unsafe fn started<const N: usize>(
    cuda: &Cuda,
    kernel: &Kernel<'_>,
    blocks: Blocks,
    arguments: [u64; N],
) -> Result<()> {
    let grid = blocks.count.min(1 << 20) as u32;
    let sizes = ([grid, 1], [32, blocks.warps as u32], blocks.shared as u32);
    // SAFETY: as promised.
    unsafe { kernels::started(cuda, kernel, sizes, arguments) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvrtc::{self, Source};

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
            for kind in 0..4 {
                let text = family.text(kind);
                let source = Source {
                    name: "blocks.cu",
                    text: &text,
                    headers: &[],
                };
                for architecture in ["sm_90", "compute_75"] {
                    if let Err(refused) = nvrtc::compile(&source, architecture, &[]) {
                        panic!("{} {architecture}: {refused}", family.names[kind]);
                    }
                }
            }
        }
    }
}
