//! Handlers by name, and custom ops.

pub mod address;
pub mod code;
pub mod handler;
pub mod instances;
pub mod kernel;
pub mod op;
pub mod process;
pub mod registry;
pub mod routine;
pub mod sets;
pub mod shared_library;
pub mod signature;
pub mod sparse;
