//! LAPACK's and BLAS's Fortran symbols, as gfortran passes them: every argument by reference, and
//! for each CHARACTER argument its length as a `usize` by value after all others.

use std::ffi::{c_char, c_int};

/// Fortran's default INTEGER, and its LOGICAL.
pub(crate) type Int = c_int;

/// A CHARACTER argument.
pub(crate) type Char = *const c_char;

// The package gets these symbols from R's own link line.
#[cfg(feature = "link-lapack")]
#[link(name = "lapack")]
#[link(name = "blas")]
extern "C" {}

/// The routines of one letter. Those of complex matrices have other names where `or` and `sy` stand
/// here, real workspace besides (`rwork` and its length), and eigenvalues in one array, not two (`w`,
/// `wi`).
macro_rules! routines {
    (
        $letter:literal, $t:ty, $real:ty, $or:literal, $sy:literal,
        {$($wi:tt)*} {$($rwork:tt)*} {$($lrwork:tt)*}
    ) => {
        extern "C" {
            #[link_name = concat!($letter, "getrf_")]
            pub(crate) fn getrf(
                m: *const Int,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                ipiv: *mut Int,
                info: *mut Int,
            );

            #[link_name = concat!($letter, "geqrf_")]
            pub(crate) fn geqrf(
                m: *const Int,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                tau: *mut $t,
                work: *mut $t,
                lwork: *const Int,
                info: *mut Int,
            );

            #[link_name = concat!($letter, $or, "gqr_")]
            pub(crate) fn orgqr(
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

            #[link_name = concat!($letter, $or, "mqr_")]
            pub(crate) fn ormqr(
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

            #[link_name = concat!($letter, "geqp3_")]
            pub(crate) fn geqp3(
                m: *const Int,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                jpvt: *mut Int,
                tau: *mut $t,
                work: *mut $t,
                lwork: *const Int,
                $($rwork)*
                info: *mut Int,
            );

            #[link_name = concat!($letter, "potrf_")]
            pub(crate) fn potrf(
                uplo: Char,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                info: *mut Int,
                uplo_len: usize,
            );

            #[link_name = concat!($letter, "trsm_")]
            pub(crate) fn trsm(
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

            #[link_name = concat!($letter, "gtsv_")]
            pub(crate) fn gtsv(
                n: *const Int,
                nrhs: *const Int,
                dl: *mut $t,
                d: *mut $t,
                du: *mut $t,
                b: *mut $t,
                ldb: *const Int,
                info: *mut Int,
            );

            #[link_name = concat!($letter, "gesdd_")]
            pub(crate) fn gesdd(
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
                $($rwork)*
                iwork: *mut Int,
                info: *mut Int,
                jobz_len: usize,
            );

            #[link_name = concat!($letter, "gesvd_")]
            pub(crate) fn gesvd(
                jobu: Char,
                jobvt: Char,
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
                $($rwork)*
                info: *mut Int,
                jobu_len: usize,
                jobvt_len: usize,
            );

            #[link_name = concat!($letter, $sy, "evd_")]
            pub(crate) fn syevd(
                jobz: Char,
                uplo: Char,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                w: *mut $real,
                work: *mut $t,
                lwork: *const Int,
                $($rwork)* $($lrwork)*
                iwork: *mut Int,
                liwork: *const Int,
                info: *mut Int,
                jobz_len: usize,
                uplo_len: usize,
            );

            #[link_name = concat!($letter, $sy, "trd_")]
            pub(crate) fn sytrd(
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

            #[link_name = concat!($letter, "gehrd_")]
            pub(crate) fn gehrd(
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

            #[link_name = concat!($letter, "geev_")]
            pub(crate) fn geev(
                jobvl: Char,
                jobvr: Char,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                w: *mut $t,
                $($wi)*
                vl: *mut $t,
                ldvl: *const Int,
                vr: *mut $t,
                ldvr: *const Int,
                work: *mut $t,
                lwork: *const Int,
                $($rwork)*
                info: *mut Int,
                jobvl_len: usize,
                jobvr_len: usize,
            );

            #[link_name = concat!($letter, "gees_")]
            pub(crate) fn gees(
                jobvs: Char,
                sort: Char,
                select: Option<extern "C" fn()>,
                n: *const Int,
                a: *mut $t,
                lda: *const Int,
                sdim: *mut Int,
                w: *mut $t,
                $($wi)*
                vs: *mut $t,
                ldvs: *const Int,
                work: *mut $t,
                lwork: *const Int,
                $($rwork)*
                bwork: *mut Int,
                info: *mut Int,
                jobvs_len: usize,
                sort_len: usize,
            );
        }
    };
}

macro_rules! real {
    ($letter:literal, $t:ty) => {
        routines!($letter, $t, $t, "or", "sy", { wi: *mut $t, } {} {});
    };
}

macro_rules! complex {
    ($letter:literal, $t:ty, $real:ty) => {
        routines!($letter, $t, $real, "un", "he", {} { rwork: *mut $real, } { lrwork: *const Int, });
    };
}

#[cfg(not(feature = "promote-f32"))]
pub(crate) mod s {
    use super::{Char, Int};
    real!("s", f32);
}

pub(crate) mod d {
    use super::{Char, Int};
    real!("d", f64);
}

#[cfg(not(feature = "promote-f32"))]
pub(crate) mod c {
    use super::{Char, Int};
    use matrices::Complex;
    complex!("c", Complex<f32>, f32);
}

pub(crate) mod z {
    use super::{Char, Int};
    use matrices::Complex;
    complex!("z", Complex<f64>, f64);
}
