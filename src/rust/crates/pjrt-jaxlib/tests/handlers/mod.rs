//! Handlers for the tests, written with `xla-ffi`, and their registration.
#![allow(
    dead_code,
    clippy::undocumented_unsafe_blocks,
    reason = "shared by test files"
)]

use crate::call;
use crate::common::{api, Answer};
use pjrt_api::*;
use std::sync::{Condvar, Mutex};
use xla_ffi::{
    io, AnyBuffer, Arg, Attr, Cx, Error, Floats, HandlerFn, Kernel, Op, Pending, Platform, Result,
    Ret, Scalar, Untyped,
};

/// A gate at which a handler waits.
pub struct Gate(Mutex<bool>, Condvar);

impl Gate {
    pub const fn new() -> Self {
        Self(Mutex::new(false), Condvar::new())
    }

    pub fn set(&self, open: bool) {
        *self.0.lock().unwrap() = open;
        self.1.notify_all();
    }

    pub fn pass(&self) {
        let mut open = self.0.lock().unwrap();
        while !*open {
            open = self.1.wait(open).unwrap();
        }
    }
}

pub static GATE: Gate = Gate::new();

io! {
    /// Waits at the gate, then copies; fails where told to.
    pub struct GateIo<'f, T> {
        /// any shape
        x: Arg<'f, T>,
        /// that shape
        y: Ret<'f, T>,
        /// empty: no failure
        failure: Attr<&'f str> = "",
    }
}

pub struct GateOp;

impl Op for GateOp {
    const TARGET: &'static str = "test_gate";
    type Dtypes = Floats;
}

impl<T: Scalar, P: Platform> Kernel<P, T> for GateOp {
    type Io<'f> = GateIo<'f, T>;

    fn run(mut io: GateIo<'_, T>, _cx: &Cx<'_, P>) -> Result<()> {
        GATE.pass();
        if !io.failure.is_empty() {
            return Err(Error::invalid_argument(io.failure.to_string()));
        }
        io.y.copy_from(&io.x)
    }
}

io! {
    /// Looks at its argument, fails where told to.
    pub struct LookIo<'f> {
        /// any shape
        x: AnyBuffer<'f>,
        /// empty: no failure
        failure: Attr<&'f str> = "",
    }
}

pub static LOOKS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

pub struct Look;

impl Op for Look {
    const TARGET: &'static str = "test_look";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for Look {
    type Io<'f> = LookIo<'f>;

    fn run(io: LookIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        if !io.failure.is_empty() {
            return Err(Error::internal(io.failure.to_string()));
        }
        LOOKS.lock().unwrap().push(io.x.as_bytes()?.to_vec());
        Ok(())
    }
}

io! {
    /// Says how many threads XLA has for a program.
    pub struct ThreadsIo<'f> {
        /// one number
        threads: Ret<'f, i32>,
    }
}

pub struct Threads;

impl Op for Threads {
    const TARGET: &'static str = "test_threads";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for Threads {
    type Io<'f> = ThreadsIo<'f>;

    fn run(mut io: ThreadsIo<'_>, cx: &Cx<'_, P>) -> Result<()> {
        io.threads.as_mut_slice()?.fill(cx.num_threads() as i32);
        Ok(())
    }
}

io! {
    /// Copies; fails on one device.
    pub struct FailsOnIo<'f> {
        /// any shape
        x: Arg<'f, f32>,
        /// that shape
        y: Ret<'f, f32>,
        /// its ordinal
        device: Attr<i32>,
    }
}

pub struct FailsOn;

impl Op for FailsOn {
    const TARGET: &'static str = "test_fails_on";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for FailsOn {
    type Io<'f> = FailsOnIo<'f>;

    fn run(mut io: FailsOnIo<'_>, cx: &Cx<'_, P>) -> Result<()> {
        if cx.device_ordinal()? == *io.device {
            return Err(Error::invalid_argument("not here"));
        }
        io.y.copy_from(&io.x)
    }
}

io! {
    /// Gives 1; fails on one device.
    pub struct OneIo<'f> {
        /// one number
        y: Ret<'f, i32>,
        /// its ordinal
        device: Attr<i32>,
    }
}

pub struct One;

impl Op for One {
    const TARGET: &'static str = "test_one";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for One {
    type Io<'f> = OneIo<'f>;

    fn run(mut io: OneIo<'_>, cx: &Cx<'_, P>) -> Result<()> {
        if cx.device_ordinal()? == *io.device {
            return Err(Error::invalid_argument("not here"));
        }
        io.y.as_mut_slice()?.fill(1);
        Ok(())
    }
}

io! {
    /// As [`FailsOn`], some time after it has returned.
    pub struct FailsLaterIo<'f> {
        /// any shape
        x: Arg<'f, f32>,
        /// that shape
        y: Ret<'f, f32>,
        /// its ordinal
        device: Attr<i32>,
        /// until then
        pending: Pending<'f>,
    }
}

pub struct FailsLater;

impl Op for FailsLater {
    const TARGET: &'static str = "test_fails_later";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for FailsLater {
    type Io<'f> = FailsLaterIo<'f>;

    fn run(io: FailsLaterIo<'_>, cx: &Cx<'_, P>) -> Result<()> {
        let fails = cx.device_ordinal()? == *io.device;
        let (x, mut y) = (io.pending.keep(io.x)?, io.pending.keep_mut(io.y)?);
        let promise = io.pending.promise();
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(2));
            y.copy_from_slice(&x);
            promise.complete(match fails {
                true => Err(Error::invalid_argument("not here")),
                false => Ok(()),
            });
        });
        Ok(())
    }
}

/// Registers a handler the way PJRT clients do.
pub fn register(target: &str, platform: &str, handler: Option<HandlerFn>) -> Answer<()> {
    let extension = unsafe { &*api().extension_start.cast::<PJRT_FFI_Extension>() };
    let mut args = PJRT_FFI_Register_Handler_Args::new();
    (args.target_name, args.target_name_size) = (target.as_ptr().cast(), target.len());
    (args.platform_name, args.platform_name_size) = (platform.as_ptr().cast(), platform.len());
    args.handler = handler.map_or(std::ptr::null_mut(), |h| h as *mut _);
    let error = unsafe { extension.register_handler.unwrap()(&mut args) };
    crate::common::answer(error)
}

/// Waits at the gate in a program too large for XLA to run on the caller's thread.
pub fn gated(failure: &str) -> String {
    format!(
        "func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {{
           %0 = stablehlo.custom_call @test_gate(%x) {{
             backend_config = {{failure = \"{failure}\"}}, api_version = 4 : i32
           }} : (tensor<256x256xf32>) -> tensor<256x256xf32>
           %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0]
             : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
           return %1 : tensor<256x256xf32>
         }}"
    )
}

pub fn is_ready(event: *mut PJRT_Event) -> bool {
    call!(PJRT_Event_IsReady, PJRT_Event_IsReady_Args { event })
        .unwrap()
        .is_ready
}
