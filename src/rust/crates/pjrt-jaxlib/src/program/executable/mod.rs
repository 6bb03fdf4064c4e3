//! Compiled programs.

mod entries;
mod loaded;
mod origin;
mod runner;

pub(crate) use entries::*;
pub(crate) use loaded::{executable, loaded, Executable, Loaded};
pub(crate) use origin::{read_serialized, Origin};
pub(crate) use runner::Runner;
