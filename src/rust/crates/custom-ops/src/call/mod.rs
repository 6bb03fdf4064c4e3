//! One call: its frame is decoded, checked from the signature and laid out, and the body runs for each element of a batch.

mod addresses;
pub(crate) mod arena;
pub(crate) mod arrays;
pub(crate) mod attributes;
mod batch;
pub(crate) mod bound;
pub(crate) mod cache;
pub(crate) mod cuda;
mod element;
pub(crate) mod frame;
mod inline;
pub(crate) mod instance;
pub(crate) mod interface;
mod layout;
pub(crate) mod prepared;
mod scratch;
pub(crate) mod states;
pub(crate) mod threads;

pub(crate) use addresses::Addresses;
pub(crate) use layout::Layout;
