//! The calls that were learnt, under the registry's checks: operands stay as they are, results are
//! written in full and nothing beside them, and are the same bits every time, wherever they lie.

use xla_ffi::registry::{Checks, Debug, Registry};

use xla_ffi::DataType;

use crate::call::{make, Arena, Attr, Hosts, Spec};
use crate::learn::{self, Template};

#[test]
fn every_op_passes_the_checks() {
    ops::print::queue_output(true);
    let (mut hosts, mut arena) = (Hosts::new(), Arena::new());
    let templates = learn::templates(&mut hosts, &mut arena);
    let mut faults = Vec::new();
    for guard_pages in [false, cfg!(unix)] {
        let mut checks = Checks::default();
        // What cannot be computed is NaN.
        checks.finite = false;
        checks.guard_pages = guard_pages;
        for Template {
            target,
            handler,
            spec,
        } in templates.iter().step_by(if guard_pages { 5 } else { 1 })
        {
            // SAFETY: a handler of this program.
            let done = unsafe { Registry::global().register(target, "host", *handler, None) };
            let trampoline = done.expect("a free slot").trampoline;
            let debug = Debug::start(checks, []);
            let mut run = |spec: &Spec| make(spec, trampoline, &mut hosts, &mut arena, 0);
            let results = match run(spec) {
                Ok(results) => results,
                // Of other numbers than those that it was learnt with.
                Err(failure) if failure.message.contains("must be row numbers") => continue,
                Err(failure) => panic!("{target}: {failure}"),
            };
            if let Some(Ok(same)) = in_place(spec).map(|spec| run(&spec)) {
                assert!(same == results, "{target}: other results in place");
            }
            for other in without(spec) {
                // Refused where the letter has another meaning.
                let _ = run(&other);
            }
            let found = debug.findings();
            faults.extend(
                found
                    .iter()
                    .map(|it| format!("{target}: {}", it.text("it"))),
            );
            assert!(debug.checked() > 0);
            ops::print::drain();
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The same call with `N` for each of its letters: without vectors, for most.
fn without(spec: &Spec) -> Vec<Spec> {
    let is_letter = |attr: &Attr| matches!(attr, Attr::Scalar(DataType::U8, _));
    let letters = (0..spec.attrs.len()).filter(|&at| is_letter(&spec.attrs[at].1));
    let without = letters.map(|at| {
        let mut spec = spec.clone();
        spec.attrs[at].1 = Attr::Scalar(DataType::U8, vec![b'N']);
        spec
    });
    without.collect()
}

/// The same call with results in the memory of operands, as far as they are of one type.
fn in_place(spec: &Spec) -> Option<Spec> {
    let mut spec = spec.clone();
    let mut free: Vec<usize> = (0..spec.args.len()).collect();
    let mut any = false;
    for ret in &mut spec.rets {
        let like = |&at: &usize| {
            let arg = &spec.args[at];
            (arg.dtype, &arg.dims) == (ret.dtype, &ret.dims)
        };
        if let Some(at) = free.iter().position(like) {
            ret.alias = Some(free.remove(at));
            any = true;
        }
    }
    any.then_some(spec)
}
