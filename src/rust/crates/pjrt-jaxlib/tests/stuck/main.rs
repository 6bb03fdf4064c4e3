//! Devices that wait for others that do not come.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
#[path = "../common/mod.rs"]
mod common;
#[path = "../handlers/mod.rs"]
mod handlers;

mod handlers_at_work;
mod shared;
mod waiting;
