//! A call whose types are being inferred: what is known of it so far.

use xla_ffi::DataType;

use super::super::text::named;
use super::super::{ArrayView, BindError};
use super::slots::Slot;
use crate::signature::{Array, Signature};

/// Where a named dimension got its value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    Slot(usize),
    Attribute(usize),
    Count(usize),
}

pub(super) struct Call<'a, A> {
    pub(super) signature: &'a Signature,
    pub(super) operands: &'a [A],
    pub(super) attributes: &'a [i64],
    pub(super) slots: Vec<Slot>,
    /// With the slot that it comes from.
    pub(super) dtypes: Vec<Option<(DataType, usize)>>,
    pub(super) dims: Vec<Option<(i64, Origin)>>,
}

impl<A: ArrayView> Call<'_, A> {
    pub(super) fn name(&self, slot: usize) -> String {
        let Slot { operand, index } = self.slots[slot];
        named(&self.signature.operands[operand].array.name, index)
    }

    pub(super) fn fault(&self, slot: usize, what: &str) -> BindError {
        let operand = &self.signature.operands[self.slots[slot].operand].array.name;
        BindError::new(
            Some(operand),
            format!("argument `{}` {what}", self.name(slot)),
        )
    }

    /// What is known from an operand that comes several times is not, where that comes not at all.
    pub(super) fn check_unneeded(
        &self,
        name: &str,
        uses: impl Fn(&Array) -> bool,
    ) -> Result<(), BindError> {
        let operands = self.signature.operands.iter();
        let Some(several) = operands
            .clone()
            .find(|operand| operand.count.is_some() && uses(&operand.array))
        else {
            return Ok(());
        };
        let others = operands
            .filter(|operand| operand.count.is_none())
            .map(|operand| &operand.array);
        let results = self.signature.results.iter();
        let results = results
            .filter(|result| result.count.is_none())
            .map(|result| &result.array);
        if !others
            .chain(results)
            .chain(&self.signature.scratch)
            .any(uses)
        {
            return Ok(());
        }
        let several = &several.array.name;
        let message =
            format!("argument `{several}` must come at least once: `{name}` is known from it");
        Err(BindError::new(Some(several), message))
    }
}
