//! Our own kernels: compiled for the device by NVRTC when one is first launched, or by the driver
//! from PTX where NVRTC is missing or does not know the device.

use super::modules::{compiled, function, module, Kernel};
use super::sys::Driver;
use super::{status, Cuda};
use std::ffi::{c_int, c_void};
use std::ptr;
use xla_ffi::{Error, Result};

/// Kernels that are compiled together, when the first of them is launched.
pub(crate) struct Program {
    name: &'static str,
    /// The sources.
    source: &'static str,
    /// The same as PTX, made by `tools/cuda/ptx.py`; ends in NUL.
    ptx: &'static str,
    /// [`load`], for this program.
    load: fn(&Driver) -> Result<usize>,
}

/// Those that [`launch`] runs.
pub(crate) static ELEMENTS: Program = Program {
    name: "elements",
    source: concat!(
        include_str!("kernels/types.cu"),
        include_str!("kernels/linalg.cu"),
        include_str!("kernels/kepler.cu"),
    ),
    ptx: concat!(include_str!("kernels/generated/elements.ptx"), "\0"),
    load: |driver| load(driver, &ELEMENTS),
};

/// Those that [`launch_blocks`] runs.
static BLOCKS: Program = Program {
    name: "blocks",
    source: concat!(
        include_str!("kernels/types.cu"),
        include_str!("kernels/arithmetic.cu"),
        include_str!("kernels/blocks.cu"),
        include_str!("kernels/q.cu"),
        include_str!("kernels/lu.cu"),
        include_str!("kernels/qr.cu"),
        include_str!("kernels/jacobi.cu"),
    ),
    ptx: concat!(include_str!("kernels/generated/blocks.ptx"), "\0"),
    load: |driver| load(driver, &BLOCKS),
};

/// The names of a kernel that there is for both precisions.
macro_rules! for_precisions {
    ($name:literal) => {
        [concat!($name, "_f32"), concat!($name, "_f64")]
    };
}
pub(crate) use for_precisions;

/// The names of a kernel that there is for each kind of element.
macro_rules! for_kinds {
    ($($name:literal),+) => {
        [
            concat!($($name,)+ "_f32"),
            concat!($($name,)+ "_f64"),
            concat!($($name,)+ "_c64"),
            concat!($($name,)+ "_c128"),
        ]
    };
}
pub(crate) use for_kinds;

/// Threads of a block.
const BLOCK: usize = 256;

/// Runs a kernel over `count` matrices of `size` elements (or 1 of `size`), each argument being
/// passed as 64 bits. Nothing is launched where there are no elements.
///
/// # Errors
/// The kernels cannot be compiled or loaded; the driver's.
///
/// # Safety
/// The kernel has `N` parameters, and what it reads and writes with these arguments is memory that
/// this call has.
pub(crate) unsafe fn launch<const N: usize>(
    cuda: &Cuda,
    name: &'static str,
    (size, count): (usize, usize),
    arguments: [u64; N],
) -> Result<()> {
    if size == 0 || count == 0 {
        return Ok(());
    }
    let x = size.next_power_of_two().min(BLOCK);
    let y = (BLOCK / x).min(count);
    // The kernels stride over what a grid does not reach.
    let grid_x = size.div_ceil(x).min(1 << 20) as u32;
    let grid_y = count.div_ceil(y).min(65_535) as u32;
    let sizes = ([grid_x, grid_y], [x as u32, y as u32], 0);
    // SAFETY: as promised.
    unsafe { started(cuda, &ELEMENTS.kernel(name), sizes, arguments) }
}

/// Shared memory that a block may have on every device, and what of it kernels have in any case.
const EVERYWHERE: usize = 48 << 10;
const FIXED: usize = 1 << 10;

/// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`.
const SHARED: c_int = 97;

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
pub(crate) const DYNAMIC_SHARED: c_int = 8;

