//! LAPACK's and BLAS's routines: one list gives their Fortran symbols, as gfortran passes arguments,
//! and the trait that has them for each element type.

use crate::workspace::Worked;
use matrices::Element;
use std::ffi::{c_char, c_int};

/// Fortran's default INTEGER, and its LOGICAL.
pub type Int = c_int;

// The package gets these symbols from R's own link line.
#[cfg(feature = "link-lapack")]
#[link(name = "lapack")]
#[link(name = "blas")]
extern "C" {}

/// Passes on `list`, which names each routine, its symbol without the letter of the dtype for real and
/// for complex matrices, and its arguments: `int` and `char` (of one letter) by value here, `read` and
/// `write` of elements, of `real` ones and of `int`s. After `complex` or `real` stands what only the
/// routine for such matrices has; the other one ignores it. `unsorted` is a choice of eigenvalues that
/// is not made, and what stands after `out` is returned.
macro_rules! list {
    ($list:ident!($($how:tt)*)) => {
        $list! { $($how)*
            getrf: "getrf", "getrf" (
                int m, int n, write a, int lda, write int ipiv, out info,
            ) -> info;
            geqrf: "geqrf", "geqrf" (
                int m, int n, write a, int lda, write tau, write work, int lwork, out info,
            ) -> info;
            orgqr: "orgqr", "ungqr" (
                int m, int n, int k, write a, int lda, read tau, write work, int lwork, out info,
            ) -> info;
            ormqr: "ormqr", "unmqr" (
                char side, char trans, int m, int n, int k, write a, int lda, read tau,
                write c, int ldc, write work, int lwork, out info,
            ) -> info;
            geqp3: "geqp3", "geqp3" (
                int m, int n, write a, int lda, write int jpvt, write tau, write work, int lwork,
                complex write real rwork, out info,
            ) -> info;
            potrf: "potrf", "potrf" (char uplo, int n, write a, int lda, out info,) -> info;
            trsm: "trsm", "trsm" (
                char side, char uplo, char transa, char diag, int m, int n, read alpha,
                read a, int lda, write b, int ldb,
            );
            gtsv: "gtsv", "gtsv" (
                int n, int nrhs, write dl, write d, write du, write b, int ldb, out info,
            ) -> info;
            gesdd: "gesdd", "gesdd" (
                char jobz, int m, int n, write a, int lda, write real s, write u, int ldu,
                write vt, int ldvt, write work, int lwork, complex write real rwork,
                write int iwork, out info,
            ) -> info;
            gesvd: "gesvd", "gesvd" (
                char jobu, char jobvt, int m, int n, write a, int lda, write real s,
                write u, int ldu, write vt, int ldvt, write work, int lwork,
                complex write real rwork, out info,
            ) -> info;
            syevd: "syevd", "heevd" (
                char jobz, char uplo, int n, write a, int lda, write real w, write work, int lwork,
                complex write real rwork, complex int lrwork, write int iwork, int liwork, out info,
            ) -> info;
            sytrd: "sytrd", "hetrd" (
                char uplo, int n, write a, int lda, write real d, write real e, write tau,
                write work, int lwork, out info,
            ) -> info;
            gehrd: "gehrd", "gehrd" (
                int n, int ilo, int ihi, write a, int lda, write tau, write work, int lwork, out info,
            ) -> info;
            geev: "geev", "geev" (
                char jobvl, char jobvr, int n, write a, int lda, write w, real write wi,
                write vl, int ldvl, write vr, int ldvr, write work, int lwork,
                complex write real rwork, out info,
            ) -> info;
            gees: "gees", "gees" (
                char jobvs, char sort, unsorted, int n, write a, int lda, write int sdim,
                write w, real write wi, write vs, int ldvs, write work, int lwork,
                complex write real rwork, write int bwork, out info,
            ) -> info;
        }
    };
}

