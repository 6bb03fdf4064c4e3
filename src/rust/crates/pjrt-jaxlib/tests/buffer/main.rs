//! Buffers: every type, order, way of giving host memory, and reading back.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
#[path = "../common/mod.rs"]
mod common;

mod memory;
mod types;
