//! The functions that R calls: how they are written, how they are told to R.
//!
//! Each runs under [`guard`], so an error or a panic reaches R as data and is raised there, and a
//! jump of R's leaves nothing behind. extendr's own `#[extendr]` does neither, and keeps each object
//! that it sees in a table, which costs a good part of a program of a few microseconds. Arguments
//! are borrowed here: R protects them during the call.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

use extendr_api::metadata::{Arg, Func};
use extendr_ffi::{R_NilValue, SEXP};

use crate::r::failure::{panicked, Failure, Outcome};
use crate::r::unwind;
use crate::r::value::IntoSexp;

/// A function that R calls.
pub struct Routine {
    /// Its name; R calls `wrap__<name>`.
    pub name: &'static str,
    /// That.
    pub symbol: &'static str,
    /// Its arguments' names.
    pub arguments: &'static [&'static str],
    /// Its address.
    pub function: *const u8,
}

/// Declares the functions of a file that R calls, as the constant `ROUTINES`:
///
/// ```ignore
/// routines! {
///     // What it does.
///     fn name(object, text: &str) {
///         ...
///     }
/// }
/// ```
///
/// A body is a closure that gives an [`Outcome`] of anything that becomes an R object. An argument
/// without a type is a `&Robj`; for others see [`Argument`]. `or null` before a body: a failure
/// becomes NULL, for what R asks first, to go a longer way where it fails.
macro_rules! routines {
    ($(fn $name:ident ($($arg:ident $(: $type:ty)?),*) $(or $null:ident)? $body:block)*) => {
        /// The functions of this file that R calls.
        pub const ROUTINES: &[$crate::r::entry::Routine] = &[$({
            extern "C-unwind" fn routine($($arg: extendr_ffi::SEXP),*) -> extendr_ffi::SEXP {
                $crate::r::entry::routines!(@guard || {
                    // SAFETY: R protects the arguments during the call.
                    $(let $arg: &extendr_api::Robj = unsafe { $crate::r::object::borrowed(&$arg) };)*
                    $($(let $arg: $type = $crate::r::argument::Argument::read($arg, stringify!($arg))?;)?)*
                    $body
                } $(, $null)?)
            }
            $crate::r::entry::Routine {
                name: stringify!($name),
                symbol: concat!("wrap__", stringify!($name)),
                arguments: &[$(stringify!($arg)),*],
                function: routine as *const u8,
            }
        }),*];
    };
    (@guard $body:expr) => { $crate::r::entry::guard($body) };
    (@guard $body:expr, null) => { $crate::r::entry::guard_or_null($body) };
}
pub(crate) use routines;

/// Runs the body of a function that R calls: an error or a panic becomes data.
pub fn guard<T: IntoSexp>(body: impl FnOnce() -> Outcome<T>) -> SEXP {
    guarded(|| caught(|| body().map(T::into_sexp)).unwrap_or_else(|failure| failure.into_sexp()))
}

/// As [`guard`], where a failure makes NULL.
pub fn guard_or_null(body: impl FnOnce() -> Outcome<SEXP>) -> SEXP {
    // SAFETY: a constant of R.
    guarded(|| caught(body).unwrap_or(unsafe { R_NilValue }))
}

fn caught(body: impl FnOnce() -> Outcome<SEXP>) -> Outcome<SEXP> {
    if fork::is_child() {
        return Err(Failure::forked());
    }
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        if unwind::is_jump(&*payload) {
            resume_unwind(payload);
        }
        Err(panicked(&*payload))
    })
}

/// Lets a jump go on when all of Rust is through.
fn guarded(body: impl FnOnce() -> SEXP) -> SEXP {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => return result,
        // A failure that cannot be made into an object, by a mistake of ours.
        // SAFETY: a constant of R.
        Err(payload) if !unwind::is_jump(&*payload) => return unsafe { R_NilValue },
        Err(payload) => drop(payload),
    }
    // SAFETY: the panic is gone, and with it all that there was; callers are functions that R
    // called and that have borrowed things only.
    unsafe { unwind::go_on() }
}

impl Routine {
    /// In extendr's words; what is hidden has no function in R.
    pub fn describe(&self, hidden: bool) -> Func {
        let argument = |name| Arg {
            name,
            arg_type: "Robj",
            default: None,
        };
        Func {
            doc: "",
            rust_name: self.name,
            mod_name: self.name,
            r_name: self.name,
            c_name: self.symbol,
            args: self.arguments.iter().copied().map(argument).collect(),
            return_type: "Robj",
            func_ptr: self.function,
            hidden,
            invisible: None,
        }
    }
}
