//! Custom calls by name: registering them, listing them and passing them on to plugins.

use std::ffi::c_void;
use std::time::Duration;

use extendr_ffi::{R_MakeExternalPtr, R_NilValue, SET_VECTOR_ELT, SEXP};
use ops::Entry as Op;
use xla_ffi::registry::{canonical_platform, Entry, Registry, Withdrawn};
use xla_ffi::sys::XLA_FFI_Handler_Bundle;
use xla_ffi::FieldInfo;

use crate::custom::code::code_of;
use crate::custom::handler::{handlers, Handler};
use crate::custom::op::row;
use crate::host::other_hosts::OURS;
use crate::host::other_hosts::{note_taken, second_name};
use crate::host::plugin::{catch_exceptions_of_plugins, PluginObject};
use crate::host::printed::take_charge;
use crate::r::argument::elements;
use crate::r::entry::routines;
use crate::r::failure::Failure;
use crate::r::object::{borrowed, is_null, text};
use crate::r::pointer::{class, get, wrap};
use crate::r::protected::Protected;
use crate::r::unwind::protect;
use crate::r::value::{named, IntoSexp, Value};
use crate::runtime::attend::serve_in_plugin;
use crate::runtime::serve::serve_waiting;

/// A routine of LAPACK and one of BLAS in what R is linked to, which the package's link line has.
#[cfg(unix)]
fn linked_lapack() -> [*mut c_void; 2] {
    extern "C" {
        fn dgetrf_();
        fn dtrsm_();
    }
    [dgetrf_ as *mut c_void, dtrsm_ as *mut c_void]
}

/// Handlers that were withdrawn, and calls of them that still run.
struct WithdrawnObject(Withdrawn);

class!(WithdrawnObject, c"xlaffi_withdrawn", "withdrawn handlers");

