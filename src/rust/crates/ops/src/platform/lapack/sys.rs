//! LAPACK's Fortran symbols, as gfortran passes them: every argument by reference, and for each
//! CHARACTER argument its length as a `usize` by value after all others.

use std::ffi::c_int;

/// Fortran's default INTEGER.
pub(super) type Int = c_int;

// The package gets these symbols from R's own link line.
#[cfg_attr(feature = "link-lapack", link(name = "lapack"), link(name = "blas"))]
extern "C" {
    #[cfg(not(feature = "promote-f32"))]
    pub(super) fn sgetrf_(
        m: *const Int,
        n: *const Int,
        a: *mut f32,
        lda: *const Int,
        ipiv: *mut Int,
        info: *mut Int,
    );

    pub(super) fn dgetrf_(
        m: *const Int,
        n: *const Int,
        a: *mut f64,
        lda: *const Int,
        ipiv: *mut Int,
        info: *mut Int,
    );
}
