//! Kernels as functions of the driver: each is compiled and loaded when it is first asked for, once for a context.

use crate::nvrtc::{self, Source};
use crate::sys::Driver;
use crate::{status, Cuda};
use std::collections::{HashMap, HashSet};
use std::ffi::{c_int, c_void, CString};
use std::ptr;
use std::sync::{Mutex, PoisonError};
use xla_ffi::{Code, Error, Result};

/// Set to `ptx`, it keeps NVRTC out.
pub const VARIABLE: &str = "XLAFFI_CUDA_KERNELS";

/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const RELAXED: c_int = 2;

/// A kernel, the module that it is in, and what loads that where it is asked for first.
pub(crate) struct Kernel<'l> {
    pub(crate) name: &'static str,
    pub(crate) module: &'static str,
    pub(crate) load: &'l dyn Fn(&Driver) -> Result<usize>,
    /// Where that fails.
    pub(crate) ptx: Option<&'static Ptx>,
}

/// A module for the driver to compile: its name, and PTX, which ends in NUL.
pub(crate) struct Ptx {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// What one kernel is compiled from, when it is needed, as a module that has its name.
pub(crate) trait KernelSource {
    fn name(&self) -> &'static str;

    /// The source.
    fn text(&self) -> String;

    /// As [`Kernel::ptx`].
    fn ptx(&self) -> Option<&'static Ptx> {
        None
    }

    /// Calls `f` with the kernel.
    fn with_kernel<R>(&self, f: impl FnOnce(&Kernel<'_>) -> R) -> R {
        let load = |driver: &Driver| compiled(driver, &self.text());
        f(&Kernel {
            name: self.name(),
            module: self.name(),
            load: &load,
            ptx: self.ptx(),
        })
    }

    /// Whether it can be had. What failed is not tried again.
    fn is_there(&self, cuda: &Cuda) -> bool {
        self.with_kernel(|kernel| is_there(cuda, kernel))
    }
}

/// Functions by context and name, and modules by context and program. Kept for good, as [`super::pool`] keeps
/// handles.
#[derive(Default)]
struct Loaded {
    modules: HashMap<(usize, &'static str), usize>,
    functions: HashMap<(usize, &'static str), usize>,
    /// Kernels that could not be loaded, among those that [`is_there`] was asked for.
    missing: HashSet<(usize, &'static str)>,
}

static LOADED: Mutex<Option<Loaded>> = Mutex::new(None);

/// Runs `f` on what is loaded, which nobody else changes meanwhile.
fn with_loaded<R>(f: impl FnOnce(&mut Loaded) -> R) -> R {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    f(loaded.get_or_insert_with(Loaded::default))
}

/// Whether there is such a kernel, which is compiled and loaded if it was not. What failed is not tried again.
fn is_there(cuda: &Cuda, kernel: &Kernel<'_>) -> bool {
    let key = (cuda.context, kernel.name);
    with_loaded(|loaded| {
        if loaded.missing.contains(&key) {
            return false;
        }
        let found = loaded.function(cuda, kernel).is_ok();
        if !found {
            loaded.missing.insert(key);
        }
        found
    })
}

/// The kernel in the call's context.
pub(crate) fn function(cuda: &Cuda, kernel: &Kernel<'_>) -> Result<usize> {
    with_loaded(|loaded| loaded.function(cuda, kernel))
}

impl Loaded {
    fn function(&mut self, cuda: &Cuda, kernel: &Kernel<'_>) -> Result<usize> {
        let key = (cuda.context, kernel.name);
        if let Some(&function) = self.functions.get(&key) {
            return Ok(function);
        }
        let function = relaxed(cuda.driver, || self.look_up(cuda, kernel))?;
        self.functions.insert(key, function);
        Ok(function)
    }

    /// A module of that name in the call's context.
    fn module(
        &mut self,
        cuda: &Cuda,
        name: &'static str,
        load: &dyn Fn(&Driver) -> Result<usize>,
    ) -> Result<usize> {
        let key = (cuda.context, name);
        if let Some(&module) = self.modules.get(&key) {
            return Ok(module);
        }
        let module = load(cuda.driver)?;
        self.modules.insert(key, module);
        Ok(module)
    }

    /// A kernel that nobody has asked for yet.
    fn look_up(&mut self, cuda: &Cuda, kernel: &Kernel<'_>) -> Result<usize> {
        let driver = cuda.driver;
        let module = self
            .module(cuda, kernel.module, kernel.load)
            .or_else(|first| {
                let Some(ptx) = kernel.ptx else {
                    return Err(first);
                };
                let load = |driver: &Driver| module(driver, ptx.text.as_ptr().cast());
                self.module(cuda, ptx.name, &load).map_err(|second| {
                    Error::new(
                        second.code(),
                        format!("the kernels can be loaded neither as compiled by NVRTC ({first}) nor as PTX ({second})"),
                    )
                })
            })?;
        let symbol = CString::new(kernel.name).unwrap_or_default();
        let mut function: *mut c_void = ptr::null_mut();
        // SAFETY: `function` is where the answer goes, the module is loaded in this context.
        let found = unsafe {
            (driver.module_get_function)(&mut function, module as *mut c_void, symbol.as_ptr())
        };
        status::driver("ModuleGetFunction", found).map(|()| function as usize)
    }
}

/// Runs `f` while this thread may do what a recording of a CUDA graph would forbid: a module and,
/// since CUDA loads lazily, each of its kernels take memory when they are first asked for.
pub(crate) fn relaxed<R>(driver: &Driver, f: impl FnOnce() -> R) -> R {
    let mut mode = RELAXED;
    // SAFETY: `mode` goes in and comes out.
    let exchanged = unsafe { (driver.thread_exchange_stream_capture_mode)(&mut mode) } == 0;
    let result = f();
    if exchanged {
        // SAFETY: as above; the mode is the one that was there before.
        unsafe { (driver.thread_exchange_stream_capture_mode)(&mut mode) };
    }
    result
}

/// A source as a module of the current context, in machine code for its device.
///
/// # Errors
/// There is no NVRTC, or it is kept out; it refuses; the driver's.
pub(crate) fn compiled(driver: &Driver, text: &str) -> Result<usize> {
    if std::env::var_os(VARIABLE).is_some_and(|value| value == "ptx") {
        return Err(Error::new(
            Code::FailedPrecondition,
            format!("{VARIABLE} is \"ptx\""),
        ));
    }
    let architecture = nvrtc::architecture(driver)?;
    let source = Source {
        name: "xlaffi.cu",
        text,
        headers: &[],
    };
    let cubin = nvrtc::compile(&source, &architecture, &[])?;
    module(driver, cubin.as_ptr().cast())
}

/// Loads code for good; `image` is a cubin, or PTX that ends in NUL.
pub(crate) fn module(driver: &Driver, image: *const c_void) -> Result<usize> {
    let mut module: *mut c_void = ptr::null_mut();
    // SAFETY: `module` is where the answer goes, the image is complete.
    status::driver("ModuleLoadData", unsafe {
        (driver.module_load_data)(&mut module, image)
    })?;
    Ok(module as usize)
}
