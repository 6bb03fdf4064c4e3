//! Element types: numbers, names and sizes, and the Rust types that hold them.

#[macro_use]
mod table;
mod data_type;
mod scalar;

pub use data_type::{DataKind, DataType, DataTypeInfo};
pub use scalar::{Generic, Pred, Scalar};
