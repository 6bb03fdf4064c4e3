//! LAPACK's and BLAS's Fortran symbols, as gfortran passes them: every argument by reference, and
//! for each CHARACTER argument its length as a `usize` by value after all others.

use std::ffi::{c_char, c_int};

/// Fortran's default INTEGER, and its LOGICAL.
pub(super) type Int = c_int;

/// A CHARACTER argument.
pub(super) type Char = *const c_char;

// The package gets these symbols from R's own link line.
#[cfg(feature = "link-lapack")]
#[link(name = "lapack")]
#[link(name = "blas")]
extern "C" {}

/// The routines with the same arguments for real and complex matrices, but for their names.
macro_rules! common {
    ($letter:literal, $t:ty, $real:ty, $orgqr:literal, $sytrd:literal) => {
        extern "C" {
            #[link_name = concat!($letter, "getrf_")]
            pub(in super::super) fn getrf(
                m: *const Int,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                ipiv: *mut Int,
                info: *mut Int,
            );

            #[link_name = concat!($letter, "geqrf_")]
            pub(in super::super) fn geqrf(
                m: *const Int,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                tau: *mut $t,
                work: *mut $t,
                lwork: *const Int,
                info: *mut Int,
            );

            #[link_name = concat!($letter, $orgqr, "mqr_")]
            pub(in super::super) fn ormqr(
                side: Char,
                trans: Char,
                m: *const Int,
                n: *const Int,
                k: *const Int,
                a: *mut $t,
                lda: *const Int,
                tau: *const $t,
                c: *mut $t,
                ldc: *const Int,
                work: *mut $t,
                lwork: *const Int,
                info: *mut Int,
                side_len: usize,
                trans_len: usize,
            );

            #[link_name = concat!($letter, "gehrd_")]
            pub(in super::super) fn gehrd(
                n: *const Int,
                ilo: *const Int,
                ihi: *const Int,
                a: *mut $t,
                lda: *const Int,
                tau: *mut $t,
                work: *mut $t,
                lwork: *const Int,
                info: *mut Int,
            );

            #[link_name = concat!($letter, "gtsv_")]
            pub(in super::super) fn gtsv(
                n: *const Int,
                nrhs: *const Int,
                dl: *mut $t,
                d: *mut $t,
                du: *mut $t,
                b: *mut $t,
                ldb: *const Int,
                info: *mut Int,
            );

            #[link_name = concat!($letter, $sytrd, "trd_")]
            pub(in super::super) fn sytrd(
                uplo: Char,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                d: *mut $real,
                e: *mut $real,
                tau: *mut $t,
                work: *mut $t,
                lwork: *const Int,
                info: *mut Int,
                uplo_len: usize,
            );

            #[link_name = concat!($letter, "potrf_")]
            pub(in super::super) fn potrf(
                uplo: Char,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                info: *mut Int,
                uplo_len: usize,
            );

            #[link_name = concat!($letter, "trsm_")]
            pub(in super::super) fn trsm(
                side: Char,
                uplo: Char,
                transa: Char,
                diag: Char,
                m: *const Int,
                n: *const Int,
                alpha: *const $t,
                a: *const $t,
                lda: *const Int,
                b: *mut $t,
                ldb: *const Int,
                side_len: usize,
                uplo_len: usize,
                transa_len: usize,
                diag_len: usize,
            );

            #[link_name = concat!($letter, $orgqr, "gqr_")]
            pub(in super::super) fn orgqr(
                m: *const Int,
                n: *const Int,
                k: *const Int,
                a: *mut $t,
                lda: *const Int,
                tau: *const $t,
                work: *mut $t,
                lwork: *const Int,
                info: *mut Int,
            );
        }
    };
}

/// What only real matrices have in this form.
macro_rules! real {
    ($letter:literal, $t:ty) => {
        common!($letter, $t, $t, "or", "sy");

        extern "C" {
            #[link_name = concat!($letter, "gesdd_")]
            pub(in super::super) fn gesdd(
                jobz: Char,
                m: *const Int,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                s: *mut $t,
                u: *mut $t,
                ldu: *const Int,
                vt: *mut $t,
                ldvt: *const Int,
                work: *mut $t,
                lwork: *const Int,
                iwork: *mut Int,
                info: *mut Int,
                jobz_len: usize,
            );

            #[link_name = concat!($letter, "geqp3_")]
            pub(in super::super) fn geqp3(
                m: *const Int,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                jpvt: *mut Int,
                tau: *mut $t,
                work: *mut $t,
                lwork: *const Int,
                info: *mut Int,
            );

            #[link_name = concat!($letter, "syevd_")]
            pub(in super::super) fn syevd(
                jobz: Char,
                uplo: Char,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                w: *mut $t,
                work: *mut $t,
                lwork: *const Int,
                iwork: *mut Int,
                liwork: *const Int,
                info: *mut Int,
                jobz_len: usize,
                uplo_len: usize,
            );
        }
    };
}

/// What complex matrices have with real workspace besides.
macro_rules! complex {
    ($letter:literal, $t:ty, $real:ty) => {
        common!($letter, $t, $real, "un", "he");

        extern "C" {
            #[link_name = concat!($letter, "gesdd_")]
            pub(in super::super) fn gesdd(
                jobz: Char,
                m: *const Int,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                s: *mut $real,
                u: *mut $t,
                ldu: *const Int,
                vt: *mut $t,
                ldvt: *const Int,
                work: *mut $t,
                lwork: *const Int,
                rwork: *mut $real,
                iwork: *mut Int,
                info: *mut Int,
                jobz_len: usize,
            );

            #[link_name = concat!($letter, "geqp3_")]
            pub(in super::super) fn geqp3(
                m: *const Int,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                jpvt: *mut Int,
                tau: *mut $t,
                work: *mut $t,
                lwork: *const Int,
                rwork: *mut $real,
                info: *mut Int,
            );

            #[link_name = concat!($letter, "heevd_")]
            pub(in super::super) fn heevd(
                jobz: Char,
                uplo: Char,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                w: *mut $real,
                work: *mut $t,
                lwork: *const Int,
                rwork: *mut $real,
                lrwork: *const Int,
                iwork: *mut Int,
                liwork: *const Int,
                info: *mut Int,
                jobz_len: usize,
                uplo_len: usize,
            );
        }
    };
}

#[cfg(not(feature = "promote-f32"))]
pub(super) mod s {
    use super::{Char, Int};
    real!("s", f32);
}

pub(super) mod d {
    use super::{Char, Int};
    real!("d", f64);
}

#[cfg(not(feature = "promote-f32"))]
pub(super) mod c {
    use super::{Char, Int};
    use xla_ffi::Complex;
    complex!("c", Complex<f32>, f32);
}

pub(super) mod z {
    use super::{Char, Int};
    use xla_ffi::Complex;
    complex!("z", Complex<f64>, f64);
}
