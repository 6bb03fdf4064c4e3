//! What stands between plugins and us: a C++ exception that left a plugin through a frame of Rust would end the process.

use std::ffi::{c_char, c_void, CStr};
use std::mem::{transmute, MaybeUninit};
use std::ptr::{self, null_mut};
use std::sync::OnceLock;

use crate::error::{Code, Error, Result};

/// A function of a plugin's table that may return an error.
pub type Fallible = unsafe extern "C" fn(args: *mut c_void) -> *mut c_void;
/// One that returns nothing.
pub type Infallible = unsafe extern "C" fn(args: *mut c_void);

/// Two functions of C++, for a program that has a compiler of it.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    /// Calls a function, writes what it returns, and returns `true`; where it throws, writes what, as text that ends in
    /// NUL and has at most that many bytes, and returns `false`.
    pub call: unsafe extern "C" fn(
        function: Fallible,
        args: *mut c_void,
        error: *mut *mut c_void,
        thrown: *mut c_char,
        size: usize,
    ) -> bool,
    /// The same for a function that returns nothing.
    pub run: unsafe extern "C" fn(
        function: Infallible,
        args: *mut c_void,
        thrown: *mut c_char,
        size: usize,
    ) -> bool,
}

static BARRIER: OnceLock<&'static Barrier> = OnceLock::new();

/// Has what plugins throw caught from now on: all their functions are called through the first barrier that is given.
/// A call that threw is an error with [`Code::INTERNAL`] that says what. Without a barrier plugins are called directly.
pub fn catch_exceptions(barrier: &'static Barrier) {
    let _ = BARRIER.set(barrier);
}

/// How much is kept of what was thrown.
const THROWN: usize = 512;

/// Where a barrier writes what was thrown, which is read only then.
struct Thrown(MaybeUninit<[c_char; THROWN]>);

impl Thrown {
    fn place(&mut self) -> *mut c_char {
        self.0.as_mut_ptr().cast()
    }

    /// # Safety
    /// The barrier has written a text.
    unsafe fn error(&self, call: &'static str) -> Error {
        // SAFETY: it ends in NUL within the place.
        let text = unsafe { CStr::from_ptr(self.0.as_ptr().cast()) };
        let text = format!("the plugin threw {}", text.to_string_lossy());
        Error::from_plugin(call, Code::INTERNAL, text)
    }
}

/// Calls a function of a plugin's; what it returns, or an error for what it threw.
///
/// # Safety
/// As the function.
#[inline]
pub(crate) unsafe fn answer<A, E>(
    call: &'static str,
    function: unsafe extern "C" fn(*mut A) -> *mut E,
    args: *mut A,
) -> Result<*mut E> {
    let Some(barrier) = BARRIER.get() else {
        // SAFETY: by contract.
        return Ok(unsafe { function(args) });
    };
    let mut error = null_mut();
    let mut thrown = Thrown(MaybeUninit::uninit());
    // SAFETY: both types take one pointer and return one, which the barrier hands on without a look at it; it is called
    // with what the function wants. The barrier writes a text where it returns `false`.
    unsafe {
        let function = transmute::<unsafe extern "C" fn(*mut A) -> *mut E, Fallible>(function);
        match (barrier.call)(function, args.cast(), &mut error, thrown.place(), THROWN) {
            true => Ok(error.cast()),
            false => Err(thrown.error(call)),
        }
    }
}

/// Calls a function of a plugin's that returns nothing.
///
/// # Safety
/// As the function.
pub(crate) unsafe fn done<A>(
    call: &'static str,
    function: unsafe extern "C" fn(*mut A),
    args: *mut A,
) -> Result<()> {
    let Some(barrier) = BARRIER.get() else {
        // SAFETY: by contract.
        unsafe { function(args) };
        return Ok(());
    };
    let mut thrown = Thrown(MaybeUninit::uninit());
    // SAFETY: as above.
    unsafe {
        let function = transmute::<unsafe extern "C" fn(*mut A), Infallible>(function);
        match (barrier.run)(function, args.cast(), thrown.place(), THROWN) {
            true => Ok(()),
            false => Err(thrown.error(call)),
        }
    }
}

/// Calls a plugin's entry point.
///
/// # Safety
/// As the function.
pub(crate) unsafe fn table(entry: pjrt_api::GetPjrtApi) -> Result<*const pjrt_api::PJRT_Api> {
    struct Place {
        entry: pjrt_api::GetPjrtApi,
        table: *const pjrt_api::PJRT_Api,
    }
    unsafe extern "C-unwind" fn enter(place: *mut Place) {
        type Unwinding = unsafe extern "C-unwind" fn() -> *const pjrt_api::PJRT_Api;
        // SAFETY: the place below. The types differ in what may leave the function, and nothing is to be dropped here.
        unsafe {
            let entry = transmute::<pjrt_api::GetPjrtApi, Unwinding>((*place).entry);
            (*place).table = entry();
        }
    }
    let mut place = Place {
        entry,
        table: ptr::null(),
    };
    // SAFETY: as in `enter`; C++ calls it and knows no difference. Without a barrier what is thrown ends the process, as
    // everywhere.
    unsafe {
        let enter = transmute::<
            unsafe extern "C-unwind" fn(*mut Place),
            unsafe extern "C" fn(*mut Place),
        >(enter);
        done(pjrt_api::ENTRY_POINT, enter, &mut place)?;
    }
    Ok(place.table)
}
