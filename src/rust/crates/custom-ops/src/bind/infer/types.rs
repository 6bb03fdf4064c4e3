//! What is inferred.

use xla_ffi::DataType;

use super::super::text::{named, shape_text};
use super::super::{ArrayType, BindError};
use crate::signature::Signature;

/// What follows from the operands of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// The element type of each variable of the signature.
    pub dtypes: Vec<DataType>,
    /// The value of each named dimension.
    pub dims: Vec<i64>,
    /// The batch dimensions of the results.
    pub batch: Vec<i64>,
    /// The results; one that comes several times is here as often.
    pub results: Vec<InferredResult>,
    /// Bytes of each scratch array.
    pub scratch: Vec<usize>,
}

impl Inferred {
    /// Looks whether R can hold the results' dimensions.
    ///
    /// # Errors
    /// There is one of 2^31 or more.
    pub fn check_for_r(&self, signature: &Signature) -> Result<(), BindError> {
        let large = |result: &&InferredResult| {
            let mut dims = result.array.dims.iter();
            dims.any(|dim| *dim > i64::from(i32::MAX))
        };
        let Some(result) = self.results.iter().find(large) else {
            return Ok(());
        };
        let (operand, shape) = (
            &signature.results[result.result].array.name,
            shape_text(&result.array.dims),
        );
        let name = named(operand, result.index);
        let message =
            format!("result `{name}` would have shape {shape}: R holds dimensions below 2^31");
        Err(BindError::new(Some(operand), message))
    }
}

/// A result of [`Inferred`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InferredResult {
    /// An index into [`Signature::results`].
    pub result: usize,
    /// Which one, from 0, of a result that comes several times.
    pub index: Option<usize>,
    /// Its type.
    pub array: ArrayType,
}
