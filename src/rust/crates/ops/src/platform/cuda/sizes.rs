//! Which way a batch goes, by its sizes. The one place to change after measuring
//! (`tools/gpu/check`): none of these numbers has been measured on a GPU yet. They follow what
//! NVIDIA's manuals and jaxlib's practice say of the routines.

use crate::platform::Matrices;

/// Whether cuBLAS factors all matrices at once. Its kernels give a matrix to one block of threads,
/// which is slow for a large one unless there are many; a matrix by itself is cuSOLVER's.
pub fn lu_at_once(shape: Matrices) -> bool {
    shape.rows == shape.cols && at_once(shape)
}

/// The same for QR factorisation.
pub fn qr_at_once(shape: Matrices) -> bool {
    at_once(shape)
}

fn at_once(shape: Matrices) -> bool {
    let larger = i64::from(shape.rows.max(shape.cols));
    shape.count > 1
        && larger <= 1024
        && larger <= 128 * i64::try_from(shape.count).unwrap_or(i64::MAX)
}

/// Whether one launch makes the columns of all Q: a thread a column, so there must be enough of
/// them, and reflectors short enough to stay in the caches.
pub fn columns_at_once(shape: Matrices) -> bool {
    shape.count > 1 && shape.rows <= 128
}

/// Whether cuSOLVER factors all matrices at once by Cholesky's method.
pub fn cholesky_at_once(shape: Matrices) -> bool {
    shape.count > 1 && shape.rows <= 512
}

/// Up to how many rows Jacobi's method is taken for eigenvalues: one block of threads has it all.
pub const EIGH_JACOBI: i32 = 32;

/// Up to how many rows and columns `gesvdjBatched` works: its limit.
pub const SVD_AT_ONCE: i32 = 32;

/// Up to this rank singular values come from Jacobi's method, beyond by QR iteration.
pub const SVD_JACOBI: i32 = 1024;
