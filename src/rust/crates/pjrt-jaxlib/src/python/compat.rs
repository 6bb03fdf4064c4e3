//! jaxlib: the functions of `compat.py`, loaded once, and names that are used on hot paths.

use super::flags::{flags, FLAGS};
use crate::base::environment::{Variables, LOG_LEVEL};
use crate::base::error::{Error, Result};
use crate::base::signals::SignalsLater;
use crate::python::capi::FILE_INPUT;
use crate::python::gil::Gil;
use crate::python::object::Object;
use crate::python::old_jaxlib;
use crate::python::stand_in::StandIn;
use crate::python::start::{start, Running};
use std::ffi::{CStr, CString};
use std::sync::{Mutex, OnceLock, PoisonError};

macro_rules! jaxlib {
    (attributes { $($attr:ident),* $(,)? } names { $($name:ident),* $(,)? }) => {
        /// jaxlib, imported.
        pub(crate) struct Jaxlib {
            pub py: &'static Running,
            pub version: String,
            /// The folder of packages that it lies in.
            pub folder: String,
            /// Functions of `compat.py`.
            $(pub $attr: Object,)*
            /// Names of array methods.
            $(pub $name: Object,)*
            stand_in: StandIn,
        }

        impl Jaxlib {
            fn from_module(gil: &Gil, module: &Object) -> Result<Self> {
                let attr = |name: &str| -> Result<Object> {
                    let name = CString::new(name).map_err(|_| Error::internal("a name with zero"))?;
                    module.attr(gil, &name)
                };
                let name = |text: &str| -> Result<Object> {
                    let text = CString::new(text).map_err(|_| Error::internal("a name with zero"))?;
                    gil.name(&text)
                };
                // As lists first: of a struct that is half made, every field would have to be dropped
                // at every place where the next one fails, in code of its own.
                let attributes: Result<Vec<Object>> = [$(stringify!($attr)),*].map(attr).into_iter().collect();
                let names: Result<Vec<Object>> = [$(stringify!($name)),*].map(name).into_iter().collect();
                let version = attr("version")?.text(gil)?;
                let folder = attr("folder")?.text(gil)?;
                let stand_in = StandIn::new(gil, &attr("stand_in_names")?, &attr("stand_ins")?)?;
                const ATTRIBUTES: usize = [$(stringify!($attr)),*].len();
                const NAMES: usize = [$(stringify!($name)),*].len();
                let all = (<[_; ATTRIBUTES]>::try_from(attributes?), <[_; NAMES]>::try_from(names?));
                let (Ok([$($attr),*]), Ok([$($name),*])) = all else {
                    return Err(Error::internal("a list has lost objects"));
                };
                Ok(Self { py: gil.py, version, folder, $($attr,)* $($name,)* stand_in })
            }
        }
    };
}

jaxlib! {
    attributes {
        from_dlpack, to_dlpack, collect_garbage, make_client, client_facts, devices, device_facts, memory_facts,
        placement, from_hlo, compile_program, module_proto, fingerprint, serialize, deserialize, handler,
        executor, run_as, run_for_token, addressable_ids, over_devices, run_over, takes_launch_ids, copy, register,
        register_beside, register_own, adopted, stablehlo_versions,
    }
    names {
        consume_with_handlers, disassemble_into_single_device_arrays, unsafe_buffer_pointer, block_until_ready,
        is_ready, is_deleted, delete,
    }
}

static JAXLIB: OnceLock<Jaxlib> = OnceLock::new();

/// jaxlib, started where it is not yet: then `register_own` registers what programs call of this crate. A failure is not
/// remembered.
pub(crate) fn jaxlib(
    register_own: impl Fn(&Gil, &Jaxlib) -> Result<()>,
) -> Result<&'static Jaxlib> {
    match JAXLIB.get() {
        Some(jaxlib) => Ok(jaxlib),
        None => import(register_own),
    }
}

/// jaxlib, where it has been started.
pub(crate) fn started() -> Option<&'static Jaxlib> {
    JAXLIB.get()
}

fn import(register_own: impl Fn(&Gil, &Jaxlib) -> Result<()>) -> Result<&'static Jaxlib> {
    static IMPORTING: Mutex<()> = Mutex::new(());
    let _threads = SignalsLater::default();
    let py = start()?;
    let _one_at_a_time = IMPORTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(jaxlib) = JAXLIB.get() {
        return Ok(jaxlib);
    }
    if let Some(python) = &py.from.executable {
        crate::python::try_flags(python).map_err(Error::invalid)?;
    }
    // jaxlib reports at start what nobody asked for; a level that the user chose stays.
    let quiet = std::env::var_os(LOG_LEVEL).is_none();
    let flags = flags();
    let quiet = quiet.then_some((LOG_LEVEL, "1"));
    let flags = flags.as_deref().map(|flags| (FLAGS, flags));
    let _set = Variables::set(&quiet.into_iter().chain(flags).collect::<Vec<_>>());
    let gil = gil_of(py)?;
    let module = load(&gil, py)?;
    let jaxlib = Jaxlib::from_module(&gil, &module)?;
    register_own(&gil, &jaxlib)?;
    block_cache::attach(|path| path.contains("/jaxlib/"));
    Ok(JAXLIB.get_or_init(|| jaxlib))
}

