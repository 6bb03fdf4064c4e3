//! The CPU: LAPACK, and small matrices in vector lanes.

pub mod batch;
mod info;
mod operand;

pub use info::UnwantedInfo;
pub use operand::Changed;

use super::MemoryAccess;
use lanes::{Most, Vectorised};
use lapack::{refuse_negative, Routines, Sizes};
use matrices::{all_finite, Element, Matrices};
use std::borrow::Cow;
use std::sync::OnceLock;
use xla_ffi::{AnyBuffer, AnyBufferMut, Code, Cx, Error, Host, Result, Scalar};

/// A dtype that the CPU's ops compute with.
pub trait HostScalar:
    Scalar + Vectorised + Routines + Element<Real: Scalar, Complex: Scalar>
{
}

impl<T> HostScalar for T where
    T: Scalar + Vectorised + Routines + Element<Real: Scalar, Complex: Scalar>
{
}

/// Set to `0` before the first call, this variable leaves all matrices to LAPACK.
pub const KERNELS: &str = "XLAFFI_KERNELS";

/// Whether a kernel of the package of that size, not LAPACK, computes matrices of that shape.
pub fn kernel_suits<T: HostScalar>(shape: Matrices, most: Most) -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    lanes::suits::<T>(shape, most)
        && *WANTED.get_or_init(|| std::env::var_os(KERNELS).map_or(true, |value| value != "0"))
}

/// What LAPACK's side says, as XLA has errors.
#[cold]
pub fn xla_error(error: lapack::Error) -> Error {
    let code = match error {
        lapack::Error::TooLarge { .. } => Code::InvalidArgument,
        lapack::Error::NoMemory { .. } | lapack::Error::NoCopy | lapack::Error::NoThread(_) => {
            Code::ResourceExhausted
        }
        lapack::Error::NoLibrary { .. } => Code::FailedPrecondition,
        lapack::Error::Refused { .. } => Code::Internal,
    };
    Error::new(code, error.to_string())
}

/// The workspace that a routine needs for a matrix of that shape.
///
/// # Errors
/// The matrix is too large for LAPACK's integers.
pub fn workspace_sizes(sizes: Option<Sizes>, shape: Matrices) -> Result<Sizes> {
    Sizes::or_too_large(sizes, shape.rows, shape.cols).map_err(xla_error)
}

impl MemoryAccess for Host {
    fn copy(_: &Cx<'_, Host>, from: &AnyBuffer<'_>, to: &mut AnyBufferMut<'_>) -> Result<()> {
        to.copy_from(from)
    }

    fn to_host<'f>(_: &Cx<'_, Host>, from: &AnyBuffer<'f>) -> Result<Cow<'f, [u8]>> {
        from.as_bytes().map(Cow::Borrowed)
    }
}

/// What a batch's routine needs to know of XLA and of its matrices.
pub type Batch<'a> = (&'a xla_ffi::Context<'a>, Matrices);

/// Has a routine leave a form in `a` and the factors of its reflectors in `tau`; of a matrix with NaN
/// or an infinity both become NaN.
///
/// # Errors
/// There is no memory for a working copy; the routine refuses.
pub fn reflect<T: Routines>(
    name: &'static str,
    a: &mut [T],
    tau: &mut [T],
    routine: impl FnOnce(&mut [T], &mut [T]) -> i32,
) -> lapack::Result<()> {
    if !all_finite(a) {
        a.fill(T::NAN);
        tau.fill(T::NAN);
        return Ok(());
    }
    refuse_negative(routine(a, tau), name)
}
