//! The one way into this crate from C: sizes checked, panics caught, errors boxed.

use crate::base::error::{Error, Result};
use pjrt_api::{CStruct, PJRT_Error};
use std::mem::{size_of, MaybeUninit};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;

/// Declares an `unsafe extern "C"` function of the table.
macro_rules! entry {
    ($(#[$doc:meta])* $name:ident, $args:ident, |$arg:pat_param| $body:expr) => {
        $(#[$doc])*
        pub(crate) unsafe extern "C" fn $name(
            args: *mut pjrt_api::$args,
        ) -> *mut pjrt_api::PJRT_Error {
            let body = |$arg: &mut pjrt_api::$args| -> $crate::base::error::Result<()> { $body };
            // SAFETY: by the API's contract `args` is NULL or points to as many bytes as its
            // `struct_size` says.
            unsafe { $crate::base::entry::call(stringify!($args), args, body) }
        }
    };
}
pub(crate) use entry;

/// Defines entry points that say where a list or a text begins, and how long it is.
macro_rules! list_entries {
    ($($name:ident, $args:ident, |$arg:ident| $list:expr => $pointer:ident, $count:ident;)+) => {$(
        $crate::base::entry::entry!($name, $args, |$arg| {
            // SAFETY: the API's contract.
            let list = unsafe { &$list };
            ($arg.$pointer, $arg.$count) = (list.as_ptr().cast(), list.len());
            Ok(())
        });
    )+};
}
pub(crate) use list_entries;

/// Runs `body` on a copy of the arguments. A caller that was built with an older (or newer) API
/// passes a shorter (or longer) struct: what it lacks is zero, what is too long is left alone.
///
/// # Safety
/// `args` is NULL, or valid for reads and writes of as many bytes as its first field says.
pub(crate) unsafe fn call<A: CStruct>(
    name: &str,
    args: *mut A,
    body: impl FnOnce(&mut A) -> Result<()>,
) -> *mut PJRT_Error {
    let function = || name.trim_end_matches("_Args");
    if fork::is_child() {
        return in_child(function());
    }
    let run = || {
        if args.is_null() {
            return Err(Error::invalid("the arguments are NULL"));
        }
        // SAFETY: every argument struct begins with its size.
        let given = unsafe { args.cast::<usize>().read() };
        if given < size_of::<usize>() {
            return Err(Error::invalid(format!(
                "struct_size {given} is not the size of a struct"
            )));
        }
        let size = given.min(size_of::<A>());
        let mut copy = MaybeUninit::<A>::zeroed();
        // SAFETY: `size` bytes are valid on both sides; all-zero is valid for what is not copied.
        let mut copy = unsafe {
            std::ptr::copy_nonoverlapping(args.cast::<u8>(), copy.as_mut_ptr().cast(), size);
            copy.assume_init()
        };
        let result = body(&mut copy);
        // SAFETY: as above, the other way.
        unsafe {
            std::ptr::copy_nonoverlapping(
                std::ptr::from_ref(&copy).cast::<u8>(),
                args.cast(),
                size,
            );
        }
        result
    };
    let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|s| (*s).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        Err(Error::internal(format!("panicked: {text}")))
    });
    match result {
        Ok(()) => null_mut(),
        Err(mut error) => {
            if error.own {
                error.message = format!("{}: {}", function(), error.message);
            }
            error.into_raw()
        }
    }
}

/// What a function answers in a forked child: Python's lock may be held there by a thread that the
/// child does not have, and what there is belongs to the parent.
#[cold]
fn in_child(name: &str) -> *mut PJRT_Error {
    if name.ends_with("_Destroy") {
        return null_mut();
    }
    Error::precondition(format!("{name}: {}. {}", fork::MESSAGE, fork::HINT)).into_raw()
}

/// The object behind a handle.
///
/// # Safety
/// `handle` is NULL or points to a living `T`.
pub(crate) unsafe fn object<'a, T, H>(handle: *const H, what: &str) -> Result<&'a T> {
    // SAFETY: by this function's contract.
    unsafe { handle.cast::<T>().as_ref() }
        .ok_or_else(|| Error::invalid(format!("`{what}` is NULL")))
}

/// A slice that C gave as pointer and length; NULL with length 0 is empty.
///
/// # Safety
/// `pointer` is valid for `length` elements, or NULL.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, length: usize, what: &str) -> Result<&'a [T]> {
    if length == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(Error::invalid(format!(
            "`{what}` is NULL but has {length} elements"
        )));
    }
    // SAFETY: by this function's contract.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// A string that C gave as pointer and length.
///
/// # Safety
/// As for [`slice`].
pub(crate) unsafe fn text<'a>(
    pointer: *const std::ffi::c_char,
    length: usize,
    what: &str,
) -> Result<&'a str> {
    // SAFETY: by this function's contract.
    let bytes = unsafe { slice(pointer.cast::<u8>(), length, what)? };
    std::str::from_utf8(bytes).map_err(|_| Error::invalid(format!("`{what}` is not UTF-8")))
}
