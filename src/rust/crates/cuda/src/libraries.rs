//! The libraries of this process, each loaded when it is first asked for.

pub use super::driver::driver;

use super::driver::THE_DRIVER;
use super::loader::{Lazy, Search, CUBLAS, CUSOLVER, DRIVER, NVRTC};
use super::sys::{Cublas, Cusolver, Nvrtc};
use xla_ffi::Result;

static THE_CUSOLVER: Lazy<Cusolver> = Lazy::new(CUSOLVER);
static THE_CUBLAS: Lazy<Cublas> = Lazy::new(CUBLAS);
static THE_NVRTC: Lazy<Nvrtc> = Lazy::new(NVRTC);

/// The first version of the driver for which libraries of CUDA 13 are the better ones.
const CUDA_13: i32 = 13_000;

/// Where to look for the other libraries: where the driver is of CUDA 12, so are they.
fn by_driver() -> Search {
    let old = driver_version().is_ok_and(|version| version < CUDA_13);
    Search {
        oldest_first: old,
        ..Search::from_environment()
    }
}

/// The newest version of CUDA that the driver supports: 12040 is 12.4.
///
/// # Errors
/// There is no driver; it does not say.
pub fn driver_version() -> Result<i32> {
    let mut version = 0;
    // SAFETY: `version` is where the answer goes.
    let answer = unsafe { (driver()?.driver_get_version)(&mut version) };
    super::status::driver("DriverGetVersion", answer).map(|()| version)
}

macro_rules! libraries {
    ($($name:ident: $library:ident = $lazy:ident;)*) => {$(
        /// # Errors
        /// As [`driver`].
        pub fn $name() -> Result<&'static $library> {
            let (library, _) = $lazy.get(by_driver)?;
            Ok(library)
        }
    )*};
}

libraries! {
    cusolver: Cusolver = THE_CUSOLVER;
    cublas: Cublas = THE_CUBLAS;
    nvrtc: Nvrtc = THE_NVRTC;
}

/// What was found of a library.
#[derive(Debug)]
pub struct Found {
    /// "cuSOLVER".
    pub library: &'static str,
    /// Where it came from, or what was tried and why it failed.
    pub origin: std::result::Result<String, String>,
}

/// Loads every library and tells where it came from.
#[must_use]
pub fn report() -> Vec<Found> {
    fn found<T>(library: &'static str, loaded: Result<&(T, String)>) -> Found {
        let origin = loaded.map(|(_, origin)| origin.clone());
        Found {
            library,
            origin: origin.map_err(|error| error.to_string()),
        }
    }
    vec![
        found(DRIVER.label, THE_DRIVER.get(Search::from_environment)),
        found(CUSOLVER.label, THE_CUSOLVER.get(by_driver)),
        found(CUBLAS.label, THE_CUBLAS.get(by_driver)),
        found(NVRTC.label, THE_NVRTC.get(by_driver)),
    ]
}
