//! What is not there yet is waited for.

use super::shared::*;
use crate::call;
use crate::common::*;
use crate::handlers::*;
use pjrt_api::*;
use xla_ffi::{handler, Host};

/// A callback that sends what came to the channel at `to`.
unsafe extern "C" fn called(error: *mut PJRT_Error, to: *mut std::ffi::c_void) {
    let to = unsafe { &*to.cast::<std::sync::mpsc::Sender<Answer<()>>>() };
    to.send(answer(error)).unwrap();
}

#[test]
fn execution_is_asynchronous_and_errors_come_with_the_event() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    let x = f32s(client, &[256, 256], &vec![1.; 256 * 256]);
    for failure in ["", "the gate fell"] {
        GATE.set(false);
        let program = compile(client, &gated(failure));
        let (outs, event) = execute_with(program, &[x], How::default()).unwrap();
        let ready = call!(
            PJRT_Buffer_ReadyEvent,
            PJRT_Buffer_ReadyEvent_Args { buffer: outs[0] }
        )
        .unwrap()
        .event;
        assert!(!is_ready(event) && !is_ready(ready), "the gate is closed");
        let early = call!(PJRT_Event_Error, PJRT_Event_Error_Args { event })
            .map(drop)
            .unwrap_err();
        assert_eq!(early.message, "PJRT_Event_Error: the event is not ready");
        // Asked for before it is there: a read, a callback on each, and a deletion.
        let (calls, received) = std::sync::mpsc::channel::<Answer<()>>();
        let calls = Box::into_raw(Box::new(calls));
        let on_ready = |event| {
            call!(
                PJRT_Event_OnReady,
                PJRT_Event_OnReady_Args {
                    event,
                    callback: Some(called),
                    user_arg: calls.cast()
                }
            )
            .unwrap();
        };
        let mut host = vec![0f32; 256 * 256];
        let reading = call!(
            PJRT_Buffer_ToHostBuffer,
            PJRT_Buffer_ToHostBuffer_Args {
                src: outs[0],
                dst: host.as_mut_ptr().cast(),
                dst_size: 4 * 256 * 256,
            }
        )
        .unwrap()
        .event;
        [event, ready, reading].into_iter().for_each(on_ready);
        assert!(!is_ready(reading));
        assert!(received.try_recv().is_err());
        destroy(outs[0]);
        destroy_executable(program);
        GATE.set(true);
        let outcomes = [event, ready, reading].map(wait);
        for outcome in outcomes
            .into_iter()
            .chain((0..3).map(|_| received.recv().unwrap()))
        {
            match outcome {
                Ok(()) => assert_eq!(failure, ""),
                Err(e) => {
                    assert_eq!(e.code, PJRT_Error_Code::INVALID_ARGUMENT, "{}", e.message);
                    assert!(
                        !failure.is_empty() && e.message.contains(failure),
                        "{}",
                        e.message
                    );
                }
            }
        }
        assert!(is_ready(event));
        let error = call!(PJRT_Event_Error, PJRT_Event_Error_Args { event }).map(drop);
        assert_eq!(error.is_err(), !failure.is_empty());
        // Late callbacks come at once.
        on_ready(event);
        assert_eq!(received.try_recv().unwrap().is_err(), !failure.is_empty());
        assert_eq!(host[0], if failure.is_empty() { 256. } else { 0. });
        [event, ready, reading].into_iter().for_each(destroy_event);
        drop(unsafe { Box::from_raw(calls) });
    }
    destroy(x);
}

/// Threads of this process that wait for arrays.
#[cfg(target_os = "linux")]
fn waiting_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .filter(|name| name.starts_with("xlaffi-on-ready"))
        .count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_waits_for_one_array_are_one_thread() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn called(error: *mut PJRT_Error, _: *mut std::ffi::c_void) {
        answer(error).unwrap();
        CALLS.fetch_add(1, Ordering::SeqCst);
    }
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    let x = f32s(client, &[256, 256], &vec![1.; 256 * 256]);
    GATE.set(false);
    let program = compile(client, &gated(""));
    let (outs, done) = execute_with(program, &[x], How::default()).unwrap();
    // As a host does that waits in short turns: an event a turn.
    for _ in 0..100 {
        let event = call!(
            PJRT_Buffer_ReadyEvent,
            PJRT_Buffer_ReadyEvent_Args { buffer: outs[0] }
        )
        .unwrap()
        .event;
        assert!(!is_ready(event), "the gate is closed");
        call!(
            PJRT_Event_OnReady,
            PJRT_Event_OnReady_Args {
                event,
                callback: Some(called)
            }
        )
        .unwrap();
        destroy_event(event);
    }
    // A thread has its name a moment after it has begun.
    while waiting_threads() == 0 {
        std::thread::yield_now();
    }
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(waiting_threads(), 1);
    assert_eq!(CALLS.load(Ordering::SeqCst), 0);
    GATE.set(true);
    wait(done).unwrap();
    while waiting_threads() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(CALLS.load(Ordering::SeqCst), 100);
    destroy_event(done);
    [x, outs[0]].into_iter().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn a_handler_that_takes_its_time_does_not_hold_others_up() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    GATE.set(false);
    // Small enough for XLA to run it on the caller's thread.
    let (c, started) = (
        client as usize,
        std::sync::Arc::new(std::sync::Barrier::new(2)),
    );
    let ready = std::sync::Arc::clone(&started);
    let caller = std::thread::spawn(move || {
        let client = c as *mut PJRT_Client;
        let program = compile(
            client,
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
               %0 = stablehlo.custom_call @test_gate(%x) {api_version = 4 : i32} : (tensor<2xf32>) -> tensor<2xf32>
               return %0 : tensor<2xf32>
             }",
        );
        let x = f32s(client, &[2], &[1., 2.]);
        ready.wait();
        let out = execute(program, &[x]).unwrap()[0];
        assert_eq!(read::<f32>(out).unwrap(), [1., 2.]);
        [x, out].into_iter().for_each(destroy);
        destroy_executable(program);
    });
    started.wait();
    // Without this thread the gate would stay shut: it must get its own work done meanwhile.
    let add = compile(client, ADD);
    for _ in 0..100 {
        let x = f32s(client, &[2, 3], &[1.; 6]);
        let out = execute(add, &[x, x]).unwrap()[0];
        [x, out].into_iter().for_each(destroy);
    }
    destroy_executable(add);
    GATE.set(true);
    caller.join().unwrap();
}

#[test]
fn an_unready_argument_is_waited_for_and_its_error_passed_on() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    let x = f32s(client, &[256, 256], &vec![1.; 256 * 256]);
    GATE.set(false);
    let program = compile(client, &gated("broken early"));
    let (first, event) = execute_with(program, &[x], How::default()).unwrap();
    destroy_event(event);
    let (second, event) = execute_with(program, &[first[0]], How::default()).unwrap();
    assert!(!is_ready(event));
    GATE.set(true);
    assert!(wait(event).unwrap_err().message.contains("broken early"));
    destroy_event(event);
    let failure = address(second[0]).map(drop).unwrap_err();
    assert!(
        failure.message.contains("broken early"),
        "{}",
        failure.message
    );
    [x, first[0], second[0]].into_iter().for_each(destroy);
    destroy_executable(program);
}
