//! Our own kernels: compiled for the device by NVRTC when one is first launched, or by the driver
//! from PTX where NVRTC is missing or does not know the device.

use super::modules::{compiled, function, Kernel, Ptx};
use super::sys::Driver;
use super::{status, Cuda};
use std::ffi::{c_int, c_void};
use std::ptr;
use xla_ffi::Result;

/// Kernels that are compiled together, when the first of them is launched.
pub(crate) struct Program {
    name: &'static str,
    /// The sources.
    source: &'static str,
    /// What compiles them.
    load: fn(&Driver) -> Result<usize>,
    /// The same as PTX, made by `tools/cuda/ptx.py`.
    ptx: Ptx,
}

/// Those that [`launch`] runs.
pub(crate) static ELEMENTS: Program = Program {
    name: "elements",
    source: concat!(
        include_str!("kernels/types.cu"),
        include_str!("kernels/linalg.cu"),
        include_str!("kernels/kepler.cu"),
    ),
    load: |driver| compiled(driver, ELEMENTS.source),
    ptx: Ptx {
        name: "elements, as PTX",
        text: concat!(include_str!("kernels/generated/elements.ptx"), "\0"),
    },
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

/// How kernels' names end, and what their sources call the type.
pub(crate) const ELEMENT_TYPES: [&str; 4] = [
    "f32, float",
    "f64, double",
    "c64, Complex<float>",
    "c128, Complex<double>",
];

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

impl Program {
    /// One of its kernels.
    pub(crate) fn kernel(&'static self, name: &'static str) -> Kernel<'static> {
        Kernel {
            name,
            module: self.name,
            load: &self.load,
            ptx: Some(&self.ptx),
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

/// PTX is of these sources, and has these kernels.
#[cfg(test)]
pub(crate) fn assert_made_of(ptx: &str, source: &str, names: &[&str]) {
    let mark = format!(
        "// of sources with the checksum {:08x}\n",
        checksum(source.as_bytes())
    );
    assert!(ptx.starts_with(&mark), "run tools/cuda/ptx.py");
    for name in names {
        assert!(ptx.contains(&format!(".visible .entry {name}(")), "{name}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ptx_is_of_these_sources() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        let names = [
            "scan_f64",
            "columns_of_q_c128",
            "kepler_f32",
            "pivots_to_permutation",
        ];
        assert_made_of(ELEMENTS.ptx.text, ELEMENTS.source, &names);
    }
}