routines! {
    // Registers our ops and takes charge of what they print. Called when the package is loaded.
    fn start() {
        lapack::look_in(pjrt_jaxlib::packages);
        #[cfg(unix)]
        lapack::linked_to(linked_lapack);
        pjrt_jaxlib::mesh::compare_code_by(code_of);
        take_charge();
        serve_in_plugin();
        catch_exceptions_of_plugins();
        for op in ops::table() {
            for &(platform, handler) in op.handlers {
                for target in [op.target, &format!("{}{}", ops::PRIVATE, op.target)] {
                    let stages = op.stages.filter(|_| platform == "host");
                    let handlers = stages.map_or(handler.into(), |stages| stages().into());
                    let registry = Registry::global();
                    // SAFETY: handlers of this library, which stays loaded.
                    unsafe { registry.register_handlers(target, platform, handlers, Some(OURS)) }?;
                }
            }
        }
        Ok(())
    }

    // Looks at a handler without registering it.
    fn handler_check(pointer, target: &str, platform: &str) {
        Handler::of(pointer, target, platform)?.check()
    }

    // Registers a handler: a list of its functions for instantiate, prepare, initialize and execute,
    // NULL where there is none. The package that had the name before ("" for none), NULL if it was
    // free; and the library's path, where the file is no longer the one in memory.
    fn registry_register(target: &str, platform: &str, stages, package) {
        let mut functions = [None, None, None, None];
        for (function, stage) in functions.iter_mut().zip(elements(stages)) {
            // SAFETY: an element of a list that R protects during the call.
            let stage = unsafe { borrowed(&stage) };
            if !is_null(stage) {
                *function = Some(Handler::of(stage, target, platform)?);
            }
        }
        let (handlers, changed) = handlers(functions);
        let registry = Registry::global();
        // SAFETY: the user says that it is a handler, and it was tried; its library is kept.
        let done = unsafe { registry.register_handlers(target, platform, handlers, text(package)) };
        let replaced = done.map_err(|error| Failure {
            op: Some(target.to_string()),
            ..Failure::from(error)
        })?;
        let replaced = replaced
            .replaced
            .map(|replaced| replaced.owner.unwrap_or_default());
        Ok(named! { replaced = replaced, changed = changed })
    }

    // Withdraws a handler: how many there were (0 or 1), and what to wait for.
    fn registry_withdraw(target: &str, platform: &str) {
        Ok(withdrawn(Registry::global().withdraw(target, platform)))
    }

    // Withdraws all handlers of a package.
    fn registry_forget(package: &str) {
        Ok(withdrawn(Registry::global().withdraw_owner(package)))
    }

    // How many calls of withdrawn handlers are still running, after so many seconds at most.
    fn withdrawn_wait(calls, seconds: f64) {
        let WithdrawnObject(calls) = get(calls, "calls")?;
        let limit = Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
        // A handler may need Python's lock, which reticulate makes R's thread keep.
        pjrt_jaxlib::python::blocking(|| calls.wait_timeout(limit));
        // Or R.
        serve_waiting();
        Ok(Value::from(calls.running() as i32))
    }

    // An external pointer to the function that hosts register.
    fn registry_handler(target: &str, platform: &str) {
        match Registry::global().lookup(target, platform) {
            // SAFETY: R's thread; a trampoline is a function of this library, which stays loaded.
            Some(handler) => Ok(unsafe {
                protect(|| R_MakeExternalPtr(handler as *mut c_void, R_NilValue, R_NilValue))
            }),
            None => {
                let platforms: Vec<String> = active()
                    .into_iter()
                    .filter(|entry| entry.target == target)
                    .map(|entry| entry.platform)
                    .collect();
                let failure = Failure {
                    code: "NOT_FOUND",
                    op: Some(target.to_string()),
                    ..Failure::argument(
                        "target",
                        format!("there is no custom call \"{target}\" for platform {platform}"),
                    )
                };
                Err(match platforms.is_empty() {
                    true => failure.hint("`ffi_targets()` lists all custom calls."),
                    false => failure.hint(format!("It is there for: {}.", platforms.join(", "))),
                })
            }
        }
    }

    // Registers with a plugin what it does not have yet: one target, or all (NULL). What the plugin
    // refused, by name.
    fn plugin_pass_on(plugin, target) {
        let object: &PluginObject = get(plugin, "plugin")?;
        let platform = canonical_platform(&object.platform);
        // Our own plugin asks our registry for the other stages.
        let all_stages = object.plugin.is(pjrt_jaxlib::GetPjrtApi());
        let mut refused = Vec::new();
        if platform == "cuda" {
            let host = active().into_iter().filter(|entry| entry.platform == "host");
            for entry in host.filter(|entry| text(target).map_or(true, |name| name == entry.target)) {
                let owner = entry.owner.as_deref();
                match custom_ops::registered(&entry.target) {
                    Some(_) => custom_ops::refuse_on_cuda(&entry.target, owner)?,
                    // Handlers of others are theirs to write.
                    None if owner == Some(OURS) => custom_ops::refuse_target_on_cuda(&entry.target, owner)?,
                    None => {}
                }
            }
        }
        let mut passed = object.passed.borrow_mut();
        for entry in active() {
            let wanted = text(target).map_or(true, |name| name == entry.target);
            if !wanted || entry.platform != platform || passed.contains(&entry.target) {
                continue;
            }
            let Some(handler) = Registry::global().lookup(&entry.target, &platform) else {
                continue;
            };
            let register = |name: &str| {
                // SAFETY: a trampoline is a handler and a function of this library, which is never unloaded.
                unsafe { object.plugin.register_ffi_handler(name, &platform, handler as *const c_void) }
            };
            let register = |name: &str| {
                let stages = Registry::global()
                    .lookup_bundle(&entry.target, &platform)
                    .filter(|stages| !all_stages && has_stages(stages));
                let Some(stages) = stages else {
                    return register(name);
                };
                // SAFETY: trampolines are handlers of this library, which is never unloaded.
                let outcome = unsafe { object.plugin.register_ffi_stages(name, &platform, stages) };
                // Own ops do without.
                match outcome {
                    Err(error) if error.code() == pjrt::Code::UNIMPLEMENTED && custom_ops::registered(&entry.target).is_some() => register(name),
                    outcome => outcome,
                }
            };
            let outcome = register(&entry.target)
                .or_else(|error| {
                    // Another host's handler came first.
                    register(&second_name(&entry.target)).map_err(|_| error)?;
                    note_taken(&object.platform, &entry.target);
                    Ok(())
                })
                .map_err(|error: pjrt::Error| [error.code().name().to_owned(), error.message().to_owned()]);
            match outcome {
                Ok(()) => {
                    passed.insert(entry.target);
                }
                Err(error) => {
                    refused.push((entry.target, Value::Texts(error.map(Some).into())));
                }
            }
        }
        Ok(Value::List(refused))
    }

    // All targets, as the columns of a data frame.
    fn registry_list() {
        let mut entries = active();
        entries.sort_unstable_by(|a, b| (&a.target, &a.platform).cmp(&(&b.target, &b.platform)));
        let mut targets: Vec<Vec<Entry>> = Vec::new();
        for entry in entries {
            match targets.last_mut() {
                Some(rows) if rows[0].target == entry.target => rows.push(entry),
                _ => targets.push(vec![entry]),
            }
        }
        let column = |value: fn(&[Entry]) -> Option<String>| -> Vec<Option<String>> {
            targets.iter().map(|rows| value(rows)).collect()
        };
        let own_rows: Vec<Option<[String; 4]>> = targets
            .iter()
            .map(|rows| custom_ops::registered(&rows[0].target).map(|op| row(&op)))
            .collect();
        let described = |at: usize, of: fn(&Op) -> String| -> Vec<Option<String>> {
            let own = |row: &Option<[String; 4]>| row.as_ref().map(|row| row[at].clone());
            let rows = targets.iter().zip(&own_rows);
            rows.map(|(rows, row)| op(rows).map(of).or_else(|| own(row))).collect()
        };
        Ok(named! {
            target = column(|rows| Some(rows[0].target.clone())),
            platforms = column(|rows| {
                let names: Vec<&str> = rows.iter().filter(|row| runs(row)).map(|row| &*row.platform).collect();
                Some(names.join(", "))
            }),
            operands = described(0, |op| names(op.operands())),
            results = described(1, |op| names(op.results())),
            attributes = described(2, |op| names(op.attributes())),
            dtypes = described(3, |op| {
                let names: Vec<&str> = op.dtypes.iter().map(|dtype| dtype.name()).collect();
                names.join(", ")
            }),
            package = column(|rows| rows[0].owner.clone()),
        })
    }
}

