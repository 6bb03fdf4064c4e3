//! What op bodies ask of every platform: reach of its memory. What one op needs beside that is a trait
//! in its module (`LuSolver`), with the platforms' implementations in `host.rs` and `cuda.rs` there.

mod cuda;
pub mod host;

use matrices::Matrices;
use std::borrow::Cow;
use xla_ffi::{AnyBuffer, AnyBufferMut, Cx, Platform, Result};

/// A call of an op, and the shape of its batch of matrices.
pub type Call<'a, 'f, P> = (&'a Cx<'f, P>, Matrices);

/// Results of a call, which a platform writes.
pub type Results<'a, 'f, const N: usize> = [&'a mut AnyBufferMut<'f>; N];

/// Reach of a platform's memory.
pub trait MemoryAccess: Platform {
    /// Copies an argument to a result of the same shape, unless XLA gave them the same memory.
    ///
    /// # Errors
    /// The shapes or element types differ; the platform's own.
    fn copy(cx: &Cx<'_, Self>, from: &AnyBuffer<'_>, to: &mut AnyBufferMut<'_>) -> Result<()>;

    /// The bytes of an argument where this processor can read them.
    ///
    /// # Errors
    /// The platform's own.
    fn to_host<'f>(cx: &Cx<'_, Self>, from: &AnyBuffer<'f>) -> Result<Cow<'f, [u8]>>;
}
