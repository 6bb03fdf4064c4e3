//! The GPU.

use super::MemoryAccess;
use cuda::{device, Cuda};
use std::borrow::Cow;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Result};

impl MemoryAccess for Cuda {
    fn copy(cx: &Cx<'_, Cuda>, from: &AnyBuffer<'_>, to: &mut AnyBufferMut<'_>) -> Result<()> {
        to.expect_dtype(from.dtype())?;
        to.expect_dims(from.dims())?;
        let (bytes, data) = (from.byte_len()?, to.as_mut_ptr());
        if from.as_ptr() == data.cast_const() {
            return Ok(());
        }
        device::copy(cx.platform(), data, device::argument(from)?, bytes)
    }

    fn to_host<'f>(cx: &Cx<'_, Cuda>, from: &AnyBuffer<'f>) -> Result<Cow<'f, [u8]>> {
        device::read(cx.platform(), from.as_ptr(), from.byte_len()?).map(Cow::Owned)
    }
}
