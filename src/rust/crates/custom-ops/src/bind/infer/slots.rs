//! Which operand of the signature each array is.

use super::super::BindError;
use crate::signature::Signature;

/// Which operand an array is; which one, from 0, of an operand that comes several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) operand: usize,
    pub(super) index: Option<usize>,
}

/// For each of so many arrays what it is.
pub(super) fn slots(signature: &Signature, count: usize) -> Result<Vec<Slot>, BindError> {
    let operands = &signature.operands;
    let required = operands
        .iter()
        .filter(|o| !o.optional && o.count.is_none())
        .count();
    let several = operands.iter().position(|operand| operand.count.is_some());
    let most = several.map_or(operands.len(), |_| usize::MAX);
    if count < required || count > most {
        let expected = match (several, most - required) {
            (Some(_), _) => format!("at least {required}"),
            (None, 0) => format!("{required}"),
            (None, 1) => format!("{required} or {most}"),
            (None, _) => format!("{required} to {most}"),
        };
        let one = required == 1 && (most == 1 || several.is_some());
        let arguments = if one { "argument" } else { "arguments" };
        let message = format!("must have {expected} {arguments}, got {count}: {signature}");
        return Err(BindError::new(None, message));
    }
    let mut slots = Vec::with_capacity(count);
    for (operand, spec) in operands.iter().enumerate() {
        match spec.count {
            Some(_) => slots.extend((0..count - required).map(|index| Slot {
                operand,
                index: Some(index),
            })),
            None if slots.len() < count => slots.push(Slot {
                operand,
                index: None,
            }),
            None => {}
        }
    }
    Ok(slots)
}
