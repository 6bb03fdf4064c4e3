//! Bringing Python up in this process, once; it is never taken down.

use super::capi::{wide, Capi, WChar};
use super::probe::{Candidate, Source};
use crate::base::error::{Error, Result};
use libloading::Library;
use std::ffi::c_int;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The Python of this process.
pub struct Running {
    pub(crate) c: Capi,
    /// Where it came from.
    pub from: Candidate,
    /// Whether somebody else (reticulate, or Python itself) had brought it up.
    pub foreign: bool,
}

impl Running {
    /// Whether Python is going down or gone, or is that of a parent process: then its objects must
    /// not be touched.
    pub(crate) fn is_gone(&self) -> bool {
        if fork::is_child() {
            return true;
        }
        // SAFETY: both functions may be called at any time.
        unsafe {
            (self.c.Py_IsInitialized)() == 0
                || self
                    .c
                    .Py_IsFinalizing
                    .or(self.c._Py_IsFinalizing)
                    .is_some_and(|f| f() != 0)
        }
    }
}

static RUNNING: OnceLock<Running> = OnceLock::new();

/// The Python that this crate uses, where it has been started.
pub fn running() -> Option<&'static Running> {
    RUNNING.get()
}

/// Takes Python's lock on this thread, for good: to be called once, on the thread of a host that is
/// about to run Python code without asking for the lock, as old versions of reticulate do (1.28 of
/// Debian 12). It does nothing where Python does not run, or somebody else started it and sees to that.
pub fn keep_lock() {
    static KEPT: OnceLock<()> = OnceLock::new();
    if let Some(py) = running().filter(|py| !py.foreign && !py.is_gone()) {
        KEPT.get_or_init(|| {
            // SAFETY: Python is up; the lock is never given back.
            unsafe { (py.c.PyGILState_Ensure)() };
        });
    }
}

/// The Python of this process: the one that runs already, else the first that [`super::find`]
/// finds. A failure is not remembered, so that a Python installed meanwhile is found.
pub(crate) fn start() -> Result<&'static Running> {
    static STARTING: Mutex<()> = Mutex::new(());
    if let Some(running) = RUNNING.get() {
        return Ok(running);
    }
    let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = RUNNING.get() {
        return Ok(running);
    }
    fork::started();
    let started = match in_process() {
        Some(running) => running?,
        None => {
            let report = super::find_again();
            let Some(chosen) = report.chosen() else {
                return Err(Error::not_found(report.message()));
            };
            bring_up(chosen.clone())?
        }
    };
    Ok(RUNNING.get_or_init(|| started))
}

/// The Python that somebody else runs in this process.
fn in_process() -> Option<Result<Running>> {
    let library = already_loaded()?;
    // SAFETY: the function's type is that of CPython's documentation; it may be called at any time.
    let up = unsafe {
        library
            .get::<unsafe extern "C" fn() -> c_int>(b"Py_IsInitialized\0")
            .ok()?()
            != 0
    };
    up.then(|| {
        let c = Capi::load(&library)
            .map_err(|e| Error::precondition(format!("the Python in this process {e}")))?;
        Ok(Running {
            c,
            from: Candidate::new(Source::Running, None),
            foreign: true,
        })
    })
}

#[cfg(unix)]
fn already_loaded() -> Option<Library> {
    Some(libloading::os::unix::Library::this().into())
}

#[cfg(windows)]
fn already_loaded() -> Option<Library> {
    // The version-independent library forwards to whichever Python is loaded.
    libloading::os::windows::Library::open_already_loaded("python3.dll")
        .ok()
        .map(Into::into)
}

/// Loads and initialises the interpreter that was chosen.
fn bring_up(chosen: Candidate) -> Result<Running> {
    let Some(path) = chosen.library.as_deref() else {
        return Err(Error::internal("the chosen Python has no library"));
    };
    let library = load(path).map_err(|e| {
        Error::precondition(format!(
            "cannot load Python's library {}: {e}",
            path.display()
        ))
    })?;
    let c = Capi::load(&library)
        .map_err(|e| Error::precondition(format!("Python's library {} {e}", path.display())))?;
    if let (Some(set), Some(name)) = (
        c.Py_SetProgramName,
        chosen
            .executable
            .as_deref()
            .and_then(|path| program_name(&library, path)),
    ) {
        // From its program name Python finds its own library and the virtual environment; it keeps
        // the pointer.
        // SAFETY: Python is not initialised yet; the text ends with zero and lives for ever.
        unsafe { set(name) };
    }
    // Python stays for as long as the process.
    std::mem::forget(library);
    let locale = Locale::save();
    // SAFETY: not initialised yet. 0: signal handlers stay the host's, so that Ctrl-C keeps its
    // meaning there. The lock is given up at once; every call takes it anew.
    unsafe {
        (c.Py_InitializeEx)(0);
        (c.PyEval_SaveThread)();
    }
    locale.restore();
    Ok(Running {
        c,
        from: chosen,
        foreign: false,
    })
}

