//! What tells one compiled version of a function from another: the types of its arguments.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use extendr_api::prelude::*;
use extendr_ffi::{R_NamesSymbol, R_NilValue, Rboolean, Rf_install, Rf_isObject, SEXP};

use crate::host::array::dims_of;
use crate::host::buffer::BufferObject;
use crate::host::device::default_device;
use crate::r::argument::elements;
use crate::r::entry::routines;
use crate::r::failure::Outcome;
use crate::r::object::{attribute, borrowed, inherits, text as text_of, texts};
use crate::r::pointer::{class, get, has_own_class, wrap};
use crate::r::unwind::protect;
use crate::r::value::{IntoSexp, Value};

// R names in environments have at most 10,000 bytes.
const LONGEST: usize = 5_000;

/// What tells a function from all others. R saves external pointers as NULL: a function that comes
/// back from a file or another process has none, and gets one that is new.
struct Identity(u64);

class!(
    Identity,
    c"xlaffi_identity",
    "the identity of a compiled function"
);

routines! {
    // A new identity.
    fn identity_new() {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Ok(wrap(Identity(COUNT.fetch_add(1, Ordering::Relaxed))))
    }

    // Whether it is one of this process.
    fn identity_is_here(identity) {
        Ok(Value::from(get::<Identity>(identity, "identity").is_ok()))
    }

    // It as text; NULL where there is none of this process.
    fn identity_text(identity) or null {
        let identity: &Identity = get(identity, "identity")?;
        Ok(Value::from(format!("#{}", identity.0)).into_sexp())
    }

    // One string for the function `id` (its identity, or a name) and these arguments: their names,
    // whether they are buffers, dtypes, dimensions, the keys of sharded arrays, and the device of the first buffer or
    // the default one. NULL where there is more to it: a function from elsewhere, nested lists,
    // values of programs, anything that is not allowed, or more arguments than fit into a name.
    fn signature(id, arguments) or null {
        let Some(text) = signature_of(id, arguments)? else {
            // SAFETY: a constant of R.
            return Ok(unsafe { R_NilValue });
        };
        Ok(Value::from(text).into_sexp())
    }

    // Whether two lists hold the same objects, not equal ones: what was not changed since it was kept is still the object
    // that is kept.
    fn same_objects(x, y) {
        Ok(Value::from(elements(x) == elements(y)))
    }
}

/// What the routine `signature` gives as text.
pub fn signature_of(id: &Robj, arguments: &Robj) -> Outcome<Option<String>> {
    let mut text = String::with_capacity(64);
    let mut device = None;
    if let Some(name) = text_of(id) {
        push_name(&mut text, name);
    } else {
        let identity: &Identity = get(id, "id")?;
        let _ = write!(text, "#{}", identity.0);
    }
    // SAFETY: a symbol of R's.
    let names = unsafe { attribute(arguments, R_NamesSymbol) };
    // SAFETY: it lives as long as the list.
    let mut names = texts(unsafe { borrowed(&names) }).into_iter();
    for sexp in elements(arguments) {
        text.push(' ');
        if let Some(name) = names.next() {
            push_name(&mut text, name.unwrap_or_default());
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
                device = Some((buffer.client().number(), buffer.device()?.id()?));
            }
        } else if let Some(kind) = data_kind(argument, sexp) {
            let _ = write!(text, "{kind}{:?}", dims_of(argument));
        } else if argument.rtype() == Rtype::S4 && inherits(argument, "xlaffi_sharded") {
            // SAFETY: R keeps symbols for good; the attribute lives as long as the array.
            let key = unsafe { attribute(argument, protect(|| Rf_install(c"key".as_ptr()))) };
            // SAFETY: as above.
            let Some(key) = text_of(unsafe { borrowed(&key) }) else {
                return Ok(None);
            };
            text.push('s');
            push_name(&mut text, key);
        } else {
            return Ok(None);
        }
    }
    match (device, default_device()) {
        (Some((client, id)), _) => {
            let _ = write!(text, " {client}:{id}");
        }
        (None, Some(first)) => {
            let _ = write!(text, " {}", first.platform);
        }
        (None, None) => return Ok(None),
    }
    Ok(Some(text).filter(|text| text.len() < LONGEST))
}

/// The length goes first, so that no name can look like what follows it.
fn push_name(text: &mut String, name: &str) {
    let _ = write!(text, "{}:{name}", name.len());
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
