//! A CUDA program compiled by NVRTC, NVIDIA's compiler as a library.

use super::sys::{Driver, Nvrtc};
use super::{libraries, status};
use std::ffi::{c_char, c_int, c_void, CString};
use std::fmt;
use std::ptr;
use xla_ffi::{Code, Error, Result};

/// CUDA's attributes of a device: its major and minor compute capability.
const CAPABILITY: [c_int; 2] = [75, 76];

/// What a program is compiled from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name of the text in messages.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    /// Names and texts of what it may include, beside files.
    pub headers: &'a [(&'a str, &'a str)],
}

/// Why there is no code.
#[derive(Debug)]
pub enum Refused {
    /// What the compiler wrote of the source, and NVRTC's status.
    Source {
        /// The compiler's words.
        log: String,
        /// "NVRTC answered 6 to --gpu-architecture=sm_90".
        answer: String,
    },
    /// There is no compiler, or it fails.
    Compiler(Error),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Source { log, answer } => write!(f, "{answer}: {log}"),
            Refused::Compiler(error) => error.fmt(f),
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused::Compiler(error)
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Compiler(error) => error,
            source => Error::internal(source.to_string()),
        }
    }
}

/// The architecture of the current context's device, as compilers call it: `sm_90`.
///
/// # Errors
/// The driver's.
pub fn architecture(driver: &Driver) -> Result<String> {
    let mut device = 0;
    // SAFETY: `device` is where the answer goes.
    status::driver("CtxGetDevice", unsafe {
        (driver.ctx_get_device)(&mut device)
    })?;
    architecture_of(driver, device)
}

fn architecture_of(driver: &Driver, device: c_int) -> Result<String> {
    let mut capability = [0; 2];
    for (value, attribute) in capability.iter_mut().zip(CAPABILITY) {
        // SAFETY: `value` is where the answer goes.
        let answer = unsafe { (driver.device_get_attribute)(value, attribute, device) };
        status::driver("DeviceGetAttribute", answer)?;
    }
    let [major, minor] = capability;
    Ok(format!("sm_{major}{minor}"))
}

/// The architectures of all devices, each once.
///
/// # Errors
/// There is no driver; the driver's, such as that there is no device.
pub fn architectures() -> Result<Vec<String>> {
    let driver = libraries::driver()?;
    // SAFETY: may be called at any time.
    status::driver("Init", unsafe { (driver.init)(0) })?;
    let mut count = 0;
    // SAFETY: `count` is where the answer goes.
    status::driver("DeviceGetCount", unsafe {
        (driver.device_get_count)(&mut count)
    })?;
    let mut found = Vec::new();
    for ordinal in 0..count {
        let mut device = 0;
        // SAFETY: `device` is where the answer goes.
        status::driver("DeviceGet", unsafe {
            (driver.device_get)(&mut device, ordinal)
        })?;
        let architecture = architecture_of(driver, device)?;
        if !found.contains(&architecture) {
            found.push(architecture);
        }
    }
    Ok(found)
}

/// NVRTC's version.
///
/// # Errors
/// There is none.
pub fn version() -> Result<(i32, i32)> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both are where the answer goes.
    let answer = unsafe { (libraries::nvrtc()?.version)(&mut major, &mut minor) };
    check("Version", answer).map(|()| (major, minor))
}

