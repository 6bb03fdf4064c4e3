//! Programs: compiling, arguments, results, donation, devices.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
#[path = "../common/mod.rs"]
mod common;

mod compile;
mod run;
mod shared;
