//! A library that is used.

use super::threads::Control;
use crate::tables::{c, d, s, z};

/// A library's tables of symbols.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) s: Option<s::Table>,
    pub(crate) d: d::Table,
    pub(crate) c: Option<c::Table>,
    pub(crate) z: z::Table,
    pub(super) threads: Control,
    pub(super) about: About,
}

/// What can be said of the library in use.
#[derive(Clone, Debug)]
pub struct About {
    /// Where it was looked for.
    pub place: &'static str,
    /// Its file, or what was asked of the system.
    pub path: String,
    /// Its name and version, as far as it tells.
    pub version: String,
    /// Whether it has single precision, which is computed in double precision otherwise.
    pub single: bool,
    /// Threads of its own, as far as it tells.
    pub threads: Option<i32>,
}
