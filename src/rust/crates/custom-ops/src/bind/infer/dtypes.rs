//! The variables' element types.

use xla_ffi::DataType;

use super::super::text::dtypes_text;
use super::super::{ArrayView, BindError, Sets};
use super::call::Call;
use super::notes::in_parentheses;
use crate::signature::{Array, Dtype};

impl<A: ArrayView> Call<'_, A> {
    pub(super) fn bind_dtypes(&mut self, sets: &Sets) -> Result<Vec<DataType>, BindError> {
        for slot in 0..self.slots.len() {
            let got = self.operands[slot].dtype();
            let spec = &self.signature.operands[self.slots[slot].operand]
                .array
                .dtype;
            let Dtype::Variable(variable) = *spec else {
                continue;
            };
            match self.dtypes[variable] {
                None if sets.of(variable).contains(&got) => {
                    self.dtypes[variable] = Some((got, slot))
                }
                None => {
                    let expected = dtypes_text(sets.of(variable));
                    return Err(self.fault(slot, &format!("must be {expected}, got {got}")));
                }
                Some((dtype, _)) if dtype == got => {}
                Some((dtype, _)) => return Err(self.wrong_dtype(slot, dtype)),
            }
        }
        let mut dtypes = Vec::new();
        for (variable, bound) in self.dtypes.iter().enumerate() {
            dtypes.push(match bound {
                Some((dtype, _)) => *dtype,
                None => {
                    self.check_unneeded(&self.signature.dtypes[variable], |of| {
                        uses_dtype(of, variable)
                    })?;
                    sets.of(variable)[0]
                }
            });
        }
        for slot in 0..self.slots.len() {
            let spec = &self.signature.operands[self.slots[slot].operand]
                .array
                .dtype;
            match spec.eval(&dtypes) {
                Some(dtype) if dtype == self.operands[slot].dtype() => {}
                Some(dtype) => return Err(self.wrong_dtype(slot, dtype)),
                None => return Err(self.fault(slot, "has no dtype")),
            }
        }
        Ok(dtypes)
    }

    fn wrong_dtype(&self, slot: usize, expected: DataType) -> BindError {
        let spec = &self.signature.operands[self.slots[slot].operand]
            .array
            .dtype;
        let got = self.operands[slot].dtype();
        let why = self.dtype_notes(spec);
        self.fault(slot, &format!("must be {expected}, got {got}{why}"))
    }

    /// ` (`T` is f32 in `x`)`
    fn dtype_notes(&self, dtype: &Dtype) -> String {
        let mut notes = Vec::new();
        if !matches!(dtype, Dtype::Fixed(_) | Dtype::Variable(_)) {
            notes.push(format!("it is {}", self.signature.dtype_text(dtype)));
        }
        dtype.visit(&mut |variable| {
            if let Some((dtype, slot)) = self.dtypes[variable] {
                let name = &self.signature.dtypes[variable];
                notes.push(format!("`{name}` is {dtype} in `{}`", self.name(slot)));
            }
        });
        in_parentheses(notes)
    }
}

fn uses_dtype(array: &Array, variable: usize) -> bool {
    let mut used = false;
    array.dtype.visit(&mut |index| used |= index == variable);
    used
}
