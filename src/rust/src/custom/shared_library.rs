//! `xlaffi_library`: a shared library that R's own list of them knows nothing of: that list is short,
//! and ops are made again and again.

use std::ffi::c_void;

use extendr_api::GetSexp;
use extendr_ffi::{R_MakeExternalPtr, R_NilValue};
use libloading::Library;

use crate::r::entry::routines;
use crate::r::failure::Failure;
use crate::r::pointer::{class, get, wrap};
use crate::r::unwind::protect;

struct SharedLibrary {
    library: Library,
    path: String,
}

class!(SharedLibrary, c"xlaffi_library", "a shared library");

/// Loads a library with all that it needs; its names are seen by nobody else.
///
/// # Safety
/// The library's own code, which runs when it is loaded, does no harm.
unsafe fn open(path: &str) -> Result<Library, libloading::Error> {
    // SAFETY: the caller's promise.
    #[cfg(unix)]
    let opened = unsafe {
        use libloading::os::unix;
        unix::Library::open(Some(path), unix::RTLD_NOW | unix::RTLD_LOCAL).map(Library::from)
    };
    // SAFETY: the caller's promise.
    #[cfg(not(unix))]
    let opened = unsafe { Library::new(path) };
    opened
}

routines! {
    // Loads a library.
    fn library_open(path: &str) {
        // SAFETY: the user says that this is code to be run.
        let library = unsafe { open(path) };
        let library = library.map_err(|error| {
            Failure::new("FAILED_PRECONDITION", format!("cannot load {path}: {}", cause(&error)))
        })?;
        Ok(wrap(SharedLibrary { library, path: path.to_string() }))
    }

    // A function of a library: an external pointer that keeps the library loaded.
    fn library_symbol(library, name: &str) {
        let shared: &SharedLibrary = get(library, "library")?;
        // SAFETY: the address is only handed on.
        let found = unsafe { shared.library.get::<*mut c_void>(name.as_bytes()) };
        let address = match found {
            Ok(symbol) => *symbol,
            Err(_) => {
                let message = format!("there is no `{name}` in {}", shared.path);
                return Err(Failure::new("NOT_FOUND", message));
            }
        };
        // SAFETY: R's thread; the library is protected as an argument.
        Ok(unsafe { protect(|| R_MakeExternalPtr(address, R_NilValue, library.get())) })
    }

    // Runs a function of a library that is to run when it is loaded.
    fn library_load(library, name: &str) {
        let shared: &SharedLibrary = get(library, "library")?;
        // SAFETY: the user's code, by the name that was generated for it.
        let found = unsafe { shared.library.get::<custom_ops::abi::Body>(name.as_bytes()) };
        let body = found.map_err(|error| Failure::new("NOT_FOUND", cause(&error)))?;
        // SAFETY: a function of a call without arrays.
        Ok(unsafe { custom_ops::load(*body) }?)
    }
}

/// What the system says, without libloading's name for its function.
fn cause(error: &libloading::Error) -> String {
    match error {
        libloading::Error::DlOpen { desc } => format!("{desc:?}").trim_matches('"').to_string(),
        other => other.to_string(),
    }
}