/// Goes through the arguments of a routine for matrices of a kind (`real`, `complex`, or `both`) and
/// tells `$then!` three lists: the arguments of the trait's method; those of the symbol, every one by
/// reference, and behind them the lengths of CHARACTERs; and what is passed to the symbol.
macro_rules! arguments {
    ($then:ident!($($told:tt)*) $kind:ident
        [$($method:tt)*] [$($fortran:tt)*] [$($lengths:tt)*] [$($call:tt)*] [$($ones:tt)*] ()) => {
        $then! { $($told)* ($($method)*) ($($fortran)* $($lengths)*) ($($call)* $($ones)*) }
    };
    ($then:ident!$told:tt $kind:ident [$($m:tt)*] [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (int $name:ident, $($rest:tt)*)) => {
        arguments! { $then!$told $kind
            [$($m)* $name: Int,] [$($f)* $name: *const Int,] $l [$($c)* &$name,] $o ($($rest)*) }
    };
    ($then:ident!$told:tt $kind:ident [$($m:tt)*] [$($f:tt)*] [$($l:tt)*] [$($c:tt)*] [$($o:tt)*]
        (char $name:ident, $($rest:tt)*)) => {
        arguments! { $then!$told $kind
            [$($m)* $name: u8,] [$($f)* $name: *const c_char,] [$($l)* _: usize,]
            [$($c)* letter(&$name),] [$($o)* 1,] ($($rest)*) }
    };
    ($then:ident!$told:tt $kind:ident $m:tt [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (unsorted, $($rest:tt)*)) => {
        arguments! { $then!$told $kind
            $m [$($f)* select: Option<extern "C" fn()>,] $l [$($c)* None,] $o ($($rest)*) }
    };
    ($then:ident!$told:tt $kind:ident [$($m:tt)*] [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (write int $name:ident, $($rest:tt)*)) => {
        arguments! { $then!$told $kind
            [$($m)* $name: *mut Int,] [$($f)* $name: *mut Int,] $l [$($c)* $name,] $o ($($rest)*) }
    };
    ($then:ident!$told:tt $kind:ident [$($m:tt)*] [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (write real $name:ident, $($rest:tt)*)) => {
        arguments! { $then!$told $kind
            [$($m)* $name: *mut <Self as Element>::Real,] [$($f)* $name: *mut Real,] $l
            [$($c)* $name,] $o ($($rest)*) }
    };
    ($then:ident!$told:tt $kind:ident [$($m:tt)*] [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (write $name:ident, $($rest:tt)*)) => {
        arguments! { $then!$told $kind
            [$($m)* $name: *mut Self,] [$($f)* $name: *mut Number,] $l [$($c)* $name,] $o
            ($($rest)*) }
    };
    ($then:ident!$told:tt $kind:ident [$($m:tt)*] [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (read $name:ident, $($rest:tt)*)) => {
        arguments! { $then!$told $kind
            [$($m)* $name: *const Self,] [$($f)* $name: *const Number,] $l [$($c)* $name,] $o
            ($($rest)*) }
    };
    ($then:ident!$told:tt $kind:ident $m:tt [$($f:tt)*] $l:tt [$($c:tt)*] $o:tt
        (out $name:ident, $($rest:tt)*)) => {
        arguments! { $then!$told $kind
            $m [$($f)* $name: *mut Int,] $l [$($c)* &mut $name,] $o ($($rest)*) }
    };
    // What the other kind of matrices has not: an argument of the method alone.
    ($then:ident!$told:tt real [$($m:tt)*] $f:tt $l:tt $c:tt $o:tt
        (complex int $name:ident, $($rest:tt)*)) => {
        arguments! { $then!$told real [$($m)* _: Int,] $f $l $c $o ($($rest)*) }
    };
    ($then:ident!$told:tt real [$($m:tt)*] $f:tt $l:tt $c:tt $o:tt
        (complex write real $name:ident, $($rest:tt)*)) => {
        arguments! { $then!$told real
            [$($m)* _: *mut <Self as Element>::Real,] $f $l $c $o ($($rest)*) }
    };
    ($then:ident!$told:tt complex [$($m:tt)*] $f:tt $l:tt $c:tt $o:tt
        (real write $name:ident, $($rest:tt)*)) => {
        arguments! { $then!$told complex [$($m)* _: *mut Self,] $f $l $c $o ($($rest)*) }
    };
    ($then:ident!$told:tt $kind:ident $m:tt $f:tt $l:tt $c:tt $o:tt
        (complex $($rest:tt)*)) => {
        arguments! { $then!$told $kind $m $f $l $c $o ($($rest)*) }
    };
    ($then:ident!$told:tt $kind:ident $m:tt $f:tt $l:tt $c:tt $o:tt (real $($rest:tt)*)) => {
        arguments! { $then!$told $kind $m $f $l $c $o ($($rest)*) }
    };
}

macro_rules! method {
    ($name:ident ($($info:ident)?) ($($method:tt)*) $symbol:tt $passed:tt) => {
        #[doc = concat!("`", stringify!($name), "`", $("; its `", stringify!($info), "`",)? ".")]
        ///
        /// # Safety
        /// The operands are as large as its documentation asks for, and it refuses none of them.
        unsafe fn $name($($method)*) $(-> returned!($info))?;
    };
}

/// What a routine returns: `info`.
macro_rules! returned {
    ($info:ident) => {
        Int
    };
}

macro_rules! symbol {
    ($letter:literal $stem:literal $name:ident $method:tt ($($symbol:tt)*) $passed:tt) => {
        #[link_name = concat!($letter, $stem, "_")]
        pub(super) fn $name($($symbol)*);
    };
}

macro_rules! implementation {
    ($module:ident $name:ident () ($($method:tt)*) $symbol:tt ($($passed:tt)*)) => {
        #[inline]
        unsafe fn $name($($method)*) {
            // SAFETY: what the method asks for.
            unsafe { $module::$name($($passed)*) };
        }
    };
    ($module:ident $name:ident ($info:ident) ($($method:tt)*) $symbol:tt ($($passed:tt)*)) => {
        #[inline]
        unsafe fn $name($($method)*) -> Int {
            let mut $info = 0;
            // SAFETY: what the method asks for.
            unsafe { $module::$name($($passed)*) };
            $info
        }
    };
}

macro_rules! methods {
    ($($name:ident: $real:literal, $complex:literal $arguments:tt $(-> $info:ident)?;)*) => {
        /// An element type that the LAPACK at hand computes in: its routines, as they are. The module
        /// [`routines`](crate::routines) has them with their operands checked.
        #[allow(clippy::too_many_arguments)] // LAPACK's own
        pub trait Routines: Worked {
            $(arguments! { method!($name ($($info)?)) both [] [] [] [] [] $arguments })*
        }
    };
}
list!(methods!());

/// One dtype's symbols, as the module of its letter, and its [`Routines`].
macro_rules! dtype {
    (
        real $letter:literal $module:ident $number:ty, $part:ty;
        $($name:ident: $stem:literal, $_:literal $arguments:tt $(-> $info:ident)?;)*
    ) => {
        dtype! { @ real $letter $module $number, $part; $($name: $stem $arguments ($($info)?);)* }
    };
    (
        complex $letter:literal $module:ident $number:ty, $part:ty;
        $($name:ident: $_:literal, $stem:literal $arguments:tt $(-> $info:ident)?;)*
    ) => {
        dtype! { @ complex $letter $module $number, $part; $($name: $stem $arguments ($($info)?);)* }
    };
    (
        @ $kind:ident $letter:literal $module:ident $number:ty, $part:ty;
        $($name:ident: $stem:literal $arguments:tt $info:tt;)*
    ) => {
        mod $module {
            use super::{c_char, Int};
            type Number = $number;
            type Real = $part;

            /// The symbols' names.
            pub(super) const NAMES: &[&str] = &[$(concat!($letter, $stem, "_")),*];

            extern "C" {
                $(arguments! { symbol!($letter $stem $name) $kind [] [] [] [] [] $arguments })*
            }
        }

        impl Routines for $number {
            $(arguments! { implementation!($module $name $info) $kind [] [] [] [] [] $arguments })*
        }
    };
}

#[cfg(not(feature = "promote-f32"))]
list!(dtype!(real "s" s f32, f32;));
list!(dtype!(real "d" d f64, f64;));
#[cfg(not(feature = "promote-f32"))]
list!(dtype!(complex "c" c matrices::Complex<f32>, f32;));
list!(dtype!(complex "z" z matrices::Complex<f64>, f64;));

/// The names of all symbols that are linked, dtype by dtype.
pub const SYMBOLS: &[&[&str]] = &[
    #[cfg(not(feature = "promote-f32"))]
    s::NAMES,
    d::NAMES,
    #[cfg(not(feature = "promote-f32"))]
    c::NAMES,
    z::NAMES,
];

/// A CHARACTER of one letter.
fn letter(ascii: &u8) -> *const c_char {
    std::ptr::from_ref(ascii).cast()
}
