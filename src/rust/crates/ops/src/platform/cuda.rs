//! The GPU.

use super::MemoryAccess;
use cuda::{device, Cuda};
use std::borrow::Cow;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Result};

impl MemoryAccess for Cuda {
    fn copy(cx: &Cx<'_, Cuda>, from: &AnyBuffer<'_>, to: &mut AnyBufferMut<'_>) -> Result<()> {
        device::copy_buffer(cx.platform(), to, from)
    }

    fn to_host<'f>(cx: &Cx<'_, Cuda>, from: &AnyBuffer<'f>) -> Result<Cow<'f, [u8]>> {
        device::read(cx.platform(), from).map(Cow::Owned)
    }
}
