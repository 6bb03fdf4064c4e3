//! Attributes in dimensions.

use super::ast::{AttributeKind, Dim, Signature};
use super::dtype::is_integer;
use super::error::{Fault, Result};
use super::parse::{Draft, Kind, Of};

/// That attributes whose names stand in dimensions are whole numbers.
fn check_uses(draft: &Draft) -> Result<()> {
    for used in draft.uses.iter().filter(|used| used.kind != Kind::Dtype) {
        let name = &draft.dims[used.index];
        let Some(attribute) = draft.attributes.iter().find(|a| a.name == *name) else {
            continue;
        };
        let what = match attribute.kind {
            AttributeKind::Scalar(dtype) if used.kind == Kind::Count && is_integer(dtype) => {
                Err("an attribute".to_string())
            }
            AttributeKind::Scalar(_) if matches!(used.of, Of::Attribute(_)) => {
                Err("an attribute".to_string())
            }
            AttributeKind::Scalar(dtype) if is_integer(dtype) => Ok(()),
            AttributeKind::Scalar(dtype) => Err(format!("an attribute of dtype {dtype}")),
            AttributeKind::Array(..) => Err("an attribute with several elements".to_string()),
            AttributeKind::Text => Err("a text".to_string()),
        };
        what.map_err(|what| match used.kind {
            Kind::Count => Fault::new(
                &used.at,
                format!("`{name}` is {what}: a count has a name of its own"),
            ),
            _ if matches!(used.of, Of::Attribute(_)) => Fault::new(
                &used.at,
                format!("`{name}` is {what}: a length has a name of its own"),
            ),
            _ => Fault::new(&used.at, format!("`{name}` is {what}, not a whole number")),
        })?;
    }
    Ok(())
}

/// Names of integer attributes in dimensions mean their values; all others are numbered anew.
pub(super) fn resolve_attributes(draft: &mut Draft) -> Result<()> {
    check_uses(draft)?;
    let attribute = |name: &str| draft.attributes.iter().position(|a| a.name == name);
    let mut map = Vec::new();
    let mut dims = Vec::new();
    for name in &draft.dims {
        map.push(attribute(name).map_or(Dim::Name(dims.len()), Dim::Attribute));
        if let Some(Dim::Name(_)) = map.last() {
            dims.push(name.clone());
        }
    }
    let renumber = |dim: &mut Dim| {
        dim.replace(&|leaf| {
            if let Dim::Name(index) = leaf {
                *leaf = map[*index].clone();
            }
        });
    };
    let recount = |count: &mut Option<usize>| {
        if let Some(index) = count {
            if let Dim::Name(new) = map[*index] {
                *index = new;
            }
        }
    };
    for operand in &mut draft.operands {
        operand.array.dims.iter_mut().for_each(renumber);
        recount(&mut operand.count);
    }
    for result in &mut draft.results {
        result.array.dims.iter_mut().for_each(renumber);
        recount(&mut result.count);
    }
    for scratch in &mut draft.scratch {
        scratch.dims.iter_mut().for_each(renumber);
    }
    for attribute in &mut draft.attributes {
        if let AttributeKind::Array(_, length) = &mut attribute.kind {
            renumber(length);
        }
    }
    draft.uses.retain_mut(|used| match (used.kind, &map[..]) {
        (Kind::Dtype, _) => true,
        (_, map) => match map[used.index] {
            Dim::Name(index) => {
                used.index = index;
                true
            }
            _ => false,
        },
    });
    draft.dims = dims;
    Ok(())
}

/// The names of a dimension that stands alone, as those of a signature.
pub(super) fn in_signature(mut dim: Dim, draft: &Draft, signature: &Signature) -> Result<Dim> {
    let mut known = Vec::new();
    for name in &draft.dims {
        let at = draft
            .uses
            .iter()
            .find(|used| draft.dims[used.index] == *name);
        let at = at.map_or(0..0, |used| used.at.clone());
        let own = signature.dims.iter().position(|own| own == name);
        let attributes = &signature.attributes;
        let attribute = attributes.iter().position(|own| own.name == *name);
        known.push(match (own, attribute) {
            (Some(index), _) => Dim::Name(index),
            (None, Some(index)) => match attributes[index].kind {
                AttributeKind::Scalar(dtype) if is_integer(dtype) => Dim::Attribute(index),
                _ => {
                    let text = format!("`{name}` is not one whole number");
                    return Err(Fault::new(&at, text));
                }
            },
            (None, None) => {
                let text = format!("`{name}` is no dimension of the signature");
                return Err(Fault::new(&at, text));
            }
        });
    }
    dim.replace(&|leaf| {
        if let Dim::Name(index) = leaf {
            *leaf = known[*index].clone();
        }
    });
    Ok(dim)
}
