//! Checks and profiles of custom calls.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pjrt::{custom_calls, CustomCall};
use xla_ffi::registry::{Checks, Debug, Finding, Profile};
use xla_ffi::{FieldKind, OperandKind};

use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::texts;
use crate::r::pointer::{class, get, wrap};
use crate::r::value::{named, Value};

class!(Debug, c"xlaffi_debug", "checks of custom calls");
class!(Profile, c"xlaffi_profiling", "a profile of custom calls");

routines! {
    // Begins to check calls; `once` are targets whose handlers are run once.
    fn debug_start(names, once) {
        let once = texts(once).into_iter().flatten().map(str::to_owned);
        Ok(wrap(Debug::start(checks(&texts(names))?, once)))
    }

    // Ends that. How many calls are still being checked.
    fn debug_stop(debug) {
        let debug: &Debug = get(debug, "debug")?;
        debug.stop();
        Ok(Value::from(debug.running() as i32))
    }

    // What was found since the last time, as the columns of a data frame; and how many calls there were.
    fn debug_findings(debug) {
        let debug: &Debug = get(debug, "debug")?;
        let mut findings = debug.take_findings();
        findings.iter_mut().for_each(lay_out);
        Ok(named! {
            columns = columns(&findings),
            checked = debug.checked() as f64,
        })
    }

    // Begins to count and time calls.
    fn profile_start() {
        Ok(wrap(Profile::start()))
    }

    // Ends that: the columns of a data frame.
    fn profile_stop(profile) {
        let profile: &Profile = get(profile, "profile")?;
        profile.stop();
        let rows = profile.rows();
        let text = |of: fn(&xla_ffi::registry::Row) -> &str| -> Vec<String> {
            rows.iter().map(|row| of(row).to_owned()).collect()
        };
        let numbers = |of: fn(&xla_ffi::registry::Row) -> f64| {
            Value::Numbers(rows.iter().map(of).collect())
        };
        Ok(named! {
            target = text(|row| &row.target),
            platform = text(|row| &row.platform),
            calls = numbers(|row| row.calls as f64),
            errors = numbers(|row| row.errors as f64),
            total = numbers(|row| row.total.as_secs_f64()),
            mean = numbers(|row| row.total.as_secs_f64() / row.calls as f64),
            min = numbers(|row| row.min.as_secs_f64()),
            max = numbers(|row| row.max.as_secs_f64()),
            bytes_in = numbers(|row| row.bytes_in as f64),
            bytes_out = numbers(|row| row.bytes_out as f64),
            threads = numbers(|row| f64::from(row.threads)),
        })
    }
}

fn checks(names: &[Option<&str>]) -> Outcome<Checks> {
    let mut checks = Checks::none();
    for name in names.iter().flatten() {
        let place = match *name {
            "bounds" => &mut checks.bounds,
            "operands" => &mut checks.operands,
            "unwritten" => &mut checks.unwritten,
            "repeat" => &mut checks.repeat,
            "alignment" => &mut checks.alignment,
            "aliasing" => &mut checks.aliasing,
            "finite" => &mut checks.finite,
            "guard_pages" if cfg!(unix) => &mut checks.guard_pages,
            other => {
                let text = format!("there is no check \"{other}\" on this system");
                return Err(Failure::argument("checks", text));
            }
        };
        *place = true;
    }
    Ok(checks)
}

fn columns(findings: &[Finding]) -> Value {
    let texts = |of: fn(&Finding) -> Option<String>| -> Vec<Option<String>> {
        findings.iter().map(of).collect()
    };
    let counts = |of: fn(&Finding) -> f64| Value::Numbers(findings.iter().map(of).collect());
    let index = findings.iter().map(|finding| {
        let index = finding.index().unwrap_or_default();
        let index = index.into_iter().map(|at| at as f64).collect();
        (String::new(), Value::Numbers(index))
    });
    named! {
        target = texts(|finding| Some(public(&finding.target).to_owned())),
        platform = texts(|finding| Some(finding.platform.clone())),
        kind = texts(|finding| Some(finding.kind.name().to_owned())),
        role = texts(|finding| finding.operand.map(|(kind, _)| role(kind).to_owned())),
        operand = texts(|finding| {
            let (kind, index) = finding.operand?;
            Some(field(&finding.target, kind, index).unwrap_or_else(|| (index + 1).to_string()))
        }),
        dtype = texts(|finding| finding.operand.map(|_| finding.dtype.to_string())),
        shape = texts(|finding| {
            let dims: Vec<String> = finding.dims.iter().map(i64::to_string).collect();
            finding.operand.map(|_| format!("({})", dims.join(",")))
        }),
        index = Value::List(index.collect()),
        expected = texts(|finding| finding.expected.clone()),
        got = texts(|finding| finding.got.clone()),
        count = counts(|finding| finding.count as f64),
        calls = counts(|finding| finding.calls as f64),
        text = texts(|finding| Some(finding.text(&label(finding)))),
    }
}

