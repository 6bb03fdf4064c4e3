//! A call that is put together.

use core::mem::size_of;
use core::ptr;

use super::attr::Value;
use super::host::Host;
use super::memory::{self, AlignedBytes};
use crate::{sys, DataType, Scalar, UserData};

#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) dtype: DataType,
    pub(super) dims: Vec<i64>,
    pub(super) memory: AlignedBytes,
    /// Use the memory of that argument instead.
    pub(super) alias: Option<usize>,
    pub(super) type_: i32,
}

impl Buffer {
    pub(super) fn new(dtype: DataType, dims: &[i64], bytes: &[u8]) -> Self {
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
    pub(super) args: Vec<Buffer>,
    pub(super) rets: Vec<Buffer>,
    pub(super) attrs: Vec<(String, Value)>,
    pub(super) stage: sys::XLA_FFI_ExecutionStage,
    pub(super) frame_size: usize,
    pub(super) host: Host,
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
}
