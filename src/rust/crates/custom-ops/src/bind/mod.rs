//! A signature meets arrays: dimensions get values, variables get dtypes, results get types.
//!
//! [`infer`] is for writing a program: it makes the results' types from the operands', and errors
//! that say why. [`Plan`] is for running one: it checks what a call frame carries in a few
//! nanoseconds and, where a [`Bound`] is used again, without allocation, and leaves the words to [`infer`].

mod bound;
mod check;
mod error;
mod infer;
mod plan;
mod quick;
mod sets;
mod text;
mod view;
mod wider;

pub use bound::Bound;
pub use error::BindError;
pub use infer::{infer, Inferred, InferredResult};
pub use plan::Plan;
pub use sets::Sets;
pub use view::{ArrayType, ArrayView};
pub use wider::{complex, real, wider};
