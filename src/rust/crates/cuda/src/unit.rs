//! A program with one kernel that is not this package's: its source, code that was made of it
//! before, and how it is launched.

use super::kernels::DYNAMIC_SHARED;
use super::modules::{module, relaxed};
use super::nvrtc::{self, Refused, Source};
use super::{status, Cuda};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};
use xla_ffi::{Error, Result};

/// The kernel's name. It takes one argument, a struct of 64-bit words.
pub const KERNEL: &str = "xlaffi_kernel";

/// What a kernel has of shared memory without being asked.
const SHARED: u32 = 48 << 10;

/// A program, and its kernel in each context that has launched it. A module stays loaded for good:
/// nobody knows when the device has done its last work with it.
#[derive(Debug, Default)]
pub struct Unit {
    source: String,
    headers: Vec<(String, String)>,
    options: Vec<String>,
    images: Vec<(String, Vec<u8>)>,
    loaded: Mutex<Vec<Loaded>>,
}

/// The kernel in a context, and how much shared memory it may ask for. That only grows, since several threads launch it.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    context: usize,
    function: usize,
    shared: u32,
}

/// The sizes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks along each axis.
    pub blocks: [u32; 3],
    /// Threads of a block along each axis.
    pub threads: [u32; 3],
    /// Bytes of shared memory for each block, beside what the kernel has in any case.
    pub shared: u32,
}

impl Unit {
    /// A program: its source, which has a function [`KERNEL`], names and texts of what it includes
    /// beside files, options for NVRTC beside the architecture.
    #[must_use]
    pub fn new(source: String, headers: Vec<(String, String)>, options: Vec<String>) -> Self {
        Unit {
            source,
            headers,
            options,
            ..Unit::default()
        }
    }

    /// The source.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Gives it code that was made for an architecture: a cubin for `sm_90`, PTX, which ends in NUL,
    /// for `compute_90`.
    pub fn provide(&mut self, architecture: &str, image: Vec<u8>) {
        self.images.push((architecture.to_owned(), image));
    }

    /// Compiles the source for an architecture.
    ///
    /// # Errors
    /// As [`nvrtc::compile`].
    pub fn compile(&self, architecture: &str) -> std::result::Result<Vec<u8>, Refused> {
        let headers = self.headers.iter();
        let headers: Vec<(&str, &str)> = headers
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let source = Source {
            name: "xlaffi.cu",
            text: &self.source,
            headers: &headers,
        };
        nvrtc::compile(&source, architecture, &self.options)
    }

    /// Puts the kernel on the stream, with its argument's words.
    ///
    /// # Errors
    /// It cannot be compiled or loaded; the driver's.
    ///
    /// # Safety
    /// The kernel's argument is a struct of these words, and what it reads and writes with them is
    /// memory of this call.
    pub unsafe fn launch(&self, cuda: &Cuda, grid: Grid, argument: &mut [u64]) -> Result<()> {
        let function = self.function(cuda, grid.shared)? as *mut c_void;
        let driver = cuda.driver;
        let mut addresses = [argument.as_mut_ptr().cast::<c_void>()];
        let ([x, y, z], [threads_x, threads_y, threads_z]) = (grid.blocks, grid.threads);
        // SAFETY: a kernel of the current context, whose one argument the driver copies before it
        // returns. What is behind the words is as promised.
        let launched = unsafe {
            (driver.launch_kernel)(
                function,
                x,
                y,
                z,
                threads_x,
                threads_y,
                threads_z,
                grid.shared,
                cuda.stream,
                addresses.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        status::driver("LaunchKernel", launched)
    }

    /// The kernel in the call's context, which may ask for so many bytes of shared memory.
    fn function(&self, cuda: &Cuda, shared: u32) -> Result<usize> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let found = loaded.iter().position(|one| one.context == cuda.context);
        let place = match found {
            Some(place) => place,
            None => {
                let function = relaxed(cuda.driver, || self.load(cuda))?;
                loaded.push(Loaded {
                    context: cuda.context,
                    function,
                    shared: SHARED,
                });
                loaded.len() - 1
            }
        };
        let one = &mut loaded[place];
        if shared > one.shared {
            let bytes = c_int::try_from(shared).unwrap_or(c_int::MAX);
            let function = one.function as *mut c_void;
            // SAFETY: a kernel of the current context.
            let set = unsafe { (cuda.driver.func_set_attribute)(function, DYNAMIC_SHARED, bytes) };
            status::driver("FuncSetAttribute", set)?;
            one.shared = shared;
        }
        Ok(one.function)
    }

    fn load(&self, cuda: &Cuda) -> Result<usize> {
        let architecture = nvrtc::architecture(cuda.driver)?;
        let compiled;
        let image = match self.image(&architecture) {
            Some(image) => image,
            None => {
                compiled = self.compile(&architecture).map_err(refused)?;
                &compiled
            }
        };
        let module = module(cuda.driver, image.as_ptr().cast())?;
        let name = c"xlaffi_kernel";
        let mut function: *mut c_void = ptr::null_mut();
        // SAFETY: `function` is where the answer goes, the module is loaded in this context.
        let found = unsafe {
            (cuda.driver.module_get_function)(&mut function, module as *mut c_void, name.as_ptr())
        };
        status::driver("ModuleGetFunction", found).map(|()| function as usize)
    }

    /// Code that was made for this architecture, or PTX that the driver can compile for it.
    fn image(&self, architecture: &str) -> Option<&[u8]> {
        let number = |name: &str, prefix: &str| -> Option<u32> {
            let digits = name.strip_prefix(prefix)?;
            digits.parse().ok()
        };
        let own = number(architecture, "sm_")?;
        let exact = self.images.iter().find(|(name, _)| name == architecture);
        let older = |(name, _): &&(String, Vec<u8>)| {
            number(name, "compute_").is_some_and(|least| least <= own)
        };
        let found = exact.or_else(|| self.images.iter().find(older));
        found.map(|(_, image)| image.as_slice())
    }
}

/// A kernel's source is not this package's: its faults are the caller's.
fn refused(refused: Refused) -> Error {
    match refused {
        Refused::Source { log, .. } => Error::invalid_argument(format!(
            "its kernel does not compile for this device: {log}"
        )),
        Refused::Compiler(error) => Error::new(
            error.code(),
            format!("its kernel cannot be compiled: {error}"),
        ),
    }
}
