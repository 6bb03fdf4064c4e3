//! Matrices that a routine changes in place.

use crate::memory::{ConstMatrices, MutMatrices};
use crate::{device, Cuda, DeviceSlice, DeviceSliceMut};
use matrices::Matrices;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Result, Scalar};

/// Matrices to be changed in place, and where they are until someone works on them: NVIDIA's routines need a copy, some
/// kernels of our own read one place and write the other.
#[derive(Debug)]
pub struct Changed<'m, T> {
    from: Option<DeviceSlice<'m, T>>,
    to: DeviceSliceMut<'m, T>,
}

impl<'m, T: Scalar> Changed<'m, T> {
    /// The argument `from`, to be changed in `to`, which may be the same memory.
    ///
    /// # Errors
    /// The element types or shapes differ; XLA gave the argument the memory of another result.
    pub fn new(from: &'m AnyBuffer<'_>, to: &'m mut AnyBufferMut<'_>) -> Result<Self> {
        to.expect_dtype(from.dtype())?;
        to.expect_dims(from.dims())?;
        let from = if from.as_ptr() == to.as_ptr() {
            None
        } else {
            Some(DeviceSlice::of(from)?)
        };
        let to = DeviceSliceMut::of(to)?;
        Ok(Changed { from, to })
    }

    /// Matrices that are there already.
    pub fn in_place(to: DeviceSliceMut<'m, T>) -> Self {
        Changed { from: None, to }
    }

    /// All of them, ready to be changed.
    ///
    /// # Errors
    /// The driver's.
    pub fn ready(mut self, cx: &Cx<'_, Cuda>, shape: Matrices) -> Result<DeviceSliceMut<'m, T>> {
        if let Some(from) = self.from {
            let len = shape.count * shape.elements();
            device::copy(cx.platform(), self.to.reborrow(), from, len)?;
        }
        Ok(self.to)
    }

    /// Where they are, and where they are to be: addresses of matrices of that shape.
    ///
    /// # Errors
    /// There are fewer elements.
    pub(crate) fn addresses(&mut self, shape: Matrices) -> Result<[u64; 2]> {
        let to: MutMatrices<'_> = self.to.matrices("a", shape.count, shape.elements())?;
        let from: Option<ConstMatrices<'_>> = match &self.from {
            Some(from) => Some(from.matrices("a", shape.count, shape.elements())?),
            None => None,
        };
        let to = to.address();
        Ok([from.map_or(to, |from| from.address()), to])
    }
}
