//! Handlers that take their time, and those that fail.

use super::shared::*;
use crate::common::several::*;
use crate::common::*;
use crate::handlers::{register, FailsOn, GateOp, GATE};
use pjrt_api::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Once;
use std::time::Duration;
use xla_ffi::sys::{XLA_FFI_CallFrame, XLA_FFI_Error};
use xla_ffi::{handler, raw, Error, Host};

/// The sum over two devices of what the handler that waits gives.
fn gated(n: usize) -> String {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap());
    let ty = format!("tensor<{n}x{n}xf32>");
    let sum = all_reduce("%all", "%y", &ty, 2);
    format!(
        "func.func @main(%x: {ty}) -> {ty} {{
           %y = stablehlo.custom_call @test_gate(%x) {{
             backend_config = {{failure = \"\"}}, api_version = 4 : i32
           }} : ({ty}) -> {ty}
           {sum}
           return %all : {ty}
         }}"
    )
}

/// Waits at the gate, whatever it is called with.
unsafe extern "C" fn waits(frame: *mut XLA_FFI_CallFrame) -> *mut XLA_FFI_Error {
    if !unsafe { raw::answer_metadata(frame, 0) } {
        GATE.pass();
    }
    std::ptr::null_mut()
}

/// Fails on the device that comes first.
unsafe extern "C" fn fails_first(frame: *mut XLA_FFI_CallFrame) -> *mut XLA_FFI_Error {
    static HAS_FAILED: AtomicBool = AtomicBool::new(false);
    if unsafe { raw::answer_metadata(frame, 0) } || HAS_FAILED.swap(true, Ordering::Relaxed) {
        return std::ptr::null_mut();
    }
    unsafe { raw::report(frame, &Error::invalid_argument("not here")) }
}

/// The same program as HLO, with calls of this handler, of which nobody knows whether they are at work.
fn unguarded(
    client: *mut PJRT_Client,
    program: *mut PJRT_LoadedExecutable,
    handler: &str,
) -> *mut PJRT_LoadedExecutable {
    let code = replaced(&optimized(program), b"xlaffi.guarded", handler.as_bytes());
    compile_with(client, &code, "hlo", &Over::replicas(2).options()).unwrap()
}

#[test]
fn a_handler_may_wait_for_as_long_as_it_takes() {
    let client = alone(2);
    register("test_any_waits", "host", Some(waits)).unwrap();
    let program = compile_over(client, &gated(2), Over::replicas(2));
    let x = filled(client, 2, &[1.; 2]);
    for program in [program, unguarded(client, program, "test_any_waits")] {
        GATE.set(false);
        let opens = std::thread::spawn(|| {
            std::thread::sleep(3 * Duration::from_secs(LIMIT as u64));
            GATE.set(true);
        });
        let out = execute_over(program, &x).unwrap();
        opens.join().unwrap();
        out.into_iter().flatten().for_each(destroy);
        destroy_executable(program);
    }
    x.into_iter().flatten().for_each(destroy);
    destroy_client(client);
}

#[test]
fn a_run_whose_handlers_nobody_sees_is_given_up_where_one_has_failed() {
    let client = alone(2);
    register("test_any_fails", "host", Some(fails_first)).unwrap();
    let guarded = compile_over(client, &gated(256), Over::replicas(2));
    let program = unguarded(client, guarded, "test_any_fails");
    let x = filled(client, 256, &[1.; 2]);
    let (out, events) = launch_over(program, &x, &[]).unwrap();
    let failures = events.iter().map(|&event| wait(event).unwrap_err());
    let failures: Vec<_> = failures.collect();
    // The other device has its own error.
    let given_up = PJRT_Error_Code::DEADLINE_EXCEEDED;
    let failure = failures.iter().find(|f| f.code == given_up).unwrap();
    assert!(
        failure.message.contains(" has failed: ") && failure.message.contains("not here"),
        "{}",
        failure.message
    );
    events.into_iter().for_each(destroy_event);
    x.into_iter().chain(out).flatten().for_each(destroy);
    [program, guarded].into_iter().for_each(destroy_executable);
    destroy_client(client);
}

