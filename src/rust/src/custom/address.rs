//! Addresses of functions that R hands over.

use std::ffi::{c_char, c_int, c_void};

use extendr_api::prelude::*;
use extendr_ffi::{R_ExternalPtrAddr, R_ExternalPtrTag, Rf_install, SEXPTYPE, TYPEOF};

use crate::custom::handler::Library;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::{described, is_null};

/// R's descriptions of routines, as R lays them out.
#[repr(C)]
struct RegisteredSymbol {
    _kind: c_int,
    routine: *const Routine,
}

#[repr(C)]
struct Routine {
    _name: *const c_char,
    function: *mut c_void,
}

/// The address in an external pointer, `None` for NULL, whose library is kept in use from now on.
pub fn address_of(
    op: &str,
    pointer: &Robj,
    what: &str,
    keep: &mut Vec<Library>,
) -> Outcome<Option<*mut c_void>> {
    if is_null(pointer) {
        return Ok(None);
    }
    let refuse = |fault: String| Failure {
        op: Some(op.to_owned()),
        ..Failure::argument(what, format!("{op}: the address of `{what}` {fault}"))
    };
    // SAFETY: R's thread; the type is looked at before what it holds.
    let address = unsafe {
        let sexp = pointer.get();
        if TYPEOF(sexp) != SEXPTYPE::EXTPTRSXP {
            return Err(refuse(format!(
                "must be an external pointer, not {}",
                described(pointer)
            )));
        }
        let address = R_ExternalPtrAddr(sexp);
        let is_routine = R_ExternalPtrTag(sexp) == Rf_install(c"registered native symbol".as_ptr());
        if is_routine && !address.is_null() {
            let routine = (*address.cast::<RegisteredSymbol>()).routine;
            routine
                .as_ref()
                .map_or(std::ptr::null_mut(), |routine| routine.function)
        } else {
            address
        }
    };
    if address.is_null() {
        return Err(refuse("is NULL".to_owned()));
    }
    keep.extend(Library::holding(address as usize).map(|(library, _)| library));
    Ok(Some(address))
}
