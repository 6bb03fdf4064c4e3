//! Handles of the libraries for a call.

use super::pool::{Lent, Pool};
use super::sys::{Cublas, Cusolver, Handle};
use super::{libraries, status, Cuda};
use std::ptr;
use xla_ffi::Result;

/// Context and stream: a handle's device memory is used in the order of one stream.
type Key = (usize, usize);

/// A handle of cuSOLVER and the parameter sets that its routines take, all with their defaults.
#[derive(Clone, Copy)]
pub struct Solver {
    /// The library.
    pub library: &'static Cusolver,
    /// `cusolverDnHandle_t`.
    pub handle: Handle,
    /// `cusolverDnParams_t`.
    pub params: Handle,
    /// `syevjInfo_t`: sorts eigenvalues.
    pub syevj: Handle,
    /// `gesvdjInfo_t`: sorts singular values.
    pub gesvdj: Handle,
}

// SAFETY: a handle may be used by any thread, one at a time, which the pool sees to; parameter sets
// are not changed.
unsafe impl Send for Solver {}

/// A handle of cuBLAS.
#[derive(Clone, Copy)]
pub struct Blas {
    /// The library.
    pub library: &'static Cublas,
    /// `cublasHandle_t`.
    pub handle: Handle,
}

// SAFETY: as for `Solver`.
unsafe impl Send for Blas {}

static SOLVERS: Pool<Key, Solver> = Pool::new();
static BLASES: Pool<Key, Blas> = Pool::new();

fn key(cuda: &Cuda) -> Key {
    (cuda.context, cuda.stream as usize)
}

/// A handle of cuSOLVER on the call's stream.
///
/// # Errors
/// The library is missing or makes none.
pub fn solver(cuda: &Cuda) -> Result<Lent<'static, Key, Solver>> {
    let solver = SOLVERS.borrow(key(cuda), make_solver)?;
    // SAFETY: a handle that nobody else has now, the call's stream. Set for every call: a stream
    // that was made anew may have an old one's address.
    let set = unsafe { (solver.library.set_stream)(solver.handle, cuda.stream) };
    status::cusolver("SetStream", set).map(|()| solver)
}

/// A handle of cuBLAS on the call's stream.
///
/// # Errors
/// The library is missing or makes none.
pub fn blas(cuda: &Cuda) -> Result<Lent<'static, Key, Blas>> {
    let blas = BLASES.borrow(key(cuda), make_blas)?;
    // SAFETY: as in `solver`.
    let set = unsafe { (blas.library.set_stream)(blas.handle, cuda.stream) };
    status::cublas("SetStream", set).map(|()| blas)
}

fn make_solver() -> Result<Solver> {
    let library = libraries::cusolver()?;
    let [mut handle, mut params, mut syevj, mut gesvdj] = [ptr::null_mut(); 4];
    // SAFETY: each is where the answer goes.
    unsafe {
        status::cusolver("Create", (library.create)(&mut handle))?;
        status::cusolver("CreateParams", (library.create_params)(&mut params))?;
        status::cusolver("CreateSyevjInfo", (library.create_syevj_info)(&mut syevj))?;
        status::cusolver(
            "CreateGesvdjInfo",
            (library.create_gesvdj_info)(&mut gesvdj),
        )?;
    }
    Ok(Solver {
        library,
        handle,
        params,
        syevj,
        gesvdj,
    })
}

fn make_blas() -> Result<Blas> {
    let library = libraries::cublas()?;
    let mut handle = ptr::null_mut();
    // SAFETY: `handle` is where the answer goes.
    status::cublas("Create", unsafe { (library.create)(&mut handle) })?;
    Ok(Blas { library, handle })
}
