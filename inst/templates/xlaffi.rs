//! What the body of an op in Rust is given by the R package xlaffi: `inst/include/xlaffi.h` in Rust.

use std::any::Any;
use std::cell::Cell;
use std::ffi::c_void;
use std::fmt;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::Once;

/// Any error: `?` makes one of those of others, `"text".into()` of a text.
pub type Error = Box<dyn std::error::Error>;

#[repr(C)]
pub struct Attribute {
    data: *const c_void,
    length: usize,
}

#[repr(C)]
pub struct Call {
    size: usize,
    buffers: *const *mut c_void,
    dims: *const i64,
    attributes: *const Attribute,
    state: *mut c_void,
    batch: i64,
    message: *mut u8,
    message_size: usize,
}

/// A complex number as XLA, C and Fortran have it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex<P> {
    pub re: P,
    pub im: P,
}

macro_rules! complex_operators {
    ($($part:ty)*) => {$(
        impl std::ops::Add for Complex<$part> {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Complex { re: self.re + other.re, im: self.im + other.im }
            }
        }
        impl std::ops::Sub for Complex<$part> {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Complex { re: self.re - other.re, im: self.im - other.im }
            }
        }
        impl std::ops::Mul for Complex<$part> {
            type Output = Self;
            fn mul(self, other: Self) -> Self {
                Complex {
                    re: self.re * other.re - self.im * other.im,
                    im: self.re * other.im + self.im * other.re,
                }
            }
        }
        impl std::ops::Neg for Complex<$part> {
            type Output = Self;
            fn neg(self) -> Self {
                Complex { re: -self.re, im: -self.im }
            }
        }
    )*};
}
complex_operators!(f32 f64);

/// XLA's number of an error's code, with a text.
#[derive(Debug)]
pub struct Coded(pub i32, pub String);

impl fmt::Display for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.1)
    }
}

impl std::error::Error for Coded {}

/// Ends the body with an error: `fail!("x[{i}] is negative")`.
#[macro_export]
macro_rules! fail {
    ($($text:tt)*) => {
        return Err($crate::xlaffi::Error::from($crate::xlaffi::Coded(3, format!($($text)*))))
    };
}

/// What a body or a function may come to.
pub trait Outcome {
    fn outcome(self) -> Result<(), Error>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), Error> {
        Ok(())
    }
}

impl<E: Into<Error>> Outcome for Result<(), E> {
    fn outcome(self) -> Result<(), Error> {
        self.map_err(Into::into)
    }
}

/// As [`Outcome`], for a body, whose errors have no type of their own.
pub trait BodyOutcome {
    fn outcome(self) -> Result<(), Error>;
}

impl BodyOutcome for () {
    fn outcome(self) -> Result<(), Error> {
        Ok(())
    }
}

impl BodyOutcome for Result<(), Error> {
    fn outcome(self) -> Result<(), Error> {
        self
    }
}

pub fn outcome(result: impl Outcome) -> Result<(), Error> {
    result.outcome()
}

pub fn body_outcome(result: impl BodyOutcome) -> Result<(), Error> {
    result.outcome()
}

/// A length that a signature computes.
pub fn size(dims: &[i64]) -> usize {
    dims.iter().map(|&dim| dim.max(0) as usize).product()
}

pub fn div(a: i64, b: i64) -> i64 {
    a.div_euclid(b)
}

impl Call {
    pub unsafe fn dim(&self, index: usize) -> i64 {
        *self.dims.add(index)
    }

    pub unsafe fn is_given(&self, index: usize) -> bool {
        !(*self.buffers.add(index)).is_null()
    }

    pub unsafe fn read<'a, T>(&self, index: usize, length: usize) -> &'a [T] {
        slice(*self.buffers.add(index) as *const T, length)
    }

    pub unsafe fn write<'a, T>(&self, index: usize, length: usize) -> &'a mut [T] {
        slice_mut(*self.buffers.add(index) as *mut T, length)
    }

    pub unsafe fn read_all<'a, T>(&self, index: usize, count: usize, length: usize) -> Vec<&'a [T]> {
        let arrays = slice(*self.buffers.add(index) as *const *const T, count);
        arrays.iter().map(|&array| slice(array, length)).collect()
    }

    pub unsafe fn write_all<'a, T>(&self, index: usize, count: usize, length: usize) -> Vec<&'a mut [T]> {
        let arrays = slice(*self.buffers.add(index) as *const *mut T, count);
        arrays.iter().map(|&array| slice_mut(array, length)).collect()
    }

    pub unsafe fn attribute<T: Copy>(&self, index: usize) -> T {
        *((*self.attributes.add(index)).data as *const T)
    }

    pub unsafe fn attributes<'a, T>(&self, index: usize) -> &'a [T] {
        let attribute = &*self.attributes.add(index);
        slice(attribute.data as *const T, attribute.length)
    }

    pub unsafe fn text<'a>(&self, index: usize) -> Result<&'a str, Error> {
        Ok(std::str::from_utf8(self.attributes(index))?)
    }
}

/// Arrays without elements may have no address.
unsafe fn slice<'a, T>(data: *const T, length: usize) -> &'a [T] {
    if length == 0 {
        &[]
    } else {
        from_raw_parts(data, length)
    }
}

unsafe fn slice_mut<'a, T>(data: *mut T, length: usize) -> &'a mut [T] {
    if length == 0 {
        &mut []
    } else {
        from_raw_parts_mut(data, length)
    }
}

thread_local! {
    /// Where the last panic was.
    static PLACE: Cell<(&'static str, u32)> = const { Cell::new(("", 0)) };
}

/// A panic's text comes with the error: nothing is printed.
fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_hook(Box::new(|panic| {
            if let Some(place) = panic.location() {
                // The file's name lives as long as this library.
                let file: &'static str = unsafe { &*(place.file() as *const str) };
                PLACE.with(|last| last.set((file, place.line())));
            }
        }));
    });
}

/// Runs a body: an error or a panic becomes a code, with its text in the call's message.
pub unsafe fn run(call: *const Call, body: impl FnOnce(&Call) -> Result<(), Error>) -> i32 {
    quiet_panics();
    let call = &*call;
    let (code, text) = match catch_unwind(AssertUnwindSafe(|| body(call))) {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => match error.downcast_ref::<Coded>() {
            Some(Coded(code, text)) => (*code, text.clone()),
            None => (3, error.to_string()),
        },
        Err(payload) => (13, panic_text(&*payload)),
    };
    if call.message_size > 0 {
        let mut length = text.len().min(call.message_size - 1);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        std::ptr::copy_nonoverlapping(text.as_ptr(), call.message, length);
        *call.message.add(length) = 0;
    }
    code
}

/// Runs what is to run at the library's end. What goes wrong is printed: nobody waits for it.
pub fn end(body: impl FnOnce() -> Result<(), Error>) {
    quiet_panics();
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => eprintln!("{error}"),
        Err(payload) => eprintln!("{}", panic_text(&*payload)),
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text.as_str(),
        _ => "a panic",
    };
    let (file, line) = PLACE.with(Cell::get);
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    format!("panic at {file}:{line}: {text}")
}