/// The same as [`uneven`], with a handler before it that fails on the device that does not come.
fn failing(n: usize) -> String {
    let ty = format!("tensor<{n}x{n}xf32>");
    uneven(2, n)
        .replace(
            "%y = stablehlo.dot_general %x, %x",
            &format!(
                "%h = stablehlo.custom_call @test_fails_on(%x) {{
                   backend_config = {{device = 1 : i32}}, api_version = 4 : i32
                 }} : ({ty}) -> {ty}
                 %y = stablehlo.dot_general %h, %h"
            ),
        )
        .replace("@uneven", "@failing")
}

#[test]
fn who_waits_for_a_run_that_was_given_up_gets_the_error_of_its_handler() {
    register("test_fails_on", "host", Some(handler::<FailsOn, Host>)).unwrap();
    for (n, is_awaited) in [(2, true), (256, true), (256, false)] {
        let client = alone(2);
        let program = compile_over(client, &failing(n), Over::replicas(2));
        let x = filled(client, n, &one_apart(2));
        let launched = launch_over(program, &x, &[]).map(|(out, events)| {
            let awaited = is_awaited.then(|| wait(events[0]));
            out.into_iter().flatten().for_each(destroy);
            events.into_iter().for_each(destroy_event);
            awaited
        });
        match launched {
            // A launch that waits for it has not failed itself.
            Ok(None) => {
                let failure = launch_over(program, &x, &[]).unwrap_err();
                assert_eq!(failure.code, PJRT_Error_Code::DEADLINE_EXCEEDED);
                let text = format!("has failed ({FAILED}) and does not come to an end");
                assert!(failure.message.contains(&text), "{}", failure.message);
            }
            Ok(Some(answer)) => assert_failed(answer),
            Err(failure) => assert_failed(Err(failure)),
        }
        let refused = launch_over(program, &x, &[]).unwrap_err();
        assert_eq!(refused.code, PJRT_Error_Code::FAILED_PRECONDITION);
        let text = format!("`failing` has failed ({FAILED}) and was given up");
        assert!(refused.message.contains(&text), "{}", refused.message);
        x.into_iter().flatten().for_each(destroy);
        destroy_executable(program);
        destroy_client(client);
    }
}

fn assert_failed(answer: Answer<()>) {
    let failure = answer.unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::INVALID_ARGUMENT);
    assert!(failure.message.contains(FAILED), "{}", failure.message);
}

#[test]
fn a_run_that_nobody_waits_for_keeps_no_later_one_waiting() {
    let client = alone(2);
    let program = compile_over(client, &uneven(2, 256), Over::replicas(2));
    let (x, even) = (
        filled(client, 256, &one_apart(2)),
        filled(client, 256, &[1.; 2]),
    );
    let (out, events) = launch_over(program, &x, &[]).unwrap();
    events.into_iter().for_each(destroy_event);
    out.into_iter().flatten().for_each(destroy);
    let failure = launch_over(program, &even, &[]).unwrap_err();
    assert_eq!(
        failure.code,
        PJRT_Error_Code::DEADLINE_EXCEEDED,
        "{}",
        failure.message
    );
    let refused = launch_over(program, &even, &[]).unwrap_err();
    assert_eq!(refused.code, PJRT_Error_Code::FAILED_PRECONDITION);
    x.into_iter().chain(even).flatten().for_each(destroy);
    destroy_executable(program);
    destroy_client(client);
}

#[test]
fn who_waits_for_what_reads_a_run_is_reported_where_its_results_are_gone() {
    let client = alone(2);
    let program = compile_over(client, &uneven(2, 256), Over::replicas(2));
    let reader = compile(client, &twice(256));
    let x = filled(client, 256, &one_apart(2));
    let (out, events) = launch_over(program, &x, &[]).unwrap();
    let (read_from, event) = execute_with(reader, &[out[0][0]], How::default()).unwrap();
    events.into_iter().chain([event]).for_each(destroy_event);
    out.into_iter().flatten().for_each(destroy);
    // Nobody waits for a while.
    std::thread::sleep(Duration::from_secs(LIMIT as u64));
    let failure = read::<f32>(read_from[0]).unwrap_err();
    assert_eq!(
        failure.code,
        PJRT_Error_Code::DEADLINE_EXCEEDED,
        "{}",
        failure.message
    );
    x.into_iter().flatten().chain(read_from).for_each(destroy);
    [program, reader].into_iter().for_each(destroy_executable);
    destroy_client(client);
}
