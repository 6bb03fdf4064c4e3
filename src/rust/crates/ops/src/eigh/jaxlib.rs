//! Eigenvalues of Hermitian matrices.

use super::host;
use super::operands::{self, SyevdIo};
use crate::letter;
use crate::platform::host::HostScalar;
use xla_ffi::{Cx, Host, Result};

crate::jaxlib::targets! {
    /// Eigenvalues and eigenvectors of Hermitian matrices by divide and conquer.
    Syevd: SyevdIo = "syevd", "heevd" by syevd
}

fn syevd<T: HostScalar>(mut io: SyevdIo<'_, T>, cx: &Cx<'_, Host>) -> Result<()> {
    let shape = operands::shape::<T, T::Real>(&io.x, &io.w, &io.info)?;
    let vectors = letter::with_vectors("mode", *io.mode)?;
    let triangle = letter::triangle("uplo", *io.uplo)?;
    io.v.copy_from(&io.x)?;
    let (w, info) = (io.w.as_mut_slice()?, io.info.as_mut_slice()?);
    host::syevd(
        (cx, shape),
        vectors,
        triangle,
        io.v.as_mut_slice()?,
        w,
        info,
    )
}
