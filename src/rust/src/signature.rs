//! What tells one compiled version of a function from another: the types of its arguments.

use std::fmt::Write;

use extendr_api::prelude::*;
use extendr_api::wrapper::symbol;
use extendr_ffi::{
    cetype_t, R_NilValue, Rboolean, Rf_isObject, Rf_mkCharLenCE, SET_STRING_ELT, SEXP, SEXPTYPE,
    VECTOR_ELT,
};

use crate::buffer::BufferObject;
use crate::device::default_device;
use crate::failure::Outcome;
use crate::fast::{borrowed, fast};
use crate::host::dims_of;
use crate::pointer::{alloc, get, has_own_class};

// R names in environments have at most 10,000 bytes.
const LONGEST: usize = 5_000;

fast! {
    // One string for the function `id` and these arguments: their names, whether they are buffers,
    // dtypes, dimensions, and the device of the first buffer or the default one. NULL where
    // there is more to it: nested lists, values of programs, anything that is not allowed, or
    // more arguments than fit into a name.
    fn signature, wrap__signature, meta__signature (id, arguments) or null {
        let text = signature_of(id, arguments)?.filter(|text| text.len() < LONGEST);
        let Some(text) = text else {
            // SAFETY: a constant of R.
            return Ok(unsafe { R_NilValue });
        };
        let length = i32::try_from(text.len()).unwrap_or(0);
        let result = alloc(SEXPTYPE::STRSXP, 1)?;
        // SAFETY: R's thread; the fresh vector is protected while its only element is made.
        unsafe {
            let element = Rf_mkCharLenCE(text.as_ptr().cast(), length, cetype_t::CE_UTF8);
            SET_STRING_ELT(result.sexp(), 0, element);
        }
        Ok(result.sexp())
    }
}

fn signature_of(id: &Robj, arguments: &Robj) -> Outcome<Option<String>> {
    let mut text = String::with_capacity(64);
    let mut device = None;
    text.push_str(id.as_str().unwrap_or_default());
    let names = arguments.get_attrib(symbol::names_symbol());
    let mut names = names.as_ref().and_then(|names| names.as_str_iter());
    for index in 0..arguments.len() {
        text.push(' ');
        if let Some(name) = names.as_mut().and_then(Iterator::next) {
            text.push_str(name);
            text.push('=');
        }
        // SAFETY: a list, as R code promises; its elements live as long as it does.
        let sexp = unsafe { VECTOR_ELT(arguments.get(), index as isize) };
        // SAFETY: as above.
        let argument = unsafe { borrowed(&sexp) };
        if argument.rtype() == Rtype::ExternalPtr {
            if !has_own_class::<BufferObject>(argument) {
                return Ok(None);
            }
            let object: &BufferObject = get(argument, "...")?;
            let buffer = &object.buffer;
            let _ = write!(text, "b{}{:?}", buffer.dtype(), buffer.dims());
            if device.is_none() {
                device = Some((object.platform.clone(), buffer.device()?.id()?));
            }
        } else if let Some(kind) = data_kind(argument, sexp) {
            let _ = write!(text, "{kind}{:?}", dims_of(argument));
        } else {
            return Ok(None);
        }
    }
    match (device, default_device()) {
        (Some((platform, id)), _) => {
            let _ = write!(text, " {platform}:{id}");
        }
        (None, Some(first)) => {
            let _ = write!(text, " {}", first.platform);
        }
        (None, None) => return Ok(None),
    }
    Ok(Some(text))
}

/// A letter for each kind of R data that can be an argument.
fn data_kind(argument: &Robj, sexp: SEXP) -> Option<char> {
    // SAFETY: an R object that the caller protects.
    let plain = unsafe { Rf_isObject(sexp) } == Rboolean::FALSE;
    match argument.rtype() {
        Rtype::Logicals if plain => Some('l'),
        Rtype::Integers if plain => Some('i'),
        Rtype::Doubles if plain => Some('d'),
        Rtype::Complexes if plain => Some('c'),
        Rtype::Doubles if argument.inherits("integer64") => Some('w'),
        _ => None,
    }
}

extendr_module! {
    mod signature;
    fn signature;
}
