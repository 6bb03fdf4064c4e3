//! What an op takes and gives, and how it is called: all that a call needs to know of it but what computes.

use xla_ffi::{Attrs, Result};

use super::attributes::{Decoded, Stored};
use crate::bind::{Plan, Sets};
use crate::names::interned;
use crate::signature::Signature;

/// On which threads the elements of a batch are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// On those of XLA's pool, where that pays.
    #[default]
    Auto,
    /// On that of the call.
    One,
}

/// What an op takes and gives.
pub(crate) struct Interface {
    pub(crate) name: &'static str,
    pub(crate) plan: Plan,
    pub(crate) threads: Threads,
    /// Whether the body is given whole batches.
    pub(crate) whole: bool,
    /// The operand that comes any number of times.
    pub(crate) many: Option<usize>,
    defaults: Vec<Option<Stored>>,
}

impl Interface {
    pub(crate) fn new(
        name: &str,
        signature: Signature,
        sets: Sets,
        threads: Threads,
        whole: bool,
    ) -> Self {
        let attributes = signature.attributes.iter();
        let defaults = attributes.map(Stored::default_of).collect();
        let mut operands = signature.operands.iter();
        Interface {
            name: interned(name),
            many: operands.position(|operand| operand.count.is_some()),
            plan: Plan::new(signature, sets),
            threads,
            whole,
            defaults,
        }
    }

    pub(crate) fn signature(&self) -> &Signature {
        self.plan.signature()
    }

    /// Takes a call's attributes, one of which says which op it means if it is `marked`.
    pub(crate) fn decode(
        &self,
        attributes: &Attrs<'_>,
        marked: bool,
        decoded: &mut Decoded,
    ) -> Result<()> {
        let known = &self.signature().attributes;
        decoded.read(known, &self.defaults, attributes, marked)
    }

    /// For each array that a body gets, whether it comes several times.
    pub(crate) fn counts(&self) -> impl Iterator<Item = bool> + '_ {
        let operands = self
            .signature()
            .operands
            .iter()
            .map(|operand| operand.count);
        let results = self.signature().results.iter().map(|result| result.count);
        let scratch = self.signature().scratch.iter().map(|_| None);
        let all = operands.chain(results).chain(scratch);
        all.map(|count| count.is_some())
    }

    /// The place of an operand among the arrays of a call in which `*k` comes `count` times.
    pub(crate) fn first_flat(&self, operand: usize, count: usize) -> usize {
        match self.many {
            Some(many) if many < operand => operand - 1 + count,
            _ => operand,
        }
    }

    /// How often that operand comes that comes several times, in a call with so many.
    pub(crate) fn count_of(&self, operands: usize) -> usize {
        match self.many {
            Some(_) => (operands + 1).saturating_sub(self.signature().operands.len()),
            None => 1,
        }
    }
}
