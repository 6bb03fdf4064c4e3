//! A CUDA program compiled by NVRTC, NVIDIA's compiler as a library.

use super::sys::{Driver, Nvrtc};
use super::{libraries, status};
use std::ffi::{c_char, c_int, c_void, CString};
use std::ptr;
use xla_ffi::{Error, Result};

/// CUDA's attributes of a device: its major and minor compute capability.
const CAPABILITY: [c_int; 2] = [75, 76];

/// Machine code for the current device, of a source that ends in NUL.
///
/// # Errors
/// There is no NVRTC, or it does not know the device; the driver's.
pub fn compile(driver: &Driver, source: &'static str) -> Result<Vec<u8>> {
    let nvrtc = libraries::nvrtc()?;
    let mut device = 0;
    // SAFETY: `device` is where the answer goes.
    status::driver("CtxGetDevice", unsafe {
        (driver.ctx_get_device)(&mut device)
    })?;
    let mut capability = [0; 2];
    for (value, attribute) in capability.iter_mut().zip(CAPABILITY) {
        // SAFETY: `value` is where the answer goes.
        let answer = unsafe { (driver.device_get_attribute)(value, attribute, device) };
        status::driver("DeviceGetAttribute", answer)?;
    }
    let [major, minor] = capability;
    Program::new(nvrtc, source)?.compile(&format!("--gpu-architecture=sm_{major}{minor}"))
}

/// A program of NVRTC's.
struct Program {
    nvrtc: &'static Nvrtc,
    raw: *mut c_void,
}

impl Program {
    fn new(nvrtc: &'static Nvrtc, source: &'static str) -> Result<Self> {
        let mut raw: *mut c_void = ptr::null_mut();
        // SAFETY: `raw` is where the answer goes; the source ends in NUL and includes nothing.
        let created = unsafe {
            (nvrtc.create_program)(
                &mut raw,
                source.as_ptr().cast(),
                c"xlaffi.cu".as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        let program = Program { nvrtc, raw };
        program.check("CreateProgram", created)?;
        Ok(program)
    }

    fn compile(&self, option: &str) -> Result<Vec<u8>> {
        let option = CString::new(option).unwrap_or_default();
        let options: [*const c_char; 1] = [option.as_ptr()];
        // SAFETY: a live program, one option that ends in NUL.
        let compiled = unsafe { (self.nvrtc.compile_program)(self.raw, 1, options.as_ptr()) };
        if compiled != 0 {
            let log = self.bytes(self.nvrtc.get_program_log_size, self.nvrtc.get_program_log);
            let log = log.unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            let text = format!(
                "NVRTC answered {compiled} to {}: {}",
                option.to_string_lossy(),
                log.trim_end_matches(['\0', '\n'])
            );
            return Err(Error::internal(text));
        }
        self.bytes(self.nvrtc.get_cubin_size, self.nvrtc.get_cubin)
    }

    /// What the program has of something: first its size, then its bytes.
    fn bytes(
        &self,
        size_of: unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int,
        get: unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: a live program, `size` is where the answer goes.
        self.check("Get…Size", unsafe { size_of(self.raw, &mut size) })?;
        let mut bytes = vec![0u8; size];
        // SAFETY: there is room for as many bytes as the program has.
        self.check("Get…", unsafe {
            get(self.raw, bytes.as_mut_ptr().cast())
        })?;
        Ok(bytes)
    }

    fn check(&self, function: &str, status: c_int) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        Err(Error::internal(format!(
            "nvrtc{function} answered {status}"
        )))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: made by `create_program` and not used again.
            unsafe { (self.nvrtc.destroy_program)(&mut self.raw) };
        }
    }
}
