//! The driver's library, loaded when it is first asked for.

use super::loader::{Lazy, Search, DRIVER};
use super::sys::Driver;
use xla_ffi::Result;

pub(crate) static THE_DRIVER: Lazy<Driver> = Lazy::new(DRIVER);

/// # Errors
/// There is none, or it is too old.
pub fn driver() -> Result<&'static Driver> {
    let (driver, _) = THE_DRIVER.get(Search::from_environment)?;
    Ok(driver)
}
