//! A table of LAPACK's symbols for each element type.

use crate::list::list;

macro_rules! prototype {
    ($name:ident $method:tt $names:tt ($($fortran:tt)*) $passed:tt) => {
        pub type $name = unsafe extern "C" fn($($fortran)*);
    };
}

/// One dtype's table of symbols, in the module of its letter.
macro_rules! table {
    (
        real $letter:literal $module:ident $number:ty, $part:ty;
        $($name:ident: $stem:literal, $_:literal $arguments:tt $(-> $info:ident)?;)*
    ) => {
        table! { @ real $letter $module $number, $part; $($name: $stem $arguments;)* }
    };
    (
        complex $letter:literal $module:ident $number:ty, $part:ty;
        $($name:ident: $_:literal, $stem:literal $arguments:tt $(-> $info:ident)?;)*
    ) => {
        table! { @ complex $letter $module $number, $part; $($name: $stem $arguments;)* }
    };
    (
        @ $kind:ident $letter:literal $module:ident $number:ty, $part:ty;
        $($name:ident: $stem:literal $arguments:tt;)*
    ) => {
        pub(crate) mod $module {
            use crate::int::Address;

            /// As gfortran declares them.
            #[allow(non_camel_case_types)] // the routines' own names
            mod prototypes {
                use crate::int::Int;
                use std::ffi::c_char;
                type Number = $number;
                type Real = $part;

                $($crate::list::arguments! { prototype!($name) $kind [] [] [] [] [] [] $arguments })*
            }

            /// The symbols of a library.
            #[derive(Clone, Copy, Debug)]
            pub(crate) struct Table {
                $(pub(crate) $name: prototypes::$name,)*
            }

            impl Table {
                /// Of the addresses that `find` has for names such as `dgetrf`.
                ///
                /// # Errors
                /// The name that it has none for.
                pub(crate) fn new(
                    find: &dyn Fn(&'static str) -> Option<Address>,
                ) -> Result<Self, &'static str> {
                    let found = |name| find(name).ok_or(name);
                    Ok(Table {
                        $($name: {
                            let address = found(concat!($letter, $stem))?;
                            // SAFETY: LAPACK's symbols of this name have this prototype.
                            unsafe { std::mem::transmute::<Address, prototypes::$name>(address) }
                        },)*
                    })
                }
            }
        }
    };
}

list!(table!(real "s" s f32, f32;));
list!(table!(real "d" d f64, f64;));
list!(table!(complex "c" c matrices::Complex<f32>, f32;));
list!(table!(complex "z" z matrices::Complex<f64>, f64;));
