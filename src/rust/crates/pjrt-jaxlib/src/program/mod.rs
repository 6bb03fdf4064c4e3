//! Programs: compiled, loaded, described and executed.

pub(crate) mod compile;
pub(crate) mod executable;
pub(crate) mod execute;
mod frame;
mod proto;
pub(crate) mod refine;
