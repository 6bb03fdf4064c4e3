//! Devices that wait for others that do not come.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
mod common;
mod handlers;
use common::several::*;
use common::*;
use handlers::{register, FailsOn, GateOp, GATE};
use pjrt_api::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Once;
use std::time::{Duration, Instant};
use xla_ffi::sys::{XLA_FFI_CallFrame, XLA_FFI_Error};
use xla_ffi::{handler, raw, Error, Host};

/// Seconds, as the option has them.
const LIMIT: i64 = 1;

/// A client that no other test can be kept waiting by.
fn alone(devices: usize) -> *mut PJRT_Client {
    find_python();
    let options = [
        int_option("cpu_device_count", devices as i64),
        int_option("collective_timeout", LIMIT),
    ];
    new_client(&options).unwrap()
}

fn all_reduce(result: &str, x: &str, ty: &str, devices: usize) -> String {
    let group: Vec<String> = (0..devices).map(|i| i.to_string()).collect();
    format!(
        "{result} = \"stablehlo.all_reduce\"({x}) ({{
           ^bb0(%a: tensor<f32>, %b: tensor<f32>):
             %s = stablehlo.add %a, %b : tensor<f32>
             stablehlo.return %s : tensor<f32>
         }}) {{replica_groups = dense<[[{}]]> : tensor<1x{devices}xi64>}} : ({ty}) -> {ty}",
        group.join(", ")
    )
}

/// Devices whose first element is positive sum with all others, the rest does not. Where it is large, XLA runs it behind
/// the launch.
fn uneven(devices: usize, n: usize) -> String {
    let ty = format!("tensor<{n}x{n}xf32>");
    let sum = all_reduce("%t", "%y", &ty, devices);
    format!(
        "module @uneven {{ func.func @main(%x: {ty}) -> {ty} {{
           %first = stablehlo.slice %x [0:1, 0:1] : ({ty}) -> tensor<1x1xf32>
           %scalar = stablehlo.reshape %first : (tensor<1x1xf32>) -> tensor<f32>
           %zero = stablehlo.constant dense<0.0> : tensor<f32>
           %p = stablehlo.compare GT, %scalar, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
           %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : ({ty}, {ty}) -> {ty}
           %r = \"stablehlo.if\"(%p) ({{
             {sum}
             stablehlo.return %t : {ty}
           }}, {{
             stablehlo.return %y : {ty}
           }}) : (tensor<i1>) -> {ty}
           return %r : {ty}
         }} }}"
    )
}

fn filled(client: *mut PJRT_Client, n: usize, values: &[f32]) -> Vec<Vec<*mut PJRT_Buffer>> {
    let on =
        |(d, &value): (usize, &f32)| vec![f32s_on(client, d, &[n as i64; 2], &vec![value; n * n])];
    values.iter().enumerate().map(on).collect()
}

fn twice(n: usize) -> String {
    let ty = format!("tensor<{n}x{n}xf32>");
    format!(
        "func.func @main(%x: {ty}) -> {ty} {{
          %0 = stablehlo.add %x, %x : {ty}
          return %0 : {ty}
        }}"
    )
}

/// One element less than zero.
fn one_apart(devices: usize) -> Vec<f32> {
    (0..devices)
        .map(|d| if d == 1 { -1. } else { 1. })
        .collect()
}

