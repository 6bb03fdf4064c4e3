//! Handlers: what is registered with XLA, and what programs call in place of the handler that they name.

mod beside;
pub(crate) mod calls;
pub(crate) mod ffi;
pub(crate) mod jaxlib;
pub(crate) mod prepare;
pub(crate) mod stages;
