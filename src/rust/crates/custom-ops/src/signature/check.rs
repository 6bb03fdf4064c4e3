//! What a signature must keep to beyond its grammar.

use core::ops::Range;

use xla_ffi::raw::nearest;

use super::ast::Signature;
use super::error::{Fault, Result};
use super::parse::{Draft, Kind, Of, Use};
use super::resolve::resolve_attributes;

pub(super) fn checked(mut draft: Draft, text: &str) -> Result<Signature> {
    names(&draft)?;
    resolve_attributes(&mut draft)?;
    counts(&draft)?;
    bound(&draft)?;
    in_place(&mut draft)?;
    batch(&draft)?;
    Ok(Signature {
        text: text.to_string(),
        operands: draft.operands,
        attributes: draft.attributes,
        results: draft.results,
        scratch: draft.scratch,
        dims: draft.dims,
        dtypes: draft.dtypes,
    })
}

/// One name, one thing: all become variables and types of the body.
fn names(draft: &Draft) -> Result<()> {
    let mut known: Vec<(&str, &'static str)> = Vec::new();
    let mut add = |name, what, at: &Range<usize>| {
        let at = at.start..at.start + str::len(name);
        match known.iter().find(|(known, _)| *known == name) {
            Some((_, "operand")) if what == "result" => Ok(()),
            Some((_, before)) if *before == what => {
                Err(Fault::new(&at, format!("there are two {what}s `{name}`")))
            }
            Some((_, before)) => {
                let message = format!("`{name}` is {} {before} already", article(before));
                Err(Fault::new(&at, message))
            }
            None => {
                known.push((name, what));
                Ok(())
            }
        }
    };
    for operand in &draft.operands {
        add(&operand.array.name, "operand", &operand.array.at)?;
    }
    for attribute in &draft.attributes {
        add(&attribute.name, "attribute", &attribute.at)?;
    }
    for (index, result) in draft.results.iter().enumerate() {
        let (name, at) = (&result.array.name, result.array.at.start);
        let mut before = draft.results[..index].iter();
        // One that is worked on in place is an operand, too.
        if before.any(|before| before.array.name == *name) {
            let at = at..at + name.len();
            return Err(Fault::new(&at, format!("there are two results `{name}`")));
        }
        add(name, "result", &result.array.at)?;
    }
    for scratch in &draft.scratch {
        add(&scratch.name, "scratch array", &scratch.at)?;
    }
    let mut seen = Vec::new();
    for used in &draft.uses {
        let (name, what) = match used.kind {
            Kind::Dtype => (&draft.dtypes[used.index], "dtype"),
            Kind::Dim | Kind::Count => (&draft.dims[used.index], "dimension"),
        };
        // Attributes in dimensions are looked at later.
        let attribute = what == "dimension" && draft.attributes.iter().any(|a| a.name == *name);
        if !attribute && !seen.contains(&(name, what)) {
            seen.push((name, what));
            add(name, what, &used.at)?;
        }
    }
    Ok(())
}

fn article(what: &str) -> &'static str {
    match what.starts_with(['a', 'o']) {
        true => "an",
        false => "a",
    }
}

/// Optional operands are last; one operand at most comes several times.
fn counts(draft: &Draft) -> Result<()> {
    let mut optional: Option<&str> = None;
    let mut several: Option<&str> = None;
    for operand in &draft.operands {
        let (name, at) = (operand.array.name.as_str(), &operand.array.at);
        match (optional, operand.optional) {
            (Some(before), false) if operand.count.is_none() => {
                let fault = Fault::new(
                    at,
                    format!("`{name}` stands behind `{before}`, which may be left out"),
                );
                return Err(fault.hint(format!(
                    "Optional operands are last: move `{name}`, or write `?` behind it too."
                )));
            }
            (None, true) => optional = Some(name),
            _ => {}
        }
        if operand.count.is_some() {
            if operand.optional {
                let fault = Fault::new(
                    at,
                    format!("`{name}` comes any number of times, and so is never left out"),
                );
                return Err(fault.hint("Leave out `?`."));
            }
            if let Some(before) = several.replace(name) {
                let fault = Fault::new(
                    at,
                    format!("`{before}` and `{name}` both come any number of times"),
                );
                return Err(fault.hint(
                    "Only one operand can: how often is told by how many arrays there are.",
                ));
            }
        }
        if let (Some(optional), Some(several)) = (optional, several) {
            let message = format!(
                "how often `{several}` comes is not known where `{optional}` may be left out"
            );
            return Err(Fault::new(at, message));
        }
    }
    let count = draft.operands.iter().find_map(|operand| operand.count);
    let mut counted = draft.results.iter().filter(|result| result.count.is_some());
    let Some(result) = counted.find(|result| result.count != count) else {
        return Ok(());
    };
    let name = &draft.dims[result.count.unwrap_or_default()];
    let fault = Fault::new(
        &result.array.at,
        format!("`{name}` is not how often an operand comes"),
    );
    Err(fault.hint("A result comes as often as the operand with the same `*` and name."))
}

