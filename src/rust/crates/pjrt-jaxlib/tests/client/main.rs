//! The table, the plugin, clients and their options, and what bad calls get.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
#[path = "../common/mod.rs"]
mod common;
#[path = "../handlers/mod.rs"]
mod handlers;

mod facts;
mod table;
