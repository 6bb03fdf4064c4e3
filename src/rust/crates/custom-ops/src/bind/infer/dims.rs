//! The values of named dimensions.

use super::super::text::shape_text;
use super::super::{ArrayView, BindError};
use super::call::{Call, Origin};
use crate::signature::{Array, AttributeKind, Dim};

impl<A: ArrayView> Call<'_, A> {
    pub(super) fn bind_dims(&mut self) -> Result<Vec<i64>, BindError> {
        for slot in 0..self.slots.len() {
            let array = &self.signature.operands[self.slots[slot].operand].array;
            let got = self.operands[slot].dims();
            let extra = got.len().checked_sub(array.dims.len());
            let Some(extra) = extra.filter(|extra| *extra == 0 || array.batch) else {
                let expected = self.expected_text(slot, |_| None);
                return Err(self.fault(
                    slot,
                    &format!("must have shape {expected}, got {}", shape_text(got)),
                ));
            };
            if got.iter().any(|dim| *dim < 0) {
                return Err(self.fault(
                    slot,
                    &format!("has a negative dimension: {}", shape_text(got)),
                ));
            }
            for (dim, value) in array.dims.iter().zip(&got[extra..]) {
                if let Dim::Name(index) = *dim {
                    self.dims[index].get_or_insert((*value, Origin::Slot(slot)));
                }
            }
        }
        self.bind_count()?;
        self.bind_lengths()?;
        let mut dims = Vec::new();
        for (index, bound) in self.dims.iter().enumerate() {
            dims.push(match bound {
                Some((value, _)) => *value,
                None => {
                    self.check_unneeded(&self.signature.dims[index], |of| uses_dim(of, index))?;
                    0
                }
            });
        }
        Ok(dims)
    }

    fn bind_count(&mut self) -> Result<(), BindError> {
        let mut operands = self.signature.operands.iter();
        let Some((operand, index)) = operands.find_map(|o| Some((&o.array.name, o.count?))) else {
            return Ok(());
        };
        let count = self
            .slots
            .iter()
            .filter(|slot| slot.index.is_some())
            .count();
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let at = self
            .signature
            .operands
            .iter()
            .position(|o| o.count.is_some())
            .unwrap_or_default();
        match self.dims[index] {
            Some((value, _)) if value != count => {
                let why = self.dim_notes(&[&Dim::Name(index)], true);
                let message =
                    format!("argument `{operand}` must come {value} times, got {count}{why}");
                Err(BindError::new(Some(operand), message))
            }
            Some(_) => Ok(()),
            None => {
                self.dims[index] = Some((count, Origin::Count(at)));
                Ok(())
            }
        }
    }

    fn bind_lengths(&mut self) -> Result<(), BindError> {
        for (at, attribute) in self.signature.attributes.iter().enumerate() {
            let AttributeKind::Array(_, length) = &attribute.kind else {
                continue;
            };
            let (got, name) = (self.attributes[at], &attribute.name);
            let expected = match *length {
                Dim::Name(index) => {
                    self.dims[index]
                        .get_or_insert((got, Origin::Attribute(at)))
                        .0
                }
                Dim::Number(expected) => expected,
                _ => got,
            };
            if got != expected {
                let why = self.dim_notes(&[length], true);
                let message =
                    format!("attribute `{name}` must have {expected} elements, got {got}{why}");
                return Err(BindError::new(Some(name), message));
            }
        }
        Ok(())
    }

    pub(super) fn check_dims(&self, slot: usize, dims: &[i64]) -> Result<(), BindError> {
        let array = &self.signature.operands[self.slots[slot].operand].array;
        let got = self.operands[slot].dims();
        let own = &got[got.len() - array.dims.len()..];
        let mut wrong = Vec::new();
        for (dim, got) in array.dims.iter().zip(own) {
            match dim.eval(dims, self.attributes) {
                Ok(value) if value == *got => {}
                Ok(_) => wrong.push(dim),
                Err(problem) => {
                    let text = self.signature.dim_text(dim);
                    let why = self.dim_notes(&[dim], true);
                    return Err(self.fault(
                        slot,
                        &format!("cannot have dimension `{text}`, which {problem}{why}"),
                    ));
                }
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let expected = self.expected_text(slot, |dim| dim.eval(dims, self.attributes).ok());
        let why = self.dim_notes(&wrong, false);
        Err(self.fault(
            slot,
            &format!("must have shape {expected}, got {}{why}", shape_text(got)),
        ))
    }
}

fn uses_dim(array: &Array, index: usize) -> bool {
    let mut used = false;
    for dim in &array.dims {
        dim.visit(&mut |leaf| used |= *leaf == Dim::Name(index));
    }
    used
}
