//! A handler that a user brings: an external pointer, of which little is known before it is called.

mod barrier;
mod library;
mod trial;

use std::ffi::c_void;

use extendr_api::prelude::*;
use extendr_ffi::{R_ExternalPtrAddr, R_ExternalPtrTag, Rf_install};
use xla_ffi::registry::{Handlers, Registry};
use xla_ffi::{sys, HandlerFn};

use crate::r::failure::{Failure, Outcome};
use crate::r::object::described;
pub use barrier::BARRIER;
pub use library::Library;
use trial::Trial;

/// A pointer that may be a handler's, and for which name.
pub struct Handler<'a> {
    function: HandlerFn,
    target: &'a str,
    platform: &'a str,
}

impl<'a> Handler<'a> {
    /// The function behind an external pointer, as far as that can be checked by looking at it.
    pub fn of(pointer: &Robj, target: &'a str, platform: &'a str) -> Outcome<Self> {
        let refuse = |what: &str| Err(refused(target, platform, what));
        if pointer.rtype() != Rtype::ExternalPtr {
            return refuse(&format!(
                "must be an external pointer, not {}",
                described(pointer)
            ));
        }
        // SAFETY: the type was checked.
        let (address, tag) = unsafe {
            let sexp = pointer.get();
            (R_ExternalPtrAddr(sexp), R_ExternalPtrTag(sexp))
        };
        if address.is_null() {
            return refuse("is a NULL pointer");
        }
        // SAFETY: R's thread; symbols are unique.
        if tag == unsafe { Rf_install(c"registered native symbol".as_ptr()) } {
            let what = "is R's description of a routine and not a function";
            return refuse(what).map_err(|failure: Failure| {
                failure.hint(
                    "Return `R_MakeExternalPtrFn()` of the handler from a C function instead.",
                )
            });
        }
        if is_code(address as usize) == Some(false) {
            return refuse("does not point to a function").map_err(|failure: Failure| {
                failure.hint("Some packages' pointers point to a variable that holds the function.")
            });
        }
        let own = Registry::global().lookup(target, platform);
        if own.is_some_and(|own| own as usize == address as usize) {
            return refuse("is what `ffi_handler()` gave for this very name");
        }
        // SAFETY: the user says that this address is a handler; that it is code was looked at.
        let function = unsafe { std::mem::transmute::<*mut c_void, HandlerFn>(address) };
        Ok(Handler {
            function,
            target,
            platform,
        })
    }

    /// Whether it answers XLA's question for its version, tried where it can do no harm.
    pub fn check(&self) -> Outcome<()> {
        let refuse = |what: &str| {
            let failure = refused(self.target, self.platform, what);
            Err(failure.hint(
                "A handler is made by `XLA_FFI_DEFINE_HANDLER_SYMBOL()` of XLA's C++ header, or by \
                 `xla_ffi::handler` of the Rust crate.",
            ))
        };
        if library::is_ours(self.function as usize) {
            return Ok(());
        }
        match trial::of(self.function) {
            Trial::Answered | Trial::Impossible => Ok(()),
            Trial::Silent => refuse(
                "is not an XLA FFI handler: it does not answer XLA's question for its version",
            ),
            Trial::Crashed => {
                refuse("is not an XLA FFI handler: it crashed when it was asked for its version")
            }
            Trial::Hung => {
                refuse("is not an XLA FFI handler: it hung when it was asked for its version")
            }
        }
    }
}

/// What is registered for instantiate, prepare, initialize and execute: functions, behind the barrier,
/// and their libraries kept in use. And a library's file where that is not the one that is in use.
pub fn handlers(stages: [Option<Handler<'_>>; 4]) -> (Handlers, Option<String>) {
    let functions = stages.map(|stage| stage.map(|handler| handler.function));
    let [instantiate, prepare, initialize, execute] = functions;
    let handlers = Handlers::from(sys::XLA_FFI_Handler_Bundle {
        instantiate,
        prepare,
        initialize,
        execute,
    });
    let addresses = functions
        .into_iter()
        .flatten()
        .map(|function| function as usize);
    let foreign: Vec<usize> = addresses
        .filter(|&address| !library::is_ours(address))
        .collect();
    if foreign.is_empty() {
        return (handlers, None);
    }
    let (mut libraries, mut changed) = (Vec::new(), None);
    for address in foreign {
        if let Some((library, other)) = Library::holding(address) {
            libraries.push(library);
            changed = changed.or(other);
        }
    }
    (
        handlers.behind(&barrier::BARRIER).keeping(libraries),
        changed,
    )
}

fn refused(target: &str, platform: &str, what: &str) -> Failure {
    Failure {
        op: Some(target.to_string()),
        ..Failure::argument(
            "handler",
            format!("the handler of \"{target}\" for platform {platform} {what}"),
        )
    }
}

/// Whether the memory at an address may be executed; `None` where the system does not tell.
fn is_code(address: usize) -> Option<bool> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let holds = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        (start..end)
            .contains(&address)
            .then(|| rest.as_bytes().get(2) == Some(&b'x'))
    };
    Some(maps.lines().find_map(holds).unwrap_or(false))
}
