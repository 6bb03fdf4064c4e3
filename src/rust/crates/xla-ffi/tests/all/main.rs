//! What needs no process of its own, in one program.

mod attributes;
mod context;
mod decode;
mod dtypes;
mod entry;
mod header;
mod later;
mod memory;
mod refusal;
mod state;
mod unknown_attributes;
