//! A call in memory.

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr;

use super::attr::RawAttrs;
use super::call::{Buffer, Call};
use super::failure::Failure;
use super::future;
use super::raw_error::take_failure;
use crate::float_mode::as_under_xla;
use crate::version::HandlerFn;
use crate::{sys, DataType, Scalar};

/// A call laid out in memory as XLA does; it can be made any number of times.
#[derive(Debug)]
pub struct Frame {
    pub(super) raw: Box<sys::XLA_FFI_CallFrame>,
    call: Call,
    // What `raw` points to.
    _args: Operands,
    _rets: Operands,
    _attrs: RawAttrs,
}

/// XLA's arrays of types and pointers to descriptors.
#[derive(Debug)]
struct Operands {
    types: Vec<i32>,
    pointers: Vec<*mut c_void>,
    _descriptors: Vec<sys::XLA_FFI_Buffer>,
}

impl Operands {
    fn new(buffers: &mut [Buffer], data: &[*mut c_void]) -> Self {
        let mut descriptors: Vec<_> = buffers
            .iter_mut()
            .zip(data)
            .map(|(buffer, &data)| sys::XLA_FFI_Buffer {
                struct_size: size_of::<sys::XLA_FFI_Buffer>(),
                extension_start: ptr::null_mut(),
                dtype: buffer.dtype.0,
                data,
                rank: buffer.dims.len() as i64,
                dims: buffer.dims.as_mut_ptr(),
            })
            .collect();
        let pointers = descriptors
            .iter_mut()
            .map(|raw| ptr::from_mut(raw).cast())
            .collect();
        let types = buffers.iter().map(|buffer| buffer.type_).collect();
        Operands {
            types,
            pointers,
            _descriptors: descriptors,
        }
    }
}

impl Frame {
    pub(super) fn new(mut call: Call) -> Self {
        let arg_data: Vec<_> = call
            .args
            .iter_mut()
            .map(|arg| arg.memory.as_mut_ptr())
            .collect();
        let ret_data: Vec<_> = call
            .rets
            .iter_mut()
            .map(|ret| {
                ret.alias
                    .map_or_else(|| ret.memory.as_mut_ptr(), |arg| arg_data[arg])
            })
            .collect();
        let mut args = Operands::new(&mut call.args, &arg_data);
        let mut rets = Operands::new(&mut call.rets, &ret_data);
        let attrs = RawAttrs::new(std::mem::take(&mut call.attrs));
        let (api, ctx) = call.host.as_raw();
        let raw = Box::new(sys::XLA_FFI_CallFrame {
            struct_size: call.frame_size,
            extension_start: ptr::null_mut(),
            api,
            ctx,
            stage: call.stage,
            args: sys::XLA_FFI_Args {
                struct_size: size_of::<sys::XLA_FFI_Args>(),
                extension_start: ptr::null_mut(),
                size: args.types.len() as i64,
                types: args.types.as_mut_ptr(),
                args: args.pointers.as_mut_ptr(),
            },
            rets: sys::XLA_FFI_Rets {
                struct_size: size_of::<sys::XLA_FFI_Rets>(),
                extension_start: ptr::null_mut(),
                size: rets.types.len() as i64,
                types: rets.types.as_mut_ptr(),
                rets: rets.pointers.as_mut_ptr(),
            },
            attrs: attrs.raw(),
            future: ptr::null_mut(),
        });
        Frame {
            raw,
            call,
            _args: args,
            _rets: rets,
            _attrs: attrs,
        }
    }

    /// Goes on to another stage; what a handler gave to be kept stays.
    pub fn set_stage(&mut self, stage: sys::XLA_FFI_ExecutionStage) {
        self.raw.stage = stage;
    }

    /// Makes the call, and waits until it is complete.
    ///
    /// # Errors
    /// What the handler reports.
    ///
    /// # Panics
    /// The handler gives both an error and a future.
    pub fn call(&mut self, handler: HandlerFn) -> Result<(), Failure> {
        // SAFETY: a frame as XLA makes it, all of it owned by `self`.
        let error = as_under_xla(|| unsafe { handler(&mut *self.raw) });
        let future = core::mem::replace(&mut self.raw.future, ptr::null_mut());
        match take_failure(error) {
            Some(failure) => {
                assert!(future.is_null(), "there is no call to be completed later");
                Err(failure)
            }
            None if future.is_null() => Ok(()),
            // SAFETY: this host's, of this call.
            None => unsafe { future::wait(future) },
        }
    }

    /// The elements of the result at `index`, those of the argument where they share memory.
    ///
    /// # Panics
    /// There is no such result, or its elements are not of type `T`.
    #[must_use]
    pub fn ret<T: Scalar>(&self, index: usize) -> &[T] {
        let ret = &self.call.rets[index];
        ret.alias
            .map_or(ret, |arg| &self.call.args[arg])
            .elements(ret.dtype)
    }

    /// The elements of the argument at `index`.
    ///
    /// # Panics
    /// There is no such argument, or its elements are not of type `T`.
    #[must_use]
    pub fn arg<T: Scalar>(&self, index: usize) -> &[T] {
        let arg = &self.call.args[index];
        arg.elements(arg.dtype)
    }

    /// Bytes of scratch memory that the host has handed out and not got back, and how often it was
    /// asked.
    #[must_use]
    pub fn scratch(&self) -> (usize, usize) {
        self.call.host.scratch()
    }

    /// The frame, to call a handler by hand.
    pub fn as_raw(&mut self) -> &mut sys::XLA_FFI_CallFrame {
        &mut self.raw
    }
}

impl Buffer {
    fn elements<T: Scalar>(&self, dtype: DataType) -> &[T] {
        assert_eq!(dtype, T::DTYPE, "the elements are of another type");
        self.memory.as_slice()
    }
}

impl Call {
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
