//! Buffers.

mod entries;
mod handle;

pub(crate) use entries::*;
pub(crate) use handle::Buffer;
