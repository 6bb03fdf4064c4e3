//! Ops of the user's own: a signature says what an op takes and gives, and a plain function of
//! pointers, dimensions and attributes computes it.
//!
//! The call frame is decoded and checked here, from the signature alone. What is compiled for the
//! user includes one small C header (`inst/include/xlaffi.h`) and knows nothing of XLA.

pub mod abi;
mod addresses;
mod attributes;
mod batch;
pub mod bind;
mod call;
mod checked;
mod element;
mod entry;
mod flat;
mod host;
mod inline;
mod kernel;
mod layout;
mod load;
mod message;
mod names;
mod op;
mod room;
pub mod signature;
mod site;
mod sites;
mod state;
mod table;
mod turns;
mod words;

pub use attributes::{BATCH, OP};
pub use host::{Array, ArrayMut, AttributeValue, BoundCall};
pub use kernel::{KernelCode, KernelFault, Kernels, Work};
pub use load::load;
pub use op::{Body, HostBody, Instance, Options, OwnOp, Threads};
pub use table::{common, refuse_on_cuda, register, registered, runs};
pub use words::{Words, MOST};
