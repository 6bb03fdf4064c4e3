//! LAPACK's and BLAS's routines as methods of their element types.

use crate::int::Int;
use crate::list::{arguments, list};
use crate::workspace::Worked;
use matrices::Element;

macro_rules! method {
    ($name:ident ($($method:tt)*) $names:tt $fortran:tt $passed:tt) => {
        #[doc = concat!("`", stringify!($name), "`; its `info`, where it has one.")]
        ///
        /// # Safety
        /// The operands are as large as its documentation asks for, and it refuses none of them.
        unsafe fn $name($($method)*) -> Int;
    };
}

macro_rules! methods {
    ($($name:ident: $real:literal, $complex:literal $arguments:tt $(-> $info:ident)?;)*) => {
        /// An element type of LAPACK's: its routines, as they are. The module
        /// [`routines`](crate::routines) has them with their operands checked.
        #[allow(clippy::too_many_arguments)] // LAPACK's own
        pub trait Routines: Worked {
            /// The same kind of numbers in double precision, which every LAPACK has.
            type Wide: Routines;

            $(arguments! { method!($name) both [] [] [] [] [] [] $arguments })*
        }
    };
}
list!(methods!());
