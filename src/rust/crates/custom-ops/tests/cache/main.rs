//! Calls of a program that keeps what their first one was like: they do what others do, and nothing
//! that has changed since is overlooked.

// Each body relies on its signature, which stands beside it.
#![allow(clippy::undocumented_unsafe_blocks)]

mod calls;
mod common;
mod places;
