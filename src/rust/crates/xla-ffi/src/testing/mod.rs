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
mod frame;
mod future;
mod host;
mod memory;

use core::fmt;
use core::mem::{offset_of, size_of};
use core::ptr;

use crate::entry::HandlerFn;
use crate::error::Code;
use crate::{sys, DataType, Scalar, UserData};

pub use attr::Value;
pub use frame::Frame;
use host::Host;
use memory::AlignedBytes;

pub use crate::query::Metadata;

/// What XLA would have been told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub code: Code,
    /// The message.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Failure {}

/// As [`crate::metadata`], for a test.
#[must_use]
pub fn metadata(handler: HandlerFn) -> Option<Metadata> {
    // SAFETY: what a test asks is a handler.
    unsafe { crate::metadata(handler) }
}

#[derive(Debug)]
struct Buffer {
    dtype: DataType,
    dims: Vec<i64>,
    memory: AlignedBytes,
    /// Use the memory of that argument instead.
    alias: Option<usize>,
    type_: i32,
}

impl Buffer {
    fn new(dtype: DataType, dims: &[i64], bytes: &[u8]) -> Self {
        let memory = AlignedBytes::from_bytes(bytes);
        Buffer {
            dtype,
            dims: dims.to_vec(),
            memory,
            alias: None,
            type_: 1,
        }
    }
}

/// A call to be made: operands, attributes, and what the host offers.
#[derive(Debug)]
pub struct Call {
    args: Vec<Buffer>,
    rets: Vec<Buffer>,
    attrs: Vec<(String, Value)>,
    stage: sys::XLA_FFI_ExecutionStage,
    frame_size: usize,
    host: Host,
}

impl Default for Call {
    fn default() -> Self {
        Call::new()
    }
}

impl Call {
    /// A call without operands, in the execute stage, on a host without a thread pool.
    #[must_use]
    pub fn new() -> Self {
        Call {
            args: Vec::new(),
            rets: Vec::new(),
            attrs: Vec::new(),
            stage: sys::XLA_FFI_ExecutionStage_EXECUTE,
            frame_size: size_of::<sys::XLA_FFI_CallFrame>(),
            host: Host::default(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg<T: Scalar>(self, dims: &[i64], data: &[T]) -> Self {
        self.arg_of(T::DTYPE, dims, memory::bytes_of(data))
    }

    /// Adds an argument of any element type.
    #[must_use]
    pub fn arg_of(mut self, dtype: DataType, dims: &[i64], bytes: &[u8]) -> Self {
        self.args.push(Buffer::new(dtype, dims, bytes));
        self
    }

    /// Adds a result with all bytes 0.
    #[must_use]
    pub fn ret<T: Scalar>(self, dims: &[i64]) -> Self {
        self.ret_of(T::DTYPE, dims)
    }

    /// Adds a result of any element type that has a size, with all bytes 0.
    #[must_use]
    pub fn ret_of(mut self, dtype: DataType, dims: &[i64]) -> Self {
        let count = crate::dims::element_count(dims).unwrap_or(0);
        let size = crate::dims::byte_len(dtype, count).unwrap_or(0);
        self.rets.push(Buffer::new(dtype, dims, &vec![0; size]));
        self
    }

    /// Adds a result that has the memory, element type and shape of the argument at `arg`.
    #[must_use]
    pub fn ret_aliasing(mut self, arg: usize) -> Self {
        let (dtype, dims) = (self.args[arg].dtype, self.args[arg].dims.clone());
        self.rets.push(Buffer {
            alias: Some(arg),
            ..Buffer::new(dtype, &dims, &[])
        });
        self
    }

    /// Says that the last argument added is not a buffer but an operand of that type.
    #[must_use]
    pub fn last_arg_type(mut self, type_: i32) -> Self {
        if let Some(arg) = self.args.last_mut() {
            arg.type_ = type_;
        }
        self
    }

    /// Adds an attribute.
    #[must_use]
    pub fn attr(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.attrs.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the stage; execute, unless set.
    #[must_use]
    pub fn stage(mut self, stage: sys::XLA_FFI_ExecutionStage) -> Self {
        self.stage = stage;
        self
    }

    /// Gives the host a thread pool.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.host.set_threads(threads);
        self
    }

    /// Sets what the context tells: stream (0: there is none), device ordinal, run id.
    #[must_use]
    pub fn context(mut self, stream: usize, device_ordinal: i32, run_id: i64) -> Self {
        self.host.set_context(stream, device_ordinal, run_id);
        self
    }

    /// Adds data of the host's to the context of the execution.
    #[must_use]
    pub fn user_data<T: UserData>(mut self, data: &'static T) -> Self {
        self.host
            .set_user_data(T::type_id(), ptr::from_ref(data).cast());
        self
    }

    /// Makes scratch memory run out after that many bytes.
    #[must_use]
    pub fn scratch_limit(mut self, bytes: usize) -> Self {
        self.host.set_scratch_limit(bytes);
        self
    }

    /// Cuts the host's table of functions off after that many bytes, like an older XLA's.
    #[must_use]
    pub fn api_size(mut self, bytes: usize) -> Self {
        self.host.set_api_size(bytes);
        self
    }

    /// Makes the frame claim that size.
    #[must_use]
    pub fn frame_size(mut self, bytes: usize) -> Self {
        self.frame_size = bytes;
        self
    }

    /// Lays the call out in memory as XLA does.
    #[must_use]
    pub fn build(self) -> Frame {
        Frame::new(self)
    }

    /// Makes the call once, when its results are of no interest.
    ///
    /// # Errors
    /// What the handler reports.
    pub fn run(self, handler: HandlerFn) -> Result<(), Failure> {
        self.build().call(handler)
    }
}

/// Size of an API table that ends after `XLA_FFI_Handler_Register`: no services for handlers.
pub const API_WITHOUT_SERVICES: usize = offset_of!(sys::XLA_FFI_Api, XLA_FFI_Stream_Get);

/// Size of an API table that ends before the functions of futures.
pub const API_WITHOUT_FUTURES: usize = offset_of!(sys::XLA_FFI_Api, XLA_FFI_Future_Create);
