//! What cuBLAS has for batches of small matrices.

use super::{library, Handle, Ints, Stream};
use std::ffi::{c_int, c_void};

library! {
    /// `libcublas.so`.
    Cublas("cublas") {
        one create: "Create_v2"(handle: *mut Handle);
        one set_stream: "SetStream_v2"(handle: Handle, stream: Stream);
        four getrf_batched: "getrfBatched", "getrfBatched"(
            handle: Handle, n: c_int, a: *const *mut c_void, lda: c_int, pivots: Ints, info: Ints,
            count: c_int,
        );
        four geqrf_batched: "geqrfBatched", "geqrfBatched"(
            handle: Handle, m: c_int, n: c_int, a: *const *mut c_void, lda: c_int,
            tau: *const *mut c_void, info: *mut c_int, count: c_int,
        );
    }
}