/// Bytes of shared memory that a block may ask for on this device, beside what the kernels have in any case.
///
/// # Errors
/// The driver's.
pub(crate) fn shared(cuda: &Cuda) -> Result<usize> {
    let (mut device, mut bytes) = (0, 0);
    // SAFETY: `device` is where the answer goes.
    let asked = unsafe { (cuda.driver.ctx_get_device)(&mut device) };
    status::driver("CtxGetDevice", asked)?;
    // SAFETY: `bytes` is where the answer goes.
    let asked = unsafe { (cuda.driver.device_get_attribute)(&mut bytes, SHARED, device) };
    status::driver("DeviceGetAttribute", asked)?;
    let bytes = usize::try_from(bytes).unwrap_or(0);
    Ok(bytes.max(EVERYWHERE) - FIXED)
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
/// As [`launch`].
///
/// # Safety
/// As [`launch`].
pub(crate) unsafe fn launch_blocks<const N: usize>(
    cuda: &Cuda,
    name: &'static str,
    blocks: Blocks,
    arguments: [u64; N],
) -> Result<()> {
    // SAFETY: as promised.
    unsafe { self::blocks(cuda, &BLOCKS.kernel(name), blocks, arguments) }
}

/// As [`launch_blocks`], a kernel of another program.
///
/// # Errors
/// As [`launch`].
///
/// # Safety
/// As [`launch`].
pub(crate) unsafe fn blocks<const N: usize>(
    cuda: &Cuda,
    kernel: &Kernel<'_>,
    blocks: Blocks,
    arguments: [u64; N],
) -> Result<()> {
    let grid = blocks.count.min(1 << 20) as u32;
    let sizes = ([grid, 1], [32, blocks.warps as u32], blocks.shared as u32);
    // SAFETY: as promised.
    unsafe { started(cuda, kernel, sizes, arguments) }
}

impl Program {
    /// One of its kernels.
    pub(crate) fn kernel(&'static self, name: &'static str) -> Kernel<'static> {
        Kernel {
            name,
            module: self.name,
            load: &self.load,
        }
    }
}

/// Puts a kernel on the stream: the sizes of the grid and of a block, the bytes of shared memory.
///
/// # Errors
/// As [`launch`].
///
/// # Safety
/// As [`launch`].
pub(crate) unsafe fn started<const N: usize>(
    cuda: &Cuda,
    kernel: &Kernel<'_>,
    (grid, block, shared): ([u32; 2], [u32; 2], u32),
    mut arguments: [u64; N],
) -> Result<()> {
    let function = function(cuda, kernel)?;
    if shared as usize > EVERYWHERE - FIXED {
        // Always the most, since other threads may launch the kernel, too.
        let most = self::shared(cuda)? as c_int;
        // SAFETY: a kernel of the current context.
        let set = unsafe {
            (cuda.driver.func_set_attribute)(function as *mut c_void, DYNAMIC_SHARED, most)
        };
        status::driver("FuncSetAttribute", set)?;
    }
    let mut addresses = [ptr::null_mut(); N];
    for (address, argument) in addresses.iter_mut().zip(&mut arguments) {
        *address = ptr::from_mut(argument).cast::<c_void>();
    }
    // SAFETY: the function is the kernel of that name, all of whose parameters have 64 bits; the
    // driver copies them before it returns. Addresses are as promised.
    let launched = unsafe {
        (cuda.driver.launch_kernel)(
            function as *mut c_void,
            grid[0],
            grid[1],
            1,
            block[0],
            block[1],
            1,
            shared,
            cuda.stream,
            addresses.as_mut_ptr(),
            ptr::null_mut(),
        )
    };
    status::driver("LaunchKernel", launched)
}

/// A program's kernels as a module of the current context.
fn load(driver: &Driver, program: &Program) -> Result<usize> {
    compiled(driver, program.source).or_else(|first| {
        module(driver, program.ptx.as_ptr().cast()).map_err(|second| {
            Error::new(
                second.code(),
                format!("the kernels can be loaded neither as compiled by NVRTC ({first}) nor as PTX ({second})"),
            )
        })
    })
}

/// CRC-32, as zlib has it.
#[cfg(test)]
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    let step = |mut crc: u32, byte: &u8| {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
        crc
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ptx_is_of_these_sources() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        for (program, names) in [
            (
                &ELEMENTS,
                [
                    "scan_f64",
                    "columns_of_q_c128",
                    "kepler_f32",
                    "pivots_to_permutation",
                ],
            ),
            (
                &BLOCKS,
                ["long_columns_of_q_f32", "lu_f64", "jacobi_c64", "qr_c128"],
            ),
        ] {
            let source = program.source;
            let mark = format!(
                "// of sources with the checksum {:08x}\n",
                checksum(source.as_bytes())
            );
            let ptx = program.ptx;
            assert!(ptx.starts_with(&mark), "run tools/cuda/ptx.py");
            for name in names {
                assert!(ptx.contains(&format!(".visible .entry {name}(")), "{name}");
            }
        }
    }
}
