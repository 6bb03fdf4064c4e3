//! Batch dimensions.

use super::super::text::shape_text;
use super::super::{ArrayView, BindError};
use super::call::Call;

impl<A: ArrayView> Call<'_, A> {
    /// The batch dimensions of an operand.
    fn batch_of(&self, slot: usize) -> &[i64] {
        let array = &self.signature.operands[self.slots[slot].operand].array;
        let dims = self.operands[slot].dims();
        &dims[..dims.len() - array.dims.len()]
    }

    /// As numpy does it: aligned on the right, 1 or equal.
    pub(super) fn broadcast(&self) -> Result<Vec<i64>, BindError> {
        let mut batch: Vec<i64> = Vec::new();
        for slot in 0..self.slots.len() {
            let own = self.batch_of(slot);
            let missing = own.len().saturating_sub(batch.len());
            batch.splice(..0, std::iter::repeat(1).take(missing));
            let from = batch.len() - own.len();
            for (axis, dim) in own.iter().enumerate() {
                match (batch[from + axis], *dim) {
                    (before, dim) if before == dim || dim == 1 => {}
                    (1, dim) => batch[from + axis] = dim,
                    _ => return Err(self.no_broadcast(slot, own.len() - axis)),
                }
            }
        }
        Ok(batch)
    }

    /// `axis` counts from the right, from 1.
    fn no_broadcast(&self, slot: usize, axis: usize) -> BindError {
        let dim = |own: &[i64]| own.len().checked_sub(axis).map_or(1, |at| own[at]);
        let before = (0..slot)
            .find(|before| dim(self.batch_of(*before)) != 1)
            .unwrap_or_default();
        let what = format!(
            "has batch dimensions {}, which do not broadcast with {} of `{}`",
            shape_text(self.batch_of(slot)),
            shape_text(self.batch_of(before)),
            self.name(before)
        );
        self.fault(slot, &what)
    }

    /// What is worked on in place has the results' batch dimensions.
    pub(super) fn check_in_place(&self, batch: &[i64]) -> Result<(), BindError> {
        for (slot, of) in self.slots.iter().enumerate() {
            let mut results = self.signature.results.iter();
            let in_place = results.any(|result| result.in_place == Some(of.operand));
            if in_place
                && self.signature.operands[of.operand].array.batch
                && self.batch_of(slot) != batch
            {
                let got = shape_text(self.batch_of(slot));
                let what = format!(
                    "is worked on in place, so it must have the result's batch dimensions {}, got {got}",
                    shape_text(batch)
                );
                return Err(self.fault(slot, &what));
            }
        }
        Ok(())
    }
}
