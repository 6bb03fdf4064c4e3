//! Singular values of a batch.

mod guarded;
mod thin;

pub(crate) use guarded::{gesvd, gesvdj, gesvdp, parts};

use super::SvdSolver;
use crate::platform::Call;
use cuda::{Cuda, DeviceSlice, Element};
use thin::thin;
use xla_ffi::{AnyBuffer, AnyBufferMut, Result};

impl<T: Element> SvdSolver<T> for Cuda {
    type Real = T::Real;

    fn svd(
        call: Call<'_, '_, Self>,
        a: &AnyBuffer<'_>,
        [u, s, vt]: [&mut AnyBufferMut<'_>; 3],
    ) -> Result<()> {
        thin(call, DeviceSlice::<T>::of(a)?, parts(s, u, vt)?)
    }
}
