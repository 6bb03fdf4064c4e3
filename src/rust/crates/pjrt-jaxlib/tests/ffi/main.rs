//! Registration of XLA FFI handlers, and what they do in programs.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
#[path = "../common/mod.rs"]
mod common;
#[path = "../handlers/mod.rs"]
mod handlers;

mod order;
mod registration;
mod shared;
mod waiting;
