//! Ops of one's own, called as XLA calls them. Bodies are what a C compiler would make.

// Each body relies on its signature, which stands beside it.
#![allow(clippy::undocumented_unsafe_blocks)]

mod attributes;
mod batches;
mod common;
mod host;
mod memory;
mod programs;
mod several;
