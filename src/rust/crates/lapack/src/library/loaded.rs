//! A shared library, or the two that R has for LAPACK and BLAS.

use super::conventions::Convention;
use crate::int::{Address, Int};
use libloading::Library;
use std::ffi::{c_char, c_int, c_void, CStr};
use std::path::Path;
use std::sync::OnceLock;

/// Tells the addresses of a routine of LAPACK and of one of BLAS, in the libraries that a program is linked to.
pub type Linked = fn() -> [*mut c_void; 2];

static LINKED: OnceLock<Linked> = OnceLock::new();

/// Has the libraries that have the addresses `linked` used in R's place. What is said first stands.
pub fn linked_to(linked: Linked) {
    LINKED.get_or_init(|| linked);
}

/// Libraries in the process, which stay for good.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded(&'static [Library]);

impl Loaded {
    fn of(libraries: Vec<Library>) -> Self {
        Loaded(Vec::leak(libraries))
    }

    /// Loads a file, or what the system knows under a name.
    pub(super) fn open(file: &Path) -> Result<Self, String> {
        let opened = system::open(file).map_err(|error| error.to_string())?;
        Ok(Loaded::of(vec![opened]))
    }

    /// What R's link line gave us; nothing without R.
    pub(super) fn linked() -> Option<Self> {
        let libraries = system::linked(LINKED.get().copied());
        (!libraries.is_empty()).then(|| Loaded::of(libraries))
    }

    /// The address of a symbol.
    pub(super) fn find(&self, symbol: &str) -> Option<Address> {
        self.0.iter().find_map(|library| {
            // SAFETY: only the address is taken here.
            let found = unsafe { library.get::<*mut c_void>(symbol.as_bytes()) };
            Address::new(*found.ok()?)
        })
    }

    /// The file, where the system tells.
    pub(super) fn path(&self) -> Option<String> {
        let names = ["scipy_dgetrf_", "dgetrf_", "dgetrf_64_", "dgetrf_64"];
        let address = names.iter().find_map(|name| self.find(name))?;
        system::file_of(address)
    }

    /// A function of the library.
    ///
    /// # Safety
    /// `F` is the type of a C function pointer with the symbol's prototype.
    pub(super) unsafe fn function<F: Copy>(&self, symbol: &str) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<Address>()) };
        let address = self.find(symbol)?;
        // SAFETY: a pointer of that size, by contract to such a function; the library stays.
        Some(unsafe { std::mem::transmute_copy::<Address, F>(&address) })
    }

    /// Who made it and which version it is, as far as it tells.
    pub(super) fn version(&self, convention: Convention) -> String {
        type Text = unsafe extern "C" fn() -> *const c_char;
        type Fill = unsafe extern "C" fn(*mut c_char, c_int);
        type Numbers = unsafe extern "C" fn(*mut Int, *mut Int, *mut Int);
        let openblas = format!("{}openblas_get_config", convention.prefix);
        // SAFETY: OpenBLAS's prototype.
        if let Some(config) = unsafe { self.function::<Text>(&openblas) } {
            // SAFETY: it returns a text that stays.
            let text = unsafe { CStr::from_ptr(config()) }.to_string_lossy();
            let words: Vec<&str> = text.split_whitespace().take(2).collect();
            return words.join(" ");
        }
        // SAFETY: MKL's prototype.
        if let Some(fill) = unsafe { self.function::<Fill>("MKL_Get_Version_String") } {
            let mut text = [0_u8; 200];
            // SAFETY: it writes at most so many bytes; the last one stays 0.
            unsafe { fill(text.as_mut_ptr().cast(), text.len() as c_int - 1) };
            let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
            return text.to_string_lossy().trim().to_owned();
        }
        // SAFETY: LAPACK's prototype.
        match unsafe { self.function::<Numbers>(&convention.symbol("ilaver")) } {
            Some(numbers) => {
                let (mut major, mut minor, mut patch) = (0, 0, 0);
                // SAFETY: all three are written.
                unsafe { numbers(&mut major, &mut minor, &mut patch) };
                format!("LAPACK {major}.{minor}.{patch}")
            }
            None => "LAPACK".to_owned(),
        }
    }
}

#[cfg(unix)]
mod system {
    use super::{Address, Library, Linked, Path};
    use libloading::os::unix::{Library as Unix, RTLD_LOCAL, RTLD_NOW};
    use std::ffi::CStr;

    /// A library calls its own routines, although R's BLAS has some of the same names. Sanitizers end
    /// the process over it.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn own_first() -> i32 {
        let sanitized = ["__asan_init", "__tsan_init", "__msan_init", "__hwasan_init"]
            .iter()
            // SAFETY: only whether there is one is asked.
            .any(|name| unsafe { Unix::this().get::<*const u8>(name.as_bytes()) }.is_ok());
        if sanitized {
            0
        } else {
            libc::RTLD_DEEPBIND
        }
    }

    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    fn own_first() -> i32 {
        0
    }

    pub(super) fn open(file: &Path) -> Result<Library, libloading::Error> {
        // SAFETY: a LAPACK may be loaded at any time; a file that the user names is what the user
        // wants to be run.
        let opened = unsafe { Unix::open(Some(file), RTLD_NOW | RTLD_LOCAL | own_first()) };
        opened.map(Library::from)
    }

    /// The file that an address lies in.
    pub(super) fn file_of(address: Address) -> Option<String> {
        let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: `info` is where the answer goes, and zeros are one.
        let (found, info) = unsafe {
            let found = libc::dladdr(address.as_ptr(), info.as_mut_ptr());
            (found, info.assume_init())
        };
        if found == 0 || info.dli_fname.is_null() {
            return None;
        }
        // SAFETY: a text that stays as long as the library.
        let file = unsafe { CStr::from_ptr(info.dli_fname) };
        Some(file.to_string_lossy().into_owned())
    }

    pub(super) fn linked(linked: Option<Linked>) -> Vec<Library> {
        let addresses = linked.map(|linked| linked()).into_iter().flatten();
        let mut files: Vec<String> = addresses
            .filter_map(|address| file_of(Address::new(address)?))
            .collect();
        files.dedup();
        let loaded = files.iter().filter_map(|file| {
            // SAFETY: it is in the process, so nothing is run.
            unsafe { Unix::open(Some(file), RTLD_NOW | RTLD_LOCAL) }.ok()
        });
        loaded.map(Library::from).collect()
    }
}

#[cfg(windows)]
mod system {
    use super::{Address, Library, Linked, Path};
    use libloading::os::windows::{Library as Windows, LOAD_WITH_ALTERED_SEARCH_PATH};

    pub(super) fn open(file: &Path) -> Result<Library, libloading::Error> {
        // What lies beside it is found too; for names this flag must not be given.
        let flags = if file.is_absolute() {
            LOAD_WITH_ALTERED_SEARCH_PATH
        } else {
            0
        };
        // SAFETY: a LAPACK may be loaded at any time; a file that the user names is what the user
        // wants to be run.
        unsafe { Windows::load_with_flags(file, flags) }.map(Library::from)
    }

    pub(super) fn file_of(_: Address) -> Option<String> {
        None
    }

    /// R's, under the names that they have in every R.
    pub(super) fn linked(_: Option<Linked>) -> Vec<Library> {
        let names = ["Rlapack.dll", "Rblas.dll"];
        let loaded = names
            .iter()
            .filter_map(|name| Windows::open_already_loaded(name).ok());
        loaded.map(Library::from).collect()
    }
}
