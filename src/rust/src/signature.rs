//! What tells one compiled version of a function from another: the types of its arguments.

use std::fmt::Write;

use extendr_api::prelude::*;
use extendr_ffi::{R_NamesSymbol, R_NilValue, Rboolean, Rf_isObject, SEXP};

use crate::argument::{attribute, borrowed, elements, inherits, text as text_of, texts};
use crate::buffer::BufferObject;
use crate::device::default_device;
use crate::entry::routines;
use crate::failure::Outcome;
use crate::host::dims_of;
use crate::pointer::{get, has_own_class};
use crate::value::{IntoSexp, Value};

// R names in environments have at most 10,000 bytes.
const LONGEST: usize = 5_000;

routines! {
    // One string for the function `id` and these arguments: their names, whether they are buffers,
    // dtypes, dimensions, and the device of the first buffer or the default one. NULL where
    // there is more to it: nested lists, values of programs, anything that is not allowed, or
    // more arguments than fit into a name.
    fn signature(id, arguments) or null {
        let text = signature_of(id, arguments)?.filter(|text| text.len() < LONGEST);
        let Some(text) = text else {
            // SAFETY: a constant of R.
            return Ok(unsafe { R_NilValue });
        };
        Ok(Value::from(text).into_sexp())
    }
}

fn signature_of(id: &Robj, arguments: &Robj) -> Outcome<Option<String>> {
    let mut text = String::with_capacity(64);
    let mut device = None;
    text.push_str(text_of(id).unwrap_or_default());
    // SAFETY: a symbol of R's.
    let names = unsafe { attribute(arguments, R_NamesSymbol) };
    // SAFETY: it lives as long as the list.
    let mut names = texts(unsafe { borrowed(&names) }).into_iter();
    for sexp in elements(arguments) {
        text.push(' ');
        if let Some(name) = names.next() {
            text.push_str(name.unwrap_or_default());
            text.push('=');
        }
        // SAFETY: an element of a list that R protects.
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
        Rtype::Doubles if inherits(argument, "integer64") => Some('w'),
        _ => None,
    }
}