/// Whether XLA is to call a handler in other stages than the one in which it executes.
fn has_stages(bundle: &XLA_FFI_Handler_Bundle) -> bool {
    let others = [bundle.instantiate, bundle.prepare, bundle.initialize];
    others.iter().any(Option::is_some)
}

/// How many there were, and what waits for their calls: an R object, not protected.
fn withdrawn(withdrawn: Withdrawn) -> SEXP {
    let count = withdrawn.count() as i32;
    let parts = named! { count = count, calls = () };
    // SAFETY: R's thread; the list is protected while its second element is made.
    unsafe {
        let parts = Protected::new(parts.into_sexp());
        SET_VECTOR_ELT(parts.sexp(), 1, wrap(WithdrawnObject(withdrawn)));
        parts.sexp()
    }
}

/// The op of ours behind a target, unless somebody else registered the name for one of its platforms.
fn op(rows: &[Entry]) -> Option<&'static Op> {
    let ours = rows
        .iter()
        .all(|entry| entry.owner.as_deref() == Some(OURS));
    ours.then(|| ops::named(&rows[0].target)).flatten()
}

fn names<'a>(fields: impl Iterator<Item = &'a FieldInfo>) -> String {
    let names: Vec<&str> = fields.map(|field| field.name).collect();
    names.join(", ")
}

/// Whether a handler does more than to say that it is for another platform.
fn runs(entry: &Entry) -> bool {
    let ours = || ops::named(&entry.target).filter(|_| entry.owner.as_deref() == Some(OURS));
    custom_ops::runs(&entry.target, &entry.platform)
        && ours().map_or(true, |op| op.handler(&entry.platform).is_some())
}

fn active() -> Vec<Entry> {
    let mut entries = Registry::global().list();
    entries.retain(|entry| entry.active);
    entries
}
