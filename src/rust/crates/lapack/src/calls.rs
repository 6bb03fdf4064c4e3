//! The calls of the library's routines.

use crate::error::NO_LIBRARY;
use crate::int::Int;
use crate::library::current;
use crate::list::{arguments, list};
use crate::promoted::Promoted;
use crate::sys::Routines;
use matrices::Element;
use std::ffi::c_char;

macro_rules! implementation {
    ($module:ident $or:ident $name:ident ($($info:ident)?) ($($method:tt)*) ($($argument:ident),*)
        $fortran:tt ($($passed:tt)*)) => {
        #[inline]
        #[allow(unused_variables)] // what only the other kind of matrices has
        unsafe fn $name($($method)*) -> Int {
            let Some(library) = current() else {
                return NO_LIBRARY;
            };
            let table = table_of!($or library $module, $name($($argument),*));
            $(let mut $info = 0;)?
            // SAFETY: what the method asks for; the symbol has this prototype.
            unsafe { (table.$name)($($passed)*) };
            0 $(+ $info)?
        }
    };
}

/// The symbols of a dtype; where a library has none of a single precision, the method ends with the
/// double one.
macro_rules! table_of {
    (double $library:ident $module:ident, $name:ident $arguments:tt) => {
        &$library.$module
    };
    (single $library:ident $module:ident, $name:ident($($argument:ident),*)) => {
        match &$library.$module {
            Some(table) => table,
            // SAFETY: what the method asks for.
            None => return unsafe { <Self as Promoted>::$name($($argument),*) },
        }
    };
}

/// [`Routines`] of a dtype, by the table of its letter.
macro_rules! dtype {
    (
        $kind:ident $module:ident $or:ident $number:ty, $wide:ty;
        $($name:ident: $_real:literal, $_complex:literal $arguments:tt $(-> $info:ident)?;)*
    ) => {
        impl Routines for $number {
            type Wide = $wide;

            $(arguments! { implementation!($module $or $name ($($info)?)) $kind [] [] [] [] [] [] $arguments })*
        }
    };
}

list!(dtype!(real s single f32, f64;));
list!(dtype!(real d double f64, f64;));
list!(dtype!(complex c single matrices::Complex<f32>, matrices::Complex<f64>;));
list!(dtype!(complex z double matrices::Complex<f64>, matrices::Complex<f64>;));

/// A CHARACTER of one letter.
fn letter(ascii: &u8) -> *const c_char {
    std::ptr::from_ref(ascii).cast()
}
