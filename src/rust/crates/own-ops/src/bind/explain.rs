//! What is wrong with a call, in words.

use super::plan::Plan;
use super::told::{named, shape_text};
use super::{infer, ArrayView, BindError};

impl Plan {
    /// For a call that does not fit.
    #[cold]
    pub(super) fn explain<A: ArrayView, R: ArrayView>(
        &self,
        operands: &[A],
        results: &[R],
        attributes: &[i64],
    ) -> BindError {
        let inferred = match infer(&self.signature, &self.sets, operands, attributes) {
            Ok(inferred) => inferred,
            Err(error) => return error,
        };
        if inferred.results.len() != results.len() {
            let (expected, got) = (inferred.results.len(), results.len());
            let word = if expected == 1 { "result" } else { "results" };
            let message = format!("must have {expected} {word}, got {got}: {}", self.signature);
            return BindError::new(None, message);
        }
        for (expected, got) in inferred.results.iter().zip(results) {
            let operand = &self.signature.results[expected.result].array.name;
            let name = named(operand, expected.index);
            let (dtype, dims) = (expected.array.dtype, &expected.array.dims);
            if dtype != got.dtype() {
                let message = format!("result `{name}` must be {dtype}, got {}", got.dtype());
                return BindError::new(Some(operand), message);
            }
            if dims != got.dims() {
                let (expected, got) = (shape_text(dims), shape_text(got.dims()));
                let message = format!("result `{name}` must have shape {expected}, got {got}");
                return BindError::new(Some(operand), message);
            }
        }
        BindError::new(
            None,
            "arrays that a check refused are as the signature says",
        )
    }
}
