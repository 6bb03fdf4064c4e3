//! Handlers that fail on one of several devices, which the others wait for.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
#[path = "../common/mod.rs"]
mod common;
#[path = "../handlers/mod.rs"]
mod handlers;

mod errors;
mod programs;
mod shared;