fn role(kind: OperandKind) -> &'static str {
    match kind {
        OperandKind::Result => "result",
        OperandKind::Scratch => "scratch",
        _ => "operand",
    }
}

/// "operand `a`", or "operand 1" where names are not known.
fn label(finding: &Finding) -> String {
    let Some((kind, index)) = finding.operand else {
        return String::new();
    };
    let what = match kind {
        OperandKind::Scratch => "scratch memory",
        kind => role(kind),
    };
    match field(&finding.target, kind, index) {
        Some(name) => format!("{what} `{name}`"),
        None => format!("{what} {}", index + 1),
    }
}

fn public(target: &str) -> &str {
    target.strip_prefix(ops::PRIVATE).unwrap_or(target)
}

/// The name that an op, of ours or of the user's own, has for an operand.
fn field(target: &str, kind: OperandKind, index: usize) -> Option<String> {
    let Some(op) = ops::named(target) else {
        return own_field(target, kind, index);
    };
    let field = match kind {
        OperandKind::Result => op.results().nth(index),
        // Ops of ours take it as they go along.
        OperandKind::Scratch => None,
        _ => op.operands().nth(index),
    }?;
    let one = matches!(
        field.kind,
        FieldKind::Argument { .. } | FieldKind::Result { .. }
    );
    one.then(|| field.name.to_owned())
}

/// `x`, or `xs[2]` of an operand that comes several times, where nothing comes after it.
fn own_field(target: &str, kind: OperandKind, index: usize) -> Option<String> {
    let op = custom_ops::registered(target)?;
    let signature = op.signature();
    let fields: Vec<_> = match kind {
        OperandKind::Scratch => {
            let scratch = signature.scratch.iter();
            scratch.map(|array| (&array.name, None)).collect()
        }
        OperandKind::Result => {
            let results = signature.results.iter();
            results.map(|it| (&it.array.name, it.count)).collect()
        }
        _ => {
            let operands = signature.operands.iter();
            operands.map(|it| (&it.array.name, it.count)).collect()
        }
    };
    let many = fields.iter().position(|(_, count)| count.is_some());
    match many {
        Some(many) if index >= many => {
            let name = fields[many].0;
            (many + 1 == fields.len()).then(|| format!("{name}[{}]", index - many + 1))
        }
        _ => fields.get(index).map(|(name, _)| (*name).clone()),
    }
}

/// By target, operand or result, its position and rank: the dimensions, the fastest first. `None`
/// where programs differ.
type Layouts = HashMap<(String, OperandKind, usize, usize), Option<Vec<usize>>>;

static LAYOUTS: Mutex<Option<Layouts>> = Mutex::new(None);

/// Remembers what programs say of their custom calls and call frames do not: which have side
/// effects, and how arrays lie in memory.
pub fn look_at_program(code: &[u8]) {
    let Ok(text) = std::str::from_utf8(code) else {
        return;
    };
    let mut layouts = LAYOUTS.lock().unwrap_or_else(PoisonError::into_inner);
    let layouts = layouts.get_or_insert_with(HashMap::new);
    for CustomCall {
        target,
        has_side_effect,
        operands,
        results,
    } in custom_calls(text)
    {
        if has_side_effect {
            xla_ffi::registry::Registry::global().has_side_effect(target);
        }
        let all = [
            (OperandKind::Argument, operands),
            (OperandKind::Result, results),
        ];
        for (kind, all) in all {
            for (index, layout) in all.into_iter().enumerate() {
                let key = (public(target).to_owned(), kind, index, layout.len());
                match layouts.get_mut(&key) {
                    Some(known) if known.as_ref() == Some(&layout) => {}
                    Some(known) => *known = None,
                    None => drop(layouts.insert(key, Some(layout))),
                }
            }
        }
    }
}

fn lay_out(finding: &mut Finding) {
    let Some((kind, index)) = finding.operand else {
        return;
    };
    let layouts = LAYOUTS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (
        public(&finding.target).to_owned(),
        kind,
        index,
        finding.dims.len(),
    );
    let known = layouts.as_ref().and_then(|layouts| layouts.get(&key));
    finding.minor_to_major = known.cloned().flatten();
}