/// Imports `compat.py`. In a Python that somebody else started, jaxlib may be missing: then that
/// of an interpreter of the same version is used.
fn load(gil: &Gil, py: &'static Running) -> Result<Object> {
    // Without one it is the import that tells.
    if let Some(old) = installed(gil).ok().and_then(|found| old_jaxlib(&found)) {
        return Err(Error::precondition(format!(
            "{} has {old}: `pip install --upgrade jaxlib` there, and start again",
            py.from.source
        )));
    }
    let first = match run(gil, c"_xlaffi_jaxlib", include_str!("compat.py")) {
        Ok(module) => return Ok(module),
        Err(error) => error,
    };
    let missing = |why: &str| {
        Error::precondition(format!(
            "{} cannot import jaxlib ({}){why}",
            py.from.source, first.message
        ))
    };
    if !py.foreign {
        return Err(missing(""));
    }
    let minor = run(
        gil,
        c"_xlaffi_version",
        "import sys\nversion = '%d.%d' % sys.version_info[:2]",
    )?
    .attr(gil, c"version")?
    .text(gil)?;
    let report = crate::python::find();
    let Some(other) = report.chosen() else {
        return Err(missing(&format!("; {}", report.message())));
    };
    if other.minor_version() != Some(minor.as_str()) {
        return Err(missing(&format!(
            ", and the Python that has it ({}) is not of its version {minor}",
            other.describe()
        )));
    }
    let sites: Vec<String> = other.sites.iter().map(|s| format!("{s:?}")).collect();
    run(
        gil,
        c"_xlaffi_sites",
        &format!(
            "import site\nfor path in [{}]: site.addsitedir(path)",
            sites.join(",")
        ),
    )?;
    run(gil, c"_xlaffi_jaxlib", include_str!("compat.py"))
}

/// The version of the jaxlib that would be imported, of which this loads nothing else.
fn installed(gil: &Gil) -> Result<String> {
    let source = "from jaxlib.version import __version__ as version";
    run(gil, c"_xlaffi_installed", source)?
        .attr(gil, c"version")?
        .text(gil)
}

/// Runs Python source as a module.
pub(crate) fn run(gil: &Gil, name: &CStr, source: &str) -> Result<Object> {
    let source = CString::new(source).map_err(|_| Error::internal("Python source with zero"))?;
    let c = &gil.py.c;
    // SAFETY: the lock is held; the texts end with zero; both calls return new references.
    unsafe {
        let code = gil.owned((c.Py_CompileString)(
            source.as_ptr(),
            name.as_ptr(),
            FILE_INPUT,
        ))?;
        gil.owned((c.PyImport_ExecCodeModule)(name.as_ptr(), code.as_ptr()))
    }
}

fn gil_of(py: &'static Running) -> Result<Gil> {
    Gil::take(py).ok_or_else(|| Error::precondition("Python has been shut down in this process"))
}

impl Jaxlib {
    /// Takes Python's lock.
    pub fn gil(&self) -> Result<Gil> {
        gil_of(self.py)
    }

    /// `prepared` of `prepare.py`.
    pub fn prepared(&self, gil: &Gil) -> Result<&'static Object> {
        Ok(&self.preparation(gil)?.prepared)
    }

    /// `refined` of `prepare.py`.
    pub fn refined(&self, gil: &Gil) -> Result<&'static Object> {
        Ok(&self.preparation(gil)?.refined)
    }

    /// It loads MLIR's Python side, so only programs that need it ask.
    fn preparation(&self, gil: &Gil) -> Result<&'static Preparation> {
        static PREPARATION: OnceLock<Preparation> = OnceLock::new();
        if let Some(preparation) = PREPARATION.get() {
            return Ok(preparation);
        }
        run(gil, c"_xlaffi_calls", include_str!("calls.py"))?;
        run(gil, c"_xlaffi_ordered", include_str!("ordered.py"))?;
        let module = run(gil, c"_xlaffi_prepare", include_str!("prepare.py"))?;
        let preparation = Preparation {
            prepared: module.attr(gil, c"prepared")?,
            refined: module.attr(gil, c"refined")?,
        };
        Ok(PREPARATION.get_or_init(|| preparation))
    }

    /// Runs `body`, which makes arrays, with a stand-in for jax in place where jax is not loaded.
    pub fn making_arrays<T>(&self, gil: &Gil, body: impl FnOnce() -> Result<T>) -> Result<T> {
        let placed = self.stand_in.place(gil)?;
        let made = body();
        if placed {
            self.stand_in.remove(gil);
        }
        made
    }
}

/// Functions of `prepare.py`.
struct Preparation {
    prepared: Object,
    refined: Object,
}
