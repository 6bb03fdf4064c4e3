//! Ops of the user's own: a signature says what an op takes and gives, and a plain function of
//! pointers, dimensions and attributes computes it.
//!
//! The call frame is decoded and checked here, from the signature alone. What is compiled for the
//! user includes one small C header (`inst/include/xlaffi.h`) and knows nothing of XLA.

pub mod abi;
pub mod bind;
pub mod signature;
