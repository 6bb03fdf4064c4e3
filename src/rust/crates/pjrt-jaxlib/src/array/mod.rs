//! Arrays: those of jaxlib, small ones of our own, and the buffers and events that a host sees.

pub(crate) mod buffer;
pub(crate) mod copy;
pub(crate) mod dlpack;
pub(crate) mod download;
pub(crate) mod event;
pub(crate) mod jax_array;
pub(crate) mod shape;
pub(crate) mod small;
pub(crate) mod upload;
