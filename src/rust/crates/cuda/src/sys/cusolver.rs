//! cuSOLVER's dense routines.

use super::{library, Data, Handle, Ints, Stream};
use std::ffi::{c_int, c_schar, c_void};

/// A length that a routine asks for, in elements.
type Length = *mut c_int;

library! {
    /// `libcusolver.so`.
    Cusolver("cusolverDn") {
        one create: "Create"(handle: *mut Handle);
        one set_stream: "SetStream"(handle: Handle, stream: Stream);
        one create_params: "CreateParams"(params: *mut Handle);
        one create_syevj_info: "CreateSyevjInfo"(params: *mut Handle);
        one create_gesvdj_info: "CreateGesvdjInfo"(params: *mut Handle);
        one xsyevd_size: "Xsyevd_bufferSize"(
            handle: Handle, params: Handle, jobz: c_int, uplo: c_int, n: i64, a_type: c_int, a: *const c_void,
            lda: i64, w_type: c_int, w: *const c_void, compute_type: c_int,
            device_bytes: *mut usize, host_bytes: *mut usize,
        );
        one xsyevd: "Xsyevd"(
            handle: Handle, params: Handle, jobz: c_int, uplo: c_int, n: i64, a_type: c_int, a: Data, lda: i64,
            w_type: c_int, w: Data, compute_type: c_int,
            device: Data, device_bytes: usize, host: *mut c_void, host_bytes: usize, info: Ints,
        );
        one xgesvd_size: "Xgesvd_bufferSize"(
            handle: Handle, params: Handle, jobu: c_schar, jobvt: c_schar, m: i64, n: i64,
            a_type: c_int, a: *const c_void, lda: i64, s_type: c_int, s: *const c_void,
            u_type: c_int, u: *const c_void, ldu: i64, vt_type: c_int, vt: *const c_void, ldvt: i64,
            compute_type: c_int, device_bytes: *mut usize, host_bytes: *mut usize,
        );
        one xgesvd: "Xgesvd"(
            handle: Handle, params: Handle, jobu: c_schar, jobvt: c_schar, m: i64, n: i64,
            a_type: c_int, a: Data, lda: i64, s_type: c_int, s: Data,
            u_type: c_int, u: Data, ldu: i64, vt_type: c_int, vt: Data, ldvt: i64,
            compute_type: c_int, device: Data, device_bytes: usize, host: *mut c_void, host_bytes: usize,
            info: Ints,
        );
        one xgesvdp_size: "Xgesvdp_bufferSize"(
            handle: Handle, params: Handle, jobz: c_int, econ: c_int, m: i64, n: i64,
            a_type: c_int, a: *const c_void, lda: i64, s_type: c_int, s: *const c_void,
            u_type: c_int, u: *const c_void, ldu: i64, v_type: c_int, v: *const c_void, ldv: i64,
            compute_type: c_int, device_bytes: *mut usize, host_bytes: *mut usize,
        );
        one xgesvdp: "Xgesvdp"(
            handle: Handle, params: Handle, jobz: c_int, econ: c_int, m: i64, n: i64,
            a_type: c_int, a: Data, lda: i64, s_type: c_int, s: Data,
            u_type: c_int, u: Data, ldu: i64, v_type: c_int, v: Data, ldv: i64,
            compute_type: c_int, device: Data, device_bytes: usize, host: *mut c_void, host_bytes: usize,
            info: Ints, sigma_error: *mut f64,
        );
        four getrf_size: "getrf_bufferSize", "getrf_bufferSize"(
            handle: Handle, m: c_int, n: c_int, a: Data, lda: c_int, length: Length,
        );
        four getrf: "getrf", "getrf"(
            handle: Handle, m: c_int, n: c_int, a: Data, lda: c_int, work: Data, pivots: Ints, info: Ints,
        );
        four geqrf_size: "geqrf_bufferSize", "geqrf_bufferSize"(
            handle: Handle, m: c_int, n: c_int, a: Data, lda: c_int, length: Length,
        );
        four geqrf: "geqrf", "geqrf"(
            handle: Handle, m: c_int, n: c_int, a: Data, lda: c_int, tau: Data, work: Data, length: c_int,
            info: Ints,
        );
        four orgqr_size: "orgqr_bufferSize", "ungqr_bufferSize"(
            handle: Handle, m: c_int, n: c_int, k: c_int, a: *const c_void, lda: c_int, tau: *const c_void,
            length: Length,
        );
        four orgqr: "orgqr", "ungqr"(
            handle: Handle, m: c_int, n: c_int, k: c_int, a: Data, lda: c_int, tau: *const c_void,
            work: Data, length: c_int, info: Ints,
        );
        four ormqr_size: "ormqr_bufferSize", "unmqr_bufferSize"(
            handle: Handle, side: c_int, trans: c_int, m: c_int, n: c_int, k: c_int, a: *const c_void,
            lda: c_int, tau: *const c_void, c: *const c_void, ldc: c_int, length: Length,
        );
        four ormqr: "ormqr", "unmqr"(
            handle: Handle, side: c_int, trans: c_int, m: c_int, n: c_int, k: c_int, a: *const c_void,
            lda: c_int, tau: *const c_void, c: Data, ldc: c_int, work: Data, length: c_int, info: Ints,
        );
        four potrf_size: "potrf_bufferSize", "potrf_bufferSize"(
            handle: Handle, uplo: c_int, n: c_int, a: Data, lda: c_int, length: Length,
        );
        four potrf: "potrf", "potrf"(
            handle: Handle, uplo: c_int, n: c_int, a: Data, lda: c_int, work: Data, length: c_int, info: Ints,
        );
        four potrf_batched: "potrfBatched", "potrfBatched"(
            handle: Handle, uplo: c_int, n: c_int, a: *mut *mut c_void, lda: c_int, info: Ints, count: c_int,
        );
        four sytrd_size: "sytrd_bufferSize", "hetrd_bufferSize"(
            handle: Handle, uplo: c_int, n: c_int, a: *const c_void, lda: c_int, d: *const c_void,
            e: *const c_void, tau: *const c_void, length: Length,
        );
        four sytrd: "sytrd", "hetrd"(
            handle: Handle, uplo: c_int, n: c_int, a: Data, lda: c_int, d: Data, e: Data, tau: Data,
            work: Data, length: c_int, info: Ints,
        );
        four syevj_size: "syevj_bufferSize", "heevj_bufferSize"(
            handle: Handle, jobz: c_int, uplo: c_int, n: c_int, a: *const c_void, lda: c_int,
            w: *const c_void, length: Length, params: Handle,
        );
        four syevj: "syevj", "heevj"(
            handle: Handle, jobz: c_int, uplo: c_int, n: c_int, a: Data, lda: c_int, w: Data,
            work: Data, length: c_int, info: Ints, params: Handle,
        );
        four syevj_batched_size: "syevjBatched_bufferSize", "heevjBatched_bufferSize"(
            handle: Handle, jobz: c_int, uplo: c_int, n: c_int, a: *const c_void, lda: c_int,
            w: *const c_void, length: Length, params: Handle, count: c_int,
        );
        four syevj_batched: "syevjBatched", "heevjBatched"(
            handle: Handle, jobz: c_int, uplo: c_int, n: c_int, a: Data, lda: c_int, w: Data,
            work: Data, length: c_int, info: Ints, params: Handle, count: c_int,
        );
        four gesvdj_size: "gesvdj_bufferSize", "gesvdj_bufferSize"(
            handle: Handle, jobz: c_int, econ: c_int, m: c_int, n: c_int, a: *const c_void, lda: c_int,
            s: *const c_void, u: *const c_void, ldu: c_int, v: *const c_void, ldv: c_int, length: Length,
            params: Handle,
        );
        four gesvdj: "gesvdj", "gesvdj"(
            handle: Handle, jobz: c_int, econ: c_int, m: c_int, n: c_int, a: Data, lda: c_int, s: Data,
            u: Data, ldu: c_int, v: Data, ldv: c_int, work: Data, length: c_int, info: Ints, params: Handle,
        );
        four gesvdj_batched_size: "gesvdjBatched_bufferSize", "gesvdjBatched_bufferSize"(
            handle: Handle, jobz: c_int, m: c_int, n: c_int, a: *const c_void, lda: c_int,
            s: *const c_void, u: *const c_void, ldu: c_int, v: *const c_void, ldv: c_int, length: Length,
            params: Handle, count: c_int,
        );
        four gesvdj_batched: "gesvdjBatched", "gesvdjBatched"(
            handle: Handle, jobz: c_int, m: c_int, n: c_int, a: Data, lda: c_int, s: Data,
            u: Data, ldu: c_int, v: Data, ldv: c_int, work: Data, length: c_int, info: Ints,
            params: Handle, count: c_int,
        );
        late xsyev_batched_size: "XsyevBatched_bufferSize"(
            handle: Handle, params: Handle, jobz: c_int, uplo: c_int, n: i64, a_type: c_int, a: *const c_void,
            lda: i64, w_type: c_int, w: *const c_void, compute_type: c_int,
            device_bytes: *mut usize, host_bytes: *mut usize, count: i64,
        );
        late xsyev_batched: "XsyevBatched"(
            handle: Handle, params: Handle, jobz: c_int, uplo: c_int, n: i64, a_type: c_int, a: Data, lda: i64,
            w_type: c_int, w: Data, compute_type: c_int,
            device: Data, device_bytes: usize, host: *mut c_void, host_bytes: usize, info: Ints, count: i64,
        );
        late xgeev_size: "Xgeev_bufferSize"(
            handle: Handle, params: Handle, jobvl: c_int, jobvr: c_int, n: i64, a_type: c_int, a: *const c_void,
            lda: i64, w_type: c_int, w: *const c_void, vl_type: c_int, vl: *const c_void, ldvl: i64,
            vr_type: c_int, vr: *const c_void, ldvr: i64, compute_type: c_int,
            device_bytes: *mut usize, host_bytes: *mut usize,
        );
        late xgeev: "Xgeev"(
            handle: Handle, params: Handle, jobvl: c_int, jobvr: c_int, n: i64, a_type: c_int, a: Data,
            lda: i64, w_type: c_int, w: Data, vl_type: c_int, vl: Data, ldvl: i64,
            vr_type: c_int, vr: Data, ldvr: i64, compute_type: c_int,
            device: Data, device_bytes: usize, host: *mut c_void, host_bytes: usize, info: Ints,
        );
    }
}
