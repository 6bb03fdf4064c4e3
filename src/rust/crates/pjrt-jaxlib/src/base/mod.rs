//! What knows nothing of Python: errors, entries of the API's table, memory, variables of the environment.

pub(crate) mod attend;
pub(crate) mod entry;
pub(crate) mod environment;
pub(crate) mod error;
pub(crate) mod expendable;
pub(crate) mod signals;
pub(crate) mod soon;
pub(crate) mod strided;
pub(crate) mod sync;
pub(crate) mod usage;
