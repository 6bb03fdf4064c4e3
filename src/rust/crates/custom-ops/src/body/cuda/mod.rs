//! The CUDA side of an op: a kernel that is compiled for the device at hand.
//!
//! The kernel's source is made here, round what the user wrote, so that its argument is described in one place; what a
//! launch puts there is in `call/cuda`.

mod code;
pub(crate) mod failure;
mod kernels;
pub(crate) mod source;

pub use code::{KernelCode, KernelFault, Work};
pub use kernels::Kernels;
pub(crate) use kernels::Launch;
