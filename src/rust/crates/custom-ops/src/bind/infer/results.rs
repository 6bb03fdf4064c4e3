//! Results and scratch memory.

use xla_ffi::DataType;

use super::super::text::shape_text;
use super::super::{ArrayType, ArrayView, BindError};
use super::call::Call;
use super::types::InferredResult;
use crate::signature::{Array, Dim};

impl<A: ArrayView> Call<'_, A> {
    pub(super) fn results(
        &self,
        dtypes: &[DataType],
        dims: &[i64],
        batch: &[i64],
    ) -> Result<Vec<InferredResult>, BindError> {
        let several = self
            .slots
            .iter()
            .filter(|slot| slot.index.is_some())
            .count();
        let mut results = Vec::new();
        for (result, outcome) in self.signature.results.iter().enumerate() {
            if outcome.count.is_some() && several == 0 {
                continue;
            }
            let array = &outcome.array;
            let what = format!("result `{}`", array.name);
            let own = self.lengths(&array.dims, dims, &what, &array.name)?;
            let dims = if array.batch {
                [batch, &own].concat()
            } else {
                own
            };
            let Some(dtype) = array.dtype.eval(dtypes) else {
                return Err(BindError::new(
                    Some(&array.name),
                    format!("{what} has no dtype"),
                ));
            };
            if bytes(dtype, &dims).is_none() {
                let fault = format!(
                    "{what} would have shape {}, which is too large",
                    shape_text(&dims)
                );
                return Err(BindError::new(Some(&array.name), fault));
            }
            let array = ArrayType { dtype, dims };
            match outcome.count {
                None => results.push(InferredResult {
                    result,
                    index: None,
                    array,
                }),
                Some(_) => results.extend((0..several).map(|index| InferredResult {
                    result,
                    index: Some(index),
                    array: array.clone(),
                })),
            }
        }
        Ok(results)
    }

    /// The values of dimensions of a result or of scratch memory.
    fn lengths(
        &self,
        dims: &[Dim],
        values: &[i64],
        what: &str,
        name: &str,
    ) -> Result<Vec<i64>, BindError> {
        let value = |dim: &Dim| {
            let fault = match dim.eval(values, self.attributes) {
                Ok(value @ 0..) => return Ok(value),
                Ok(value) => format!("is {value}"),
                Err(problem) => problem.to_string(),
            };
            let (text, why) = (self.signature.dim_text(dim), self.dim_notes(&[dim], true));
            Err(BindError::new(
                Some(name),
                format!("dimension `{text}` of {what} {fault}{why}"),
            ))
        };
        dims.iter().map(value).collect()
    }

    pub(super) fn scratch(
        &self,
        dtypes: &[DataType],
        dims: &[i64],
    ) -> Result<Vec<usize>, BindError> {
        let size = |array: &Array| {
            let what = format!("scratch array `{}`", array.name);
            let own = self.lengths(&array.dims, dims, &what, &array.name)?;
            let size = array
                .dtype
                .eval(dtypes)
                .and_then(|dtype| bytes(dtype, &own));
            size.ok_or_else(|| {
                let fault = format!(
                    "{what} would have shape {}, which is too large",
                    shape_text(&own)
                );
                BindError::new(Some(&array.name), fault)
            })
        };
        self.signature.scratch.iter().map(size).collect()
    }
}

/// Of an array: `None` where no memory could hold it.
fn bytes(dtype: DataType, dims: &[i64]) -> Option<usize> {
    if dims.contains(&0) {
        return Some(0);
    }
    let size = i64::try_from(dtype.size()?).ok()?;
    let bytes = dims
        .iter()
        .try_fold(size, |bytes, dim| bytes.checked_mul(*dim))?;
    isize::try_from(bytes).ok().map(isize::unsigned_abs)
}
