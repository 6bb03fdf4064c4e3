//! Finds NVIDIA's libraries when they are first used: a copy that is in the process already (JAX's
//! wheels bring their own), then the folder in `XLAFFI_CUDA_PATH`, then what the system finds under
//! the name.

use std::ffi::c_void;
use std::mem::{size_of, transmute_copy};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use xla_ffi::{Code, Error, Result};

/// The folder to look into before the system's.
pub const VARIABLE: &str = "XLAFFI_CUDA_PATH";

/// Where CUDA's own installer, distributions and Python's wheels put libraries within the folder.
const FOLDERS: [&str; 5] = [
    "",
    "lib64",
    "lib",
    "targets/x86_64-linux/lib",
    "targets/sbsa-linux/lib",
];

/// A library by its name among people and the names of its files, the best one first.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// For messages.
    pub label: &'static str,
    /// SONAMEs: one for each version of CUDA that has its own.
    pub files: &'static [&'static str],
}

/// The driver.
pub const DRIVER: Names = Names {
    label: "NVIDIA's driver",
    files: &["libcuda.so.1"],
};
/// cuSOLVER. CUDA 12's is version 11, CUDA 13's is version 12.
pub const CUSOLVER: Names = Names {
    label: "cuSOLVER",
    files: &["libcusolver.so.12", "libcusolver.so.11"],
};
/// cuBLAS.
pub const CUBLAS: Names = Names {
    label: "cuBLAS",
    files: &["libcublas.so.13", "libcublas.so.12"],
};
/// The compiler for kernels.
pub const NVRTC: Names = Names {
    label: "NVRTC",
    files: &["libnvrtc.so.13", "libnvrtc.so.12"],
};

/// A library in the process. It stays for good: handles and kernels of it are kept.
#[derive(Debug)]
pub struct Library {
    label: &'static str,
    /// The file, or the name that the system found it by.
    origin: String,
    inner: libloading::Library,
}

impl Library {
    /// Where it came from.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// A function of the library.
    ///
    /// # Safety
    /// `F` is the type of a C function pointer with the symbol's prototype.
    ///
    /// # Errors
    /// [`Code::Unimplemented`]: the library has no such symbol.
    pub unsafe fn symbol<F: Copy>(&self, symbol: &'static str) -> Result<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        // SAFETY: only the address is taken here; it is used as what the caller says it is.
        let found = unsafe { self.inner.get::<*mut c_void>(symbol.as_bytes()) };
        match found {
            Ok(address) if !address.is_null() => {
                // SAFETY: a pointer of that size, by contract to such a function. The table that it
                // goes into keeps the library.
                Ok(unsafe { transmute_copy::<*mut c_void, F>(&address) })
            }
            _ => Err(Error::new(
                Code::Unimplemented,
                format!(
                    "{} ({}) has no {symbol}: another version of CUDA is needed",
                    self.label, self.origin
                ),
            )),
        }
    }
}

/// A library's functions.
pub trait Table: Sized {
    /// Looks up every function.
    ///
    /// # Errors
    /// One that must be there is missing.
    fn fill(library: Library) -> Result<Self>;
}

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// `XLAFFI_CUDA_PATH`.
    pub folder: Option<PathBuf>,
    /// Whether the oldest version is the best one: the driver is older than the newest.
    pub oldest_first: bool,
}

impl Search {
    /// As the environment says now.
    #[must_use]
    pub fn from_environment() -> Self {
        let folder = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
        Search {
            folder: folder.map(PathBuf::from),
            oldest_first: false,
        }
    }