/// A path as Python has it, for ever.
#[cfg(unix)]
fn program_name(library: &Library, path: &Path) -> Option<*const WChar> {
    use std::os::unix::ffi::OsStrExt;
    let text = path.to_str();
    let text = text.filter(|text| text.is_ascii() || letters_are_utf8() || in_utf8_mode(library));
    if let Some(text) = text {
        return Some(Box::leak(wide(text).into_boxed_slice()).as_ptr());
    }
    // As Python decodes it in this locale, since it ends the process where it cannot encode it again.
    let bytes = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
    type Decode = unsafe extern "C" fn(*const std::ffi::c_char, *mut usize) -> *mut WChar;
    // SAFETY: the function's type is that of CPython's documentation.
    let decode = unsafe { library.get::<Decode>(b"Py_DecodeLocale\0") }.ok()?;
    // SAFETY: may be called before Python is initialised; the text ends with zero, and no length is asked for. What it
    // gives is never freed.
    let name = unsafe { decode(bytes.as_ptr(), std::ptr::null_mut()) };
    (!name.is_null()).then_some(name.cast_const())
}

#[cfg(not(unix))]
fn program_name(_library: &Library, path: &Path) -> Option<*const WChar> {
    Some(Box::leak(wide(path.to_str()?).into_boxed_slice()).as_ptr())
}

/// Whether the locale's character set is UTF-8.
#[cfg(unix)]
fn letters_are_utf8() -> bool {
    // SAFETY: the C library's own text, which is looked at before anybody may change the locale.
    unsafe { std::ffi::CStr::from_ptr(libc::nl_langinfo(libc::CODESET)) }
        .to_bytes()
        .eq_ignore_ascii_case(b"UTF-8")
}

/// Has Python, which is not initialised yet, take all text for UTF-8 whatever the locale, as its own program does in a C
/// locale; whether this one can.
#[cfg(unix)]
fn in_utf8_mode(library: &Library) -> bool {
    // SAFETY: a variable of the documented C API, which Python reads when it is initialised.
    unsafe { library.get::<*mut c_int>(b"Py_UTF8Mode\0") }
        // SAFETY: as above; nobody else starts Python, as we do so with a lock held.
        .map(|mode| unsafe { mode.write(1) })
        .is_ok()
}

/// Extension modules look Python's symbols up in the global scope.
#[cfg(unix)]
fn load(path: &Path) -> std::result::Result<Library, libloading::Error> {
    use libloading::os::unix::{Library as Unix, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: libpython's initialisers have no conditions; Python is started by us afterwards.
    unsafe { Unix::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map(Into::into)
}

#[cfg(windows)]
fn load(path: &Path) -> std::result::Result<Library, libloading::Error> {
    // SAFETY: as above.
    unsafe { Library::new(path) }
}

/// The locale of character types, which Python's start sets from the environment.
#[cfg(unix)]
struct Locale(Option<std::ffi::CString>);

#[cfg(unix)]
impl Locale {
    fn save() -> Self {
        // SAFETY: a null locale only asks; the answer is copied at once.
        let now = unsafe { libc::setlocale(libc::LC_CTYPE, std::ptr::null()) };
        // SAFETY: a string of the C library, or NULL.
        Self((!now.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(now) }.to_owned()))
    }

    fn restore(self) {
        if let Some(name) = self.0 {
            // SAFETY: a name that `setlocale` gave.
            unsafe { libc::setlocale(libc::LC_CTYPE, name.as_ptr()) };
        }
    }
}

/// Windows' C libraries are several; R's is not Python's.
#[cfg(not(unix))]
struct Locale;

#[cfg(not(unix))]
impl Locale {
    fn save() -> Self {
        Self
    }

    fn restore(self) {}
}
