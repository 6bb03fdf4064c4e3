//! jaxlib's targets on CUDA, `cusolver_…_ffi` and `cu_lu_pivots_to_permutation`, so that GPU
//! programs exported by JAX run as they are: operands, results, aliases and attributes as in jaxlib,
//! one target for all dtypes. What has the same operands on the CPU shares their declaration with
//! [`jaxlib`](crate::jaxlib).
//!
//! A matrix with NaN or an infinity gives NaN, and a positive `info` where jaxlib's callers take
//! that for "no result".

use matrices::Triangle;

/// The triangle that jaxlib's attribute `lower` names.
pub(crate) fn triangle(lower: bool) -> Triangle {
    if lower {
        Triangle::Lower
    } else {
        Triangle::Upper
    }
}