    /// The names of a library's files, the best one first.
    fn files(&self, names: Names) -> Vec<&'static str> {
        let mut files = names.files.to_vec();
        if self.oldest_first {
            files.reverse();
        }
        files
    }

    /// The first copy of a library that can be loaded.
    ///
    /// # Errors
    /// [`Code::NotFound`]: there is none; the message says what was tried and what the system said.
    /// [`Code::Unimplemented`]: CUDA ops are for Linux.
    pub fn open(&self, names: Names) -> Result<Library> {
        if !cfg!(target_os = "linux") {
            return Err(Error::new(
                Code::Unimplemented,
                format!("{} is used on Linux only", names.label),
            ));
        }
        let files = self.files(names);
        let loaded = files.iter().find_map(|file| {
            let library = open_loaded(file)?;
            Some((format!("{file}, already loaded"), library))
        });
        let mut tried = Vec::new();
        let found = loaded.or_else(|| {
            let candidates = self.candidates(&files);
            candidates.iter().find_map(|file| match open(file) {
                Ok(library) => Some((file.display().to_string(), library)),
                Err(reason) => {
                    tried.push(reason);
                    None
                }
            })
        });
        if let Some((origin, inner)) = found {
            return Ok(Library {
                label: names.label,
                origin,
                inner,
            });
        }
        let folder = match &self.folder {
            Some(folder) => format!("{VARIABLE} is {}", folder.display()),
            None => format!("{VARIABLE} is not set"),
        };
        Err(Error::new(
            Code::NotFound,
            format!(
                "{} was not found ({folder}). Tried: {}",
                names.label,
                tried.join("; ")
            ),
        ))
    }

    /// Files in the folder that exist, then the bare names, for the system to find.
    fn candidates(&self, files: &[&'static str]) -> Vec<PathBuf> {
        let folders: Vec<PathBuf> = self
            .folder
            .iter()
            .flat_map(|folder| within(folder))
            .collect();
        let in_folders = files
            .iter()
            .flat_map(|file| folders.iter().map(move |folder| folder.join(file)))
            .filter(|file| file.exists());
        in_folders.chain(files.iter().map(PathBuf::from)).collect()
    }
}

/// The folder and those in it where libraries may be; in Python's `site-packages/nvidia` each
/// library has a folder of its own.
fn within(folder: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(|part| folder.join(part)).collect();
    let mut wheels: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("lib"))
        .filter(|folder| folder.is_dir())
        .collect();
    wheels.sort_unstable();
    folders.append(&mut wheels);
    folders
}

/// The library if it is in the process already.
#[cfg(target_os = "linux")]
fn open_loaded(file: &str) -> Option<libloading::Library> {
    use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
    // SAFETY: nothing is loaded, so nothing is run.
    let library = unsafe { Library::open(Some(file), RTLD_LAZY | RTLD_LOCAL | libc::RTLD_NOLOAD) };
    library.ok().map(libloading::Library::from)
}

#[cfg(not(target_os = "linux"))]
fn open_loaded(_: &str) -> Option<libloading::Library> {
    None
}

/// What the system says when it cannot.
fn open(file: &Path) -> std::result::Result<libloading::Library, String> {
    // SAFETY: NVIDIA's libraries may be loaded at any time; a file of that name in a folder that
    // the user gave is what the user wants to be run.
    unsafe { libloading::Library::new(file) }.map_err(|error| {
        let text = error.to_string();
        if text.contains(&*file.to_string_lossy()) {
            text
        } else {
            format!("{}: {text}", file.display())
        }
    })
}

/// A library that is loaded when it is first asked for. A failure is not kept: the next call looks
/// again.
pub struct Lazy<T: 'static> {
    names: Names,
    table: OnceLock<(T, String)>,
    loading: Mutex<()>,
}

impl<T: Table> Lazy<T> {
    /// Nothing is loaded yet.
    #[must_use]
    pub const fn new(names: Names) -> Self {
        Lazy {
            names,
            table: OnceLock::new(),
            loading: Mutex::new(()),
        }
    }

    /// The library's functions and where it came from. `search` is asked for where to look, unless
    /// the library is there already.
    ///
    /// # Errors
    /// As [`Search::open`]; a function is missing.
    pub fn get(&self, search: impl FnOnce() -> Search) -> Result<&(T, String)> {
        if let Some(loaded) = self.table.get() {
            return Ok(loaded);
        }
        let _one_at_a_time = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = self.table.get() {
            return Ok(loaded);
        }
        let library = search().open(self.names)?;
        let origin = library.origin().to_owned();
        let table = T::fill(library)?;
        Ok(self.table.get_or_init(|| (table, origin)))
    }
}
