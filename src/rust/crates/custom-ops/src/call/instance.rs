//! What computes, for one choice of element types.

use xla_ffi::registry::Barrier;
use xla_ffi::{DataType, Result};

use super::bound::BoundCall;
use crate::body::abi;
use crate::body::plain::PlainFunction;

/// What computes.
pub enum Body {
    /// A function that takes `xlaffi_call` of `xlaffi.h`.
    C(abi::Body),
    /// The same from a library that somebody else has compiled: what it throws is caught.
    Foreign(abi::Body, &'static Barrier),
    /// A function of pointers and integers.
    Plain(PlainFunction),
    /// A function of this process's host. It may be dropped on any thread.
    Host(HostBody),
}

// SAFETY: addresses of functions, which may be called from any thread: that is what whoever makes the
// op promises.
unsafe impl Sync for Body {}

/// The body of [`Body::Host`]. Its errors do not name the op.
pub type HostBody = Box<dyn Fn(&mut BoundCall<'_>) -> Result<()> + Send + Sync>;

/// The body for one choice of element types.
pub struct Instance {
    /// One for each variable of the signature.
    pub dtypes: Vec<DataType>,
    /// What computes.
    pub body: Body,
    /// Makes the state of a compiled program.
    pub init: Option<abi::Init>,
    /// Frees it.
    pub cleanup: Option<abi::Cleanup>,
}

impl Instance {
    /// Without state.
    #[must_use]
    pub fn new(dtypes: Vec<DataType>, body: Body) -> Self {
        Instance {
            dtypes,
            body,
            init: None,
            cleanup: None,
        }
    }
}