#[test]
fn devices_that_wait_for_one_that_does_not_come_are_given_up() {
    for (devices, n) in [(2, 2), (2, 256), (8, 2), (8, 256)] {
        let client = alone(devices);
        let code = uneven(devices, n);
        let program = compile_over(client, &code, Over::replicas(devices));
        let (x, even) = (
            filled(client, n, &one_apart(devices)),
            filled(client, n, &vec![1.; devices]),
        );
        let out = execute_over(program, &even).unwrap();
        assert_eq!(read::<f32>(out[0][0]).unwrap()[0], (n * devices) as f32);
        out.into_iter().flatten().for_each(destroy);

        let start = Instant::now();
        let failure = match launch_over(program, &x, &[]) {
            Err(failure) => failure,
            Ok((out, events)) => {
                let failure = wait(events[0]).unwrap_err();
                assert_eq!(read::<f32>(out[0][0]).unwrap_err().message, failure.message);
                // What was there stays there.
                assert_eq!(read::<f32>(out[1][0]).unwrap()[0], n as f32);
                out.into_iter().flatten().for_each(destroy);
                events.into_iter().for_each(destroy_event);
                failure
            }
        };
        assert!(start.elapsed() >= Duration::from_secs(LIMIT as u64));
        assert_eq!(failure.code, PJRT_Error_Code::DEADLINE_EXCEEDED);
        for part in [
            "`uneven`",
            "nothing of it has moved for 1 s",
            "all-reduce",
            "CpuDevice(id=0)",
        ] {
            assert!(failure.message.contains(part), "{}", failure.message);
        }
        // Where it waits in its launch, XLA does not tell.
        let is_told = failure.message.contains("; ended: CpuDevice(id=1)");
        let refused = launch_over(program, &even, &[]).unwrap_err();
        assert_eq!(refused.code, PJRT_Error_Code::FAILED_PRECONDITION);
        assert!(
            refused.message.contains("`uneven` was given up"),
            "{}",
            refused.message
        );
        // A device that has ended may go on by itself.
        let add = twice(2);
        for device in [0, 1] {
            let one = [device as u8];
            let over = Over {
                devices: &one,
                ..Over::replicas(1)
            };
            let program = compile_over(client, &add, over);
            let x = f32s_on(client, device, &[2, 2], &[1.; 4]);
            match execute(program, &[x]) {
                Ok(out) => {
                    assert!(is_told && device == 1);
                    assert_eq!(read::<f32>(out[0]).unwrap(), [2.; 4]);
                    out.into_iter().for_each(destroy);
                }
                Err(failure) => {
                    assert!(!is_told || device == 0);
                    assert_eq!(failure.code, PJRT_Error_Code::FAILED_PRECONDITION);
                    assert!(
                        failure.message.contains("has not come back"),
                        "{}",
                        failure.message
                    );
                }
            }
            destroy(x);
            destroy_executable(program);
        }
        x.into_iter().chain(even).flatten().for_each(destroy);
        destroy_executable(program);
        // XLA would wait for its threads; so does nobody here.
        destroy_client(client);
    }
}

/// Each device takes a thousand times as many steps of a generator as its argument says, and then waits for the others.
fn steps() -> String {
    let sum = all_reduce("%all", "%last", "tensor<f32>", 2);
    format!(
        "func.func @main(%n: tensor<f32>) -> tensor<f32> {{
           %zero = stablehlo.constant dense<0> : tensor<i64>
           %one = stablehlo.constant dense<1> : tensor<i64>
           %thousand = stablehlo.constant dense<1000> : tensor<i64>
           %bits = stablehlo.constant dense<13> : tensor<i64>
           %seed = stablehlo.constant dense<88172645463325252> : tensor<i64>
           %thousands = stablehlo.convert %n : (tensor<f32>) -> tensor<i64>
           %count = stablehlo.multiply %thousands, %thousand : tensor<i64>
           %r:2 = stablehlo.while(%i = %zero, %x = %seed) : tensor<i64>, tensor<i64>
             cond {{
               %go = stablehlo.compare LT, %i, %count : (tensor<i64>, tensor<i64>) -> tensor<i1>
               stablehlo.return %go : tensor<i1>
             }} do {{
               %next = stablehlo.add %i, %one : tensor<i64>
               %left = stablehlo.shift_left %x, %bits : tensor<i64>
               %y = stablehlo.xor %x, %left : tensor<i64>
               stablehlo.return %next, %y : tensor<i64>, tensor<i64>
             }}
           %last = stablehlo.convert %r#1 : (tensor<i64>) -> tensor<f32>
           {sum}
           return %all : tensor<f32>
         }}"
    )
}

#[test]
fn a_device_may_compute_for_as_long_as_it_takes() {
    let client = alone(2);
    let program = compile_over(client, &steps(), Over::replicas(2));
    let mut n = 16.;
    loop {
        let start = Instant::now();
        let on = |(device, n)| vec![f32s_on(client, device, &[], &[n])];
        let x: Vec<_> = [(0, n), (1, 0.)].into_iter().map(on).collect();
        let out = execute_over(program, &x).unwrap();
        let sums = [0, 1].map(|device: usize| read::<f32>(out[device][0]).unwrap());
        assert_eq!(sums[0], sums[1]);
        x.into_iter().chain(out).flatten().for_each(destroy);
        if start.elapsed() > 2 * Duration::from_secs(LIMIT as u64) {
            break;
        }
        n *= 2.;
    }
    destroy_executable(program);
    destroy_client(client);
}

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

const FAILED: &str = "test_fails_on: not here (on device CpuDevice(id=1), one of 2)";

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
fn who_waits_for_what_reads_a_run_is_told_where_its_results_are_gone() {
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
