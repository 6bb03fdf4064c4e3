//! A host's thread that has other work to do where it waits for the plugin.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
mod common;
mod handlers;
use common::several::*;
use common::*;
use handlers::register;
use pjrt_api::*;
use pjrt_jaxlib::{attend_by, Attendant};
use std::cell::Cell;
use std::sync::mpsc::{channel, Sender};
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, Thread};
use std::time::Duration;
use xla_ffi::{handler, io, Arg, Code, Cx, Error, Host, Kernel, Op, Ret, Untyped};

/// What handlers ask of the thread: a number, and where its double is to go.
static ASKED: Mutex<Vec<(f32, Sender<f32>)>> = Mutex::new(Vec::new());
static THREAD: Mutex<Option<Thread>> = Mutex::new(None);

thread_local! {
    static IS_HERE: Cell<bool> = const { Cell::new(false) };
    static SERVED: Cell<usize> = const { Cell::new(0) };
}

struct AskOp;

impl Op for AskOp {
    const TARGET: &'static str = "ask";
    type Dtypes = Untyped;
}

io! {
    struct AskIo<'f> {
        x: Arg<'f, f32>,
        y: Ret<'f, f32>,
    }
}

impl Kernel<Host> for AskOp {
    type Io<'f> = AskIo<'f>;

    fn run(mut io: AskIo<'_>, _cx: &Cx<'_, Host>) -> xla_ffi::Result<()> {
        let x = io.x.as_slice()?[0];
        if IS_HERE.get() {
            return Err(Error::internal("XLA ran this on the caller's own thread"));
        }
        let (sender, answer) = channel();
        ASKED.lock().unwrap().push((x, sender));
        if let Some(thread) = &*THREAD.lock().unwrap() {
            thread.unpark();
        }
        // Long for a machine, short for a test that fails.
        let answer = answer
            .recv_timeout(Duration::from_secs(20))
            .map_err(|_| Error::new(Code::DeadlineExceeded, "nobody came"))?;
        io.y.as_mut_slice()?.fill(answer);
        Ok(())
    }
}

fn attend(turn: &mut dyn FnMut(Duration) -> bool) {
    while !turn(Duration::from_millis(100)) {
        for (x, answer) in ASKED.lock().unwrap().drain(..) {
            SERVED.set(SERVED.get() + 1);
            answer.send(2.0 * x).unwrap();
        }
    }
}

/// A program that XLA runs on its own threads: before the call it has something to do.
const PROGRAM: &str = "
func.func @main(%x: tensor<f32>) -> tensor<4xf32> {
  %m = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<300x300xf32>
  %p = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<300x300xf32>, tensor<300x300xf32>) -> tensor<300x300xf32>
  %s = stablehlo.slice %p [0:1, 0:1] : (tensor<300x300xf32>) -> tensor<1x1xf32>
  %v = stablehlo.reshape %s : (tensor<1x1xf32>) -> tensor<f32>
  %y = stablehlo.custom_call @test_ask(%v) {api_version = 4 : i32} : (tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}";

/// Makes this thread the one with other work, for a test that has the lock.
fn attended() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let one = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    // Registered before by the other test, it stays.
    let _ = register("test_ask", "host", Some(handler::<AskOp, Host>));
    *THREAD.lock().unwrap() = Some(thread::current());
    IS_HERE.set(true);
    attend_by(Attendant {
        is_here: || IS_HERE.get(),
        attend,
        run: |_, work| {
            work();
            Ok(())
        },
    });
    one
}

/// Each device asks, and all add up what they were told: cheap enough for XLA to be through at the launch.
const SEVERAL: &str = "
func.func @main(%x: tensor<f32>) -> tensor<4xf32> {
  %y = stablehlo.custom_call @test_ask(%x) {api_version = 4 : i32} : (tensor<f32>) -> tensor<4xf32>
  %s = \"stablehlo.all_reduce\"(%y) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}";

#[test]
fn a_launch_over_several_devices_is_such_a_wait() {
    let client = eight();
    let _one = attended();
    let program = compile_over(client, SEVERAL, Over::replicas(4));
    let x: Vec<_> = (0..4)
        .map(|d| vec![f32s_on(client, d, &[], &[1. + d as f32])])
        .collect();
    let before = SERVED.get();
    for _ in 0..3 {
        let out = execute_over(program, &x).unwrap();
        for of_device in &out {
            assert_eq!(read::<f32>(of_device[0]).unwrap(), [20.; 4]);
        }
        out.into_iter().flatten().for_each(destroy);
    }
    assert_eq!(SERVED.get(), before + 12);
    x.into_iter().flatten().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn a_thread_that_waits_does_its_other_work() {
    let client = client();
    let _one = attended();
    let program = compile(client, PROGRAM);
    let x = f32s(client, &[], &[1.0]);
    type Wait = fn(*mut PJRT_Buffer, *mut PJRT_Event);
    let ways: [Wait; 3] = [
        |_, event| wait(event).unwrap(),
        |buffer, _| assert_eq!(read::<f32>(buffer).unwrap(), [600.0; 4]),
        |buffer, _| assert_ne!(address(buffer).unwrap(), 0),
    ];
    for (so_often, way) in ways.into_iter().enumerate() {
        let (out, event) = execute_with(program, &[x], How::default()).unwrap();
        assert_eq!(SERVED.get(), so_often);
        way(out[0], event);
        assert_eq!(SERVED.get(), so_often + 1);
        assert_eq!(read::<f32>(out[0]).unwrap(), [600.0; 4]);
        destroy_event(event);
        destroy(out[0]);
    }
    destroy(x);
    destroy_executable(program);
}