/// Code for an architecture: a cubin for `sm_90`; PTX, which ends in NUL, for `compute_90`.
///
/// # Errors
/// There is no NVRTC, it does not know the architecture, or refuses the source.
pub fn compile(
    source: &Source<'_>,
    architecture: &str,
    options: &[String],
) -> std::result::Result<Vec<u8>, Refused> {
    let program = Program::new(libraries::nvrtc()?, source)?;
    let option = format!("--gpu-architecture={architecture}");
    let options = std::iter::once(&option)
        .chain(options)
        .map(|text| c_text(text));
    let options = options.collect::<Result<Vec<_>>>()?;
    let (status, log) = program.compile(&options)?;
    if status != 0 {
        let answer = format!("NVRTC answered {status} to {option}");
        return Err(Refused::Source { log, answer });
    }
    let nvrtc = program.nvrtc;
    let code = match architecture.starts_with("sm_") {
        true => program.bytes(nvrtc.get_cubin_size, nvrtc.get_cubin),
        false => program.bytes(nvrtc.get_ptx_size, nvrtc.get_ptx),
    };
    Ok(code?)
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(Code::InvalidArgument, "a source holds a NUL"))
}

/// A program of NVRTC's.
struct Program {
    nvrtc: &'static Nvrtc,
    raw: *mut c_void,
}

impl Program {
    fn new(nvrtc: &'static Nvrtc, source: &Source<'_>) -> Result<Self> {
        let (name, text) = (c_text(source.name)?, c_text(source.text)?);
        let texts = |of: fn(&(&str, &str)) -> Result<CString>| -> Result<Vec<CString>> {
            source.headers.iter().map(of).collect()
        };
        let (names, headers) = (
            texts(|(name, _)| c_text(name))?,
            texts(|(_, text)| c_text(text))?,
        );
        let pointers = |texts: &[CString]| -> Vec<*const c_char> {
            texts.iter().map(|text| text.as_ptr()).collect()
        };
        let count = c_int::try_from(headers.len()).unwrap_or(c_int::MAX);
        let (header_names, header_texts) = (pointers(&names), pointers(&headers));
        let mut raw: *mut c_void = ptr::null_mut();
        // SAFETY: `raw` is where the answer goes; all texts end in NUL, and NVRTC copies them; there
        // are `count` headers.
        let created = unsafe {
            (nvrtc.create_program)(
                &mut raw,
                text.as_ptr(),
                name.as_ptr(),
                count,
                header_texts.as_ptr(),
                header_names.as_ptr(),
            )
        };
        let program = Program { nvrtc, raw };
        check("CreateProgram", created)?;
        Ok(program)
    }

    /// NVRTC's answer, and what it wrote.
    fn compile(&self, options: &[CString]) -> Result<(c_int, String)> {
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: a live program, `count` options that end in NUL.
        let status = unsafe { (self.nvrtc.compile_program)(self.raw, count, pointers.as_ptr()) };
        let log = self.bytes(self.nvrtc.get_program_log_size, self.nvrtc.get_program_log)?;
        let log = String::from_utf8_lossy(&log);
        Ok((status, log.trim_end_matches(['\0', '\n']).to_owned()))
    }

    /// What the program has of something: first its size, then its bytes.
    fn bytes(
        &self,
        size_of: unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int,
        get: unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: a live program, `size` is where the answer goes.
        check("Get…Size", unsafe { size_of(self.raw, &mut size) })?;
        let mut bytes = vec![0u8; size];
        // SAFETY: there is room for as many bytes as the program has.
        check("Get…", unsafe {
            get(self.raw, bytes.as_mut_ptr().cast())
        })?;
        Ok(bytes)
    }
}

fn check(function: &str, status: c_int) -> Result<()> {
    if status == 0 {
        return Ok(());
    }
    Err(Error::internal(format!(
        "nvrtc{function} answered {status}"
    )))
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: made by `create_program` and not used again.
            unsafe { (self.nvrtc.destroy_program)(&mut self.raw) };
        }
    }
}

/// Compiles a kernel for a new device and for an old one, which lacks what newer ones have.
#[cfg(test)]
pub(crate) fn assert_takes(name: &str, text: &str) {
    let source = Source {
        name,
        text,
        headers: &[],
    };
    for architecture in ["sm_90", "compute_75"] {
        if let Err(refused) = compile(&source, architecture, &[]) {
            panic!("{name} {architecture}: {refused}");
        }
    }
}
