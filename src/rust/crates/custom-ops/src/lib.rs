//! Custom ops: a signature says what an op takes and gives, and a plain function of pointers,
//! dimensions and attributes computes it.
//!
//! The call frame is decoded and checked here, from the signature alone. What is compiled for the
//! user includes one small C header (`inst/include/xlaffi.h`) and knows nothing of XLA.

pub mod bind;
mod body;
mod call;
mod names;
mod op;
mod registry;
pub mod signature;

pub use body::cuda::{KernelCode, KernelFault, Kernels, Work};
pub use body::plain::{PlainFunction, MOST_ARGUMENTS};
pub use body::{abi, load};
pub use call::attributes::{BATCH, OP};
pub use call::bound::{Array, ArrayMut, AttributeValue, BoundCall};
pub use call::instance::{Body, HostBody, Instance};
pub use call::interface::Threads;
pub use op::{CustomOp, Options};
pub use registry::{common, refuse_on_cuda, refuse_target_on_cuda, register, registered, runs};
