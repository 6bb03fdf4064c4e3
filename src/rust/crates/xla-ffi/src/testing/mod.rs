//! Call handlers without XLA, in tests.
//!
//! ```
//! use xla_ffi::{io, testing::Call, Arg, Cx, Floats, Host, Kernel, Op, Platform, Result, Ret, Scalar};
//!
//! io! {
//!     struct FirstIo<'f, T> {
//!         x: Arg<'f, T>,
//!         y: Ret<'f, T>,
//!     }
//! }
//!
//! struct First;
//!
//! impl Op for First {
//!     const TARGET: &'static str = "first";
//!     type Dtypes = Floats;
//! }
//!
//! impl<T: Scalar, P: Platform> Kernel<P, T> for First {
//!     type Io<'f> = FirstIo<'f, T>;
//!
//!     fn run(mut io: FirstIo<'_, T>, _cx: &Cx<'_, P>) -> Result<()> {
//!         io.y.as_mut_slice()?[0] = io.x.as_slice()?[0];
//!         Ok(())
//!     }
//! }
//!
//! let mut frame = Call::new().arg(&[2], &[1.5f32, 2.5]).ret::<f32>(&[]).build();
//! frame.call(xla_ffi::handler::<First, Host>).unwrap();
//! assert_eq!(frame.ret::<f32>(0), [1.5]);
//!
//! let failure = Call::new().arg(&[1], &[1i32]).ret::<f32>(&[]).run(xla_ffi::handler::<First, Host>);
//! assert_eq!(failure.unwrap_err().to_string(), "INVALID_ARGUMENT: first: argument `x` must be f32 or f64, got i32");
//! ```

mod attr;
mod call;
mod failure;
mod frame;
mod future;
mod host;
mod memory;
mod pool;
mod raw_error;

use core::mem::offset_of;

use crate::sys;
use crate::version::HandlerFn;

pub use attr::Value;
pub use call::Call;
pub use failure::Failure;
pub use frame::Frame;

pub use crate::query::Metadata;

/// As [`crate::metadata`], for a test.
#[must_use]
pub fn metadata(handler: HandlerFn) -> Option<Metadata> {
    // SAFETY: what a test asks is a handler.
    unsafe { crate::metadata(handler) }
}

/// Size of an API table that ends after `XLA_FFI_Handler_Register`: no services for handlers.
pub const API_WITHOUT_SERVICES: usize = offset_of!(sys::XLA_FFI_Api, XLA_FFI_Stream_Get);

/// Size of an API table that ends before the functions of futures.
pub const API_WITHOUT_FUTURES: usize = offset_of!(sys::XLA_FFI_Api, XLA_FFI_Future_Create);
