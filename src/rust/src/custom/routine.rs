//! Routines of packages on R's thread: what R's `.C()` calls in their place, which catches what they throw; see
//! `src/barrier.cc`.

use std::ffi::{c_char, c_void, CStr};

use extendr_ffi::{R_MakeExternalPtr, R_NilValue, Rf_install};

use crate::custom::address::address_of;
use crate::custom::handler::Library;
use crate::r::entry::routines;
use crate::r::failure::Failure;
use crate::r::pointer::{class, get, wrap};
use crate::r::unwind::protect;
use crate::r::value::Value;

extern "C" {
    fn xlaffi_guarded_routine(routine: *mut c_void, count: usize) -> *mut c_void;
    fn xlaffi_routine_thrown() -> *const c_char;
}

/// A routine of so many arguments, whose library stays loaded.
struct Routine {
    address: *mut c_void,
    arguments: usize,
    _keep: Vec<Library>,
}

class!(Routine, c"xlaffi_routine", "a routine");

routines! {
    // A routine of a package, for `.C()` and `.Fortran()`.
    fn routine_new(op: &str, pointer, arguments: f64) {
        let mut keep = Vec::new();
        let address = address_of(op, pointer, "routine", &mut keep)?
            .ok_or_else(|| Failure::argument("routine", "the routine has no address"))?;
        Ok(wrap(Routine {
            address,
            arguments: arguments as usize,
            _keep: keep,
        }))
    }

    // What `.C()` is to call next in place of the routine.
    fn routine_guarded(routine) {
        let Routine { address, arguments, .. } = get(routine, "routine")?;
        // SAFETY: a function in C++, on R's thread; the routine has so many pointers for arguments, as the user says.
        let guarded = unsafe { xlaffi_guarded_routine(*address, *arguments) };
        if guarded.is_null() {
            return Err(Failure::argument("arguments", "`.C()` knows no routines of so many arguments"));
        }
        // SAFETY: R's thread; a function of this library, which stays loaded, under the tag that `.C()` looks for.
        Ok(unsafe {
            protect(|| R_MakeExternalPtr(guarded, Rf_install(c"native symbol".as_ptr()), R_NilValue))
        })
    }

    // What the routine threw that was called last, or NULL.
    fn routine_thrown() {
        // SAFETY: null, or a text that the next routine changes.
        let thrown = unsafe { xlaffi_routine_thrown().as_ref() };
        // SAFETY: as above; it ends in NUL.
        let text = thrown.map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned());
        Ok(text.map_or(Value::Null, Value::from))
    }
}
