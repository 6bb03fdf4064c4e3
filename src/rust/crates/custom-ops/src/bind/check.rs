//! The check of a call: a quick one, and for a call that does not fit, what is wrong with it in words.

use super::plan::Plan;
use super::text::{named, shape_text};
use super::{infer, ArrayView, BindError, Bound};

impl Plan {
    /// Checks a call's operands and results, and finds what the body is given.
    ///
    /// `attributes` has, for each attribute of the signature, the value of an integer, the length
    /// of an array, and anything for others.
    ///
    /// # Errors
    /// As [`infer`](super::infer()), and results that are not as they follow from the operands.
    ///
    /// # Panics
    /// `attributes` has not the signature's length.
    #[inline]
    pub fn check<A: ArrayView, R: ArrayView>(
        &self,
        operands: &[A],
        results: &[R],
        attributes: &[i64],
        bound: &mut Bound,
    ) -> Result<(), BindError> {
        assert_eq!(
            attributes.len(),
            self.signature.attributes.len(),
            "one of each attribute"
        );
        match self.quick(operands, results, attributes, bound) {
            Some(()) => Ok(()),
            None => Err(self.explain(operands, results, attributes)),
        }
    }

    /// For a call that does not fit.
    #[cold]
    fn explain<A: ArrayView, R: ArrayView>(
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