/// What results and scratch memory name is known from what is always given.
fn bound(draft: &Draft) -> Result<()> {
    for used in &draft.uses {
        let same = |other: &&Use| {
            (other.kind == Kind::Dtype) == (used.kind == Kind::Dtype) && other.index == used.index
        };
        let binds = |other: &&Use| {
            let given = matches!(other.of, Of::Operand(_))
                || (matches!(other.of, Of::Attribute(_)) && other.kind != Kind::Dtype);
            other.alone && given
        };
        let (name, dtype) = match used.kind {
            Kind::Dtype => (&draft.dtypes[used.index], true),
            _ => (&draft.dims[used.index], false),
        };
        let mut binders = draft.uses.iter().filter(same).filter(binds).peekable();
        if binders.peek().is_none() {
            return Err(unbound(draft, used.index, dtype, &used.at));
        }
        let optional = |other: &Use| match other.of {
            Of::Operand(index) => draft.operands[index].optional,
            _ => false,
        };
        let needed = match used.of {
            Of::Result(_) | Of::Scratch => true,
            Of::Operand(index) => !draft.operands[index].optional,
            Of::Attribute(_) => false,
        };
        if needed && binders.all(optional) {
            let operand = draft
                .uses
                .iter()
                .filter(same)
                .find(binds)
                .map(|other| other.of);
            let operand = match operand {
                Some(Of::Operand(index)) => draft.operands[index].array.name.as_str(),
                _ => "",
            };
            let message = format!("`{name}` is not known where `{operand}` is left out");
            return Err(Fault::new(&used.at, message));
        }
    }
    Ok(())
}

fn unbound(draft: &Draft, index: usize, dtype: bool, at: &Range<usize>) -> Fault {
    let (names, name) = match dtype {
        true => (&draft.dtypes, &draft.dtypes[index]),
        false => (&draft.dims, &draft.dims[index]),
    };
    let binds = |other: usize| {
        draft.uses.iter().any(|used| {
            let given = matches!(used.of, Of::Operand(_) | Of::Attribute(_));
            (used.kind == Kind::Dtype) == dtype && used.index == other && used.alone && given
        })
    };
    let known: Vec<&str> = (0..names.len())
        .filter(|other| binds(*other))
        .map(|other| names[other].as_str())
        .collect();
    let fault = Fault::new(at, format!("`{name}` is not known from any operand"));
    match nearest(name, &known) {
        Some(near) => fault.hint(format!("Did you mean `{near}`?")),
        None if dtype => fault.hint("A dtype is known where it stands alone, as `T` in `x: T[n]`."),
        None => fault.hint("A dimension is known where it stands alone in an operand, as `n` in `x: T[n]`, or as an attribute's length."),
    }
}

/// An operand and a result of one name are one array.
fn in_place(draft: &mut Draft) -> Result<()> {
    for result in &mut draft.results {
        let name = &result.array.name;
        let Some(index) = draft
            .operands
            .iter()
            .position(|operand| operand.array.name == *name)
        else {
            continue;
        };
        let operand = &draft.operands[index];
        let (a, b) = (&operand.array, &result.array);
        let same =
            a.dtype == b.dtype && a.dims == b.dims && a.batch == b.batch && a.order == b.order;
        if !same || operand.count != result.count {
            let fault = Fault::new(
                &result.array.at,
                format!("`{name}` is an operand of another type"),
            );
            return Err(fault.hint(
                "An operand and a result of one name are the same array, worked on in place: give both one type, or the result another name.",
            ));
        }
        if operand.optional {
            let message = format!("`{name}` may be left out, so it cannot be worked on in place");
            return Err(Fault::new(&result.array.at, message));
        }
        result.in_place = Some(index);
    }
    Ok(())
}

/// The body is called per batch element, so all results have batch dimensions, or none has.
fn batch(draft: &Draft) -> Result<()> {
    let operand = draft.operands.iter().find(|operand| operand.array.batch);
    for result in &draft.results {
        let name = &result.array.name;
        match operand {
            Some(operand) if !result.array.batch => {
                let message = format!(
                    "`{name}` has no batch dimensions, but `{}` has",
                    operand.array.name
                );
                let fault = Fault::new(&result.array.at, message);
                return Err(fault.hint(format!("Write `...` first in the brackets of `{name}`.")));
            }
            None if result.array.batch => {
                let message = format!("`{name}` has batch dimensions, but no operand has");
                let fault = Fault::new(&result.array.at, message);
                return Err(
                    fault.hint("Brackets that are left out mean `[...]`; `[]` is a scalar.")
                );
            }
            _ => {}
        }
    }
    Ok(())
}
