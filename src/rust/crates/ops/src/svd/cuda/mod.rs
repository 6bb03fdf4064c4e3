//! Singular values of a batch.

mod guarded;
mod thin;

pub(crate) use guarded::{gesvd, gesvdj, gesvdp, parts};

use super::SvdSolver;
use crate::platform::{Call, Results};
use cuda::{Cuda, DeviceSlice, Element};
use thin::thin;
use xla_ffi::{AnyBuffer, Result};

impl<T: Element> SvdSolver<T> for Cuda {
    type Real = T::Real;

    fn svd(call: Call<'_, '_, Self>, a: &AnyBuffer<'_>, out: Results<'_, '_, 3>) -> Result<()> {
        let [u, s, vt] = out;
        thin(call, DeviceSlice::<T>::of(a)?, parts(s, u, vt)?)
    }
}
