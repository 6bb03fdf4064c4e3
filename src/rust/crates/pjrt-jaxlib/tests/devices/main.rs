//! Programs over several devices: replicas, partitions, what they compute and what they refuse.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
#[path = "../common/mod.rs"]
mod common;

mod lifetimes;
mod placement;
