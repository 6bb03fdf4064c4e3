//! Where the values in an error come from.

use super::super::ArrayView;
use super::call::{Call, Origin};
use crate::signature::Dim;

impl<A: ArrayView> Call<'_, A> {
    /// `(..., 3, n)`: what has no value stands as it is written.
    pub(super) fn expected_text(&self, slot: usize, value: impl Fn(&Dim) -> Option<i64>) -> String {
        let array = &self.signature.operands[self.slots[slot].operand].array;
        let dims = array.dims.iter().map(|dim| match value(dim) {
            Some(value) => value.to_string(),
            None => self.signature.dim_text(dim),
        });
        let dims: Vec<String> = array
            .batch
            .then(|| "...".to_string())
            .into_iter()
            .chain(dims)
            .collect();
        format!("({})", dims.join(", "))
    }

    /// ` (`2*n` is 6, `n` is 3 in `x`)`; with `bare` without the values of expressions.
    pub(super) fn dim_notes(&self, dims: &[&Dim], bare: bool) -> String {
        let mut notes: Vec<String> = Vec::new();
        let mut add = |note: String| {
            if !notes.contains(&note) {
                notes.push(note);
            }
        };
        let values: Vec<i64> = self
            .dims
            .iter()
            .map(|bound| bound.map_or(0, |(value, _)| value))
            .collect();
        for dim in dims {
            let leaf = matches!(dim, Dim::Name(_) | Dim::Number(_) | Dim::Attribute(_));
            if let (false, false, Ok(value)) = (leaf, bare, dim.eval(&values, self.attributes)) {
                add(format!("`{}` is {value}", self.signature.dim_text(dim)));
            }
            dim.visit(&mut |leaf| match *leaf {
                Dim::Name(index) => {
                    if let Some((value, origin)) = self.dims[index] {
                        add(self.dim_note(&self.signature.dims[index], value, origin));
                    }
                }
                Dim::Attribute(index) => {
                    let name = &self.signature.attributes[index].name;
                    add(format!("`{name}` is {}", self.attributes[index]));
                }
                _ => {}
            });
        }
        in_parentheses(notes)
    }

    fn dim_note(&self, name: &str, value: i64, origin: Origin) -> String {
        match origin {
            Origin::Slot(slot) => format!("`{name}` is {value} in `{}`", self.name(slot)),
            Origin::Attribute(at) => {
                format!(
                    "`{name}` is {value}, the length of `{}`",
                    self.signature.attributes[at].name
                )
            }
            Origin::Count(at) => {
                let operand = &self.signature.operands[at].array.name;
                format!("`{name}` is {value}, as often as `{operand}` comes")
            }
        }
    }
}

pub(super) fn in_parentheses(notes: Vec<String>) -> String {
    match notes.is_empty() {
        true => String::new(),
        false => format!(" ({})", notes.join(", ")),
    }
}
