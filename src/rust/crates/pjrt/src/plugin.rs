//! Plugins: shared libraries that export `GetPjrtApi`.

use crate::api::{call, Api};
use crate::barrier;
use crate::error::{Code, Error, Kind, Result};
use crate::value::{self, Value};
use pjrt_api::*;
use std::collections::HashSet;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

/// A loaded plugin. Cheap to clone; never unloaded.
#[derive(Clone)]
pub struct Plugin {
    inner: Arc<Inner>,
}

struct Inner {
    api: Api,
    path: PathBuf,
    /// The table of functions that XLA in there has for handlers, once it was asked for.
    handlers: OnceLock<usize>,
}

/// Tables whose `PJRT_Plugin_Initialize` has been called: once per table is the rule.
static INITIALIZED: LazyLock<Mutex<HashSet<usize>>> = LazyLock::new(Mutex::default);

impl Plugin {
    /// Loads a plugin's shared library.
    ///
    /// # Errors
    /// One [`Kind`] each for a missing file, a file that cannot be loaded, a library that is not
    /// a plugin, and a plugin of another major version.
    pub fn load(path: &Path) -> Result<Self> {
        let shown = path.display();
        let file = path.canonicalize().map_err(|e| {
            Error::new(
                Kind::MissingFile,
                Code::NOT_FOUND,
                format!("the plugin file `{shown}` cannot be found: {e}"),
            )
        })?;
        let library = open(&file).map_err(|why| {
            Error::new(
                Kind::NotALibrary,
                Code::FAILED_PRECONDITION,
                format!("`{shown}` cannot be loaded as a shared library: {why}"),
            )
        })?;
        // SAFETY: by the name, this is the API's entry point, which has this signature.
        let entry = unsafe { library.get::<GetPjrtApi>(ENTRY_POINT.as_bytes()) }.map_err(|_| {
            Error::new(
                Kind::NotAPlugin,
                Code::FAILED_PRECONDITION,
                format!("`{shown}` is not a PJRT plugin: it does not export {ENTRY_POINT}"),
            )
        })?;
        // SAFETY: a plugin's entry point takes nothing and may be called at any time.
        let table = unsafe { barrier::table(*entry) };
        // XLA leaves threads and statics behind: unloading its code would crash at exit.
        std::mem::forget(library);
        let table = table?;
        // SAFETY: the table belongs to the library, which stays loaded.
        unsafe { Self::from_table(table, &file) }
    }

    /// Uses a function table that is already in the process. `label` stands for the path.
    ///
    /// # Errors
    /// As [`Plugin::load`].
    ///
    /// # Safety
    /// `api` is NULL or a PJRT function table that stays valid for the rest of the process.
    pub unsafe fn from_api(api: *const PJRT_Api, label: &str) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe { Self::from_table(api, Path::new(label)) }
    }

    /// # Safety
    /// As [`Plugin::from_api`].
    unsafe fn from_table(table: *const PJRT_Api, path: &Path) -> Result<Self> {
        // SAFETY: the caller's promise.
        let api = unsafe { Api::new(table, &path.display().to_string())? };
        let mut done = INITIALIZED.lock().unwrap_or_else(PoisonError::into_inner);
        if !done.contains(&(table as usize)) {
            let mut args = PJRT_Plugin_Initialize_Args::new();
            // SAFETY: no pointers in the arguments.
            match unsafe { call!(api, PJRT_Plugin_Initialize(args)) } {
                // Plugins older than this function need no initialisation.
                Err(e) if e.kind() == Kind::MissingFunction => (),
                other => other?,
            }
            done.insert(table as usize);
        }
        Ok(Self {
            inner: Arc::new(Inner {
                api,
                path: path.to_path_buf(),
                handlers: OnceLock::new(),
            }),
        })
    }

    pub(crate) fn api(&self) -> Api {
        self.inner.api
    }

    /// Major and minor version of the PJRT API that the plugin speaks.
    pub fn api_version(&self) -> (i32, i32) {
        self.inner.api.version()
    }

    /// Where it was loaded from, or the label it was given.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// What the plugin says about itself, such as the StableHLO versions it reads.
    ///
    /// # Errors
    /// What the plugin returns.
    pub fn attributes(&self) -> Result<Vec<(String, Value)>> {
        let mut args = PJRT_Plugin_Attributes_Args::new();
        // SAFETY: the attributes belong to the plugin and are copied at once.
        unsafe {
            call!(self.api(), PJRT_Plugin_Attributes(args))?;
            Ok(value::from_c(args.attributes, args.num_attributes))
        }
    }

    /// Whether it is the plugin of that table.
    pub fn is(&self, table: *const pjrt_api::PJRT_Api) -> bool {
        std::ptr::eq(self.inner.api.table(), table)
    }

    pub(crate) fn handlers(&self) -> &OnceLock<usize> {
        &self.inner.handlers
    }

    fn ffi(&self) -> Option<*const PJRT_FFI_Extension> {
        self.api().extension::<PJRT_FFI_Extension>(
            PJRT_Extension_Type::FFI,
            PJRT_FFI_Extension::STRUCT_SIZE,
        )
    }

    /// Whether handlers can be registered with the plugin.
    pub fn has_ffi(&self) -> bool {
        self.ffi().is_some()
    }

    /// Registers an XLA FFI handler. `platform` as XLA calls it, e.g. `"host"` or `"cuda"`.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` where the plugin has no FFI extension; else what the plugin returns, for
    /// instance when another handler has that name already.
    ///
    /// # Safety
    /// `handler` is an `XLA_FFI_Handler*` that stays valid for the rest of the process.
    pub unsafe fn register_ffi_handler(
        &self,
        target: &str,
        platform: &str,
        handler: *const c_void,
    ) -> Result<()> {
        const CALL: &str = "PJRT_FFI_Register_Handler";
        // SAFETY: an extension of this type and at least this size has this field.
        let register = self.ffi().and_then(|e| unsafe { (*e).register_handler });
        let Some(register) = register else {
            return Err(Error::missing_function(CALL));
        };
        let mut args = PJRT_FFI_Register_Handler_Args::new();
        args.target_name = target.as_ptr().cast();
        args.target_name_size = target.len();
        args.handler = handler.cast_mut();
        args.platform_name = platform.as_ptr().cast();
        args.platform_name_size = platform.len();
        // SAFETY: the strings outlive the call, in which they are copied; the handler is the
        // caller's promise.
        let error = unsafe { barrier::answer(CALL, register, &mut args)? };
        self.api().check(CALL, error)
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plugin({})", self.path().display())
    }
}

#[cfg(unix)]
fn open(file: &Path) -> std::result::Result<libloading::Library, String> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    // RTLD_NOW: a plugin that misses symbols must fail here, not in the middle of a call.
    // SAFETY: runs the library's initialisers, which is what the caller asks for.
    unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }
        .map(Into::into)
        .map_err(|e| e.to_string())
}

#[cfg(not(unix))]
fn open(file: &Path) -> std::result::Result<libloading::Library, String> {
    // SAFETY: runs the library's initialisers, which is what the caller asks for.
    unsafe { libloading::Library::new(file) }.map_err(|e| e.to_string())
}
