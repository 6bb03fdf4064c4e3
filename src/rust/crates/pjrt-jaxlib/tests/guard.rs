//! Handlers that fail on one of several devices, which the others wait for.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
mod common;
mod handlers;
use common::several::*;
use common::*;
use handlers::{gated, register, FailsLater, FailsOn, GateOp, Look, One, GATE, LOOKS};
use pjrt_api::*;
#[cfg(unix)]
use std::ffi::{c_char, c_int, CString};
use std::sync::Once;
use xla_ffi::{handler, Host};

const N: usize = 4;

fn registered() -> *mut PJRT_Client {
    static ONCE: Once = Once::new();
    let client = eight();
    ONCE.call_once(|| {
        register("test_fails_on", "host", Some(handler::<FailsOn, Host>)).unwrap();
        let later = handler::<FailsLater, Host>;
        register("test_fails_later", "host", Some(later)).unwrap();
        register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
        register("test_look", "host", Some(handler::<Look, Host>)).unwrap();
        register("test_one", "host", Some(handler::<One, Host>)).unwrap();
    });
    client
}

/// Calls the handler, which fails on `device`, and sums what it gives over all devices. Where it is large, XLA runs it behind the launch.
fn program(device: i32, large: bool, ordered: bool) -> String {
    let n = if large { 256 } else { 2 };
    let mark = match ordered {
        true => ", mhlo.frontend_attributes = {xlaffi.ordered = \"1\"}",
        false => "",
    };
    let call = |y: &str, x: &str| {
        format!(
            "{y} = stablehlo.custom_call @test_fails_on({x}) {{
               backend_config = {{device = {device} : i32}}, api_version = 4 : i32{mark}
             }} : (tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>"
        )
    };
    let (first, second) = (call("%0", "%x"), call("%1", "%0"));
    format!(
        "func.func @main(%x: tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32> {{
           {first}
           {second}
           %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0]
             : (tensor<{n}x{n}xf32>, tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
           %3 = \"stablehlo.all_reduce\"(%2) ({{
             ^bb0(%a: tensor<f32>, %b: tensor<f32>):
               %s = stablehlo.add %a, %b : tensor<f32>
               stablehlo.return %s : tensor<f32>
           }}) {{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}} : (tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
           return %3 : tensor<{n}x{n}xf32>
         }}"
    )
}

fn ones(client: *mut PJRT_Client, n: usize) -> Vec<Vec<*mut PJRT_Buffer>> {
    let data = vec![1f32; n * n];
    let on = |d| vec![f32s_on(client, d, &[n as i64; 2], &data)];
    (0..N).map(on).collect()
}

const FAILED: &str = "not here (on device CpuDevice(id=2), one of 4)";

fn assert_failed<T>(answer: Answer<T>) {
    let failure = answer.map(drop).unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::INVALID_ARGUMENT);
    assert!(failure.message.ends_with(FAILED), "{}", failure.message);
}

#[test]
fn an_error_on_one_device_ends_the_run_on_all() {
    let client = registered();
    for (large, ordered) in [(false, false), (true, false), (false, true), (true, true)] {
        let n = if large { 256 } else { 2 };
        let x = ones(client, n);
        let [bad, good] = [2, -1].map(|device| {
            compile_over(client, &program(device, large, ordered), Over::replicas(N))
        });
        for _ in 0..2 {
            assert_failed(execute_over(bad, &x));
            // What read no other device's part may be there before; here all did.
            let (out, events) = launch_over(bad, &x, &[]).unwrap();
            for of_device in &out {
                assert_failed(read::<f32>(of_device[0]));
            }
            events.into_iter().for_each(destroy_event);
            out.into_iter().flatten().for_each(destroy);
            // The devices are free for the next program.
            let out = execute_over(good, &x).unwrap();
            let sum = (N * n) as f32;
            assert_eq!(read::<f32>(out[N - 1][0]).unwrap(), vec![sum; n * n]);
            out.into_iter().flatten().for_each(destroy);
        }
        x.into_iter().flatten().for_each(destroy);
        [bad, good].into_iter().for_each(destroy_executable);
    }
}

#[test]
fn an_error_may_come_after_the_handler_has_returned() {
    let client = registered();
    for (large, ordered) in [(false, false), (true, false), (false, true), (true, true)] {
        let n = if large { 256 } else { 2 };
        let x = ones(client, n);
        let [bad, good] = [2, -1].map(|device| {
            let code = program(device, large, ordered).replace("test_fails_on", "test_fails_later");
            compile_over(client, &code, Over::replicas(N))
        });
        assert_failed(execute_over(bad, &x));
        let out = execute_over(good, &x).unwrap();
        let sum = (N * n) as f32;
        assert_eq!(read::<f32>(out[1][0]).unwrap(), vec![sum; n * n]);
        x.into_iter().chain(out).flatten().for_each(destroy);
        [bad, good].into_iter().for_each(destroy_executable);
    }
}

#[test]
fn what_reads_the_results_of_a_failed_run_fails_too() {
    let client = registered();
    let (n, x) = (256, ones(client, 256));
    let bad = compile_over(client, &program(2, true, false), Over::replicas(N));
    let good = compile_over(client, &program(-1, true, false), Over::replicas(N));
    let alone = compile(
        client,
        "func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
       %0 = stablehlo.add %x, %x : tensor<256x256xf32>
       return %0 : tensor<256x256xf32>
     }",
    );
    let (first, events) = launch_over(bad, &x, &[]).unwrap();
    events.into_iter().for_each(destroy_event);
    // Whether the failure is known by then or not.
    match launch_over(good, &first, &[]) {
        Err(failure) => assert_failed::<()>(Err(failure)),
        Ok((second, events)) => {
            second
                .iter()
                .for_each(|of_device| assert_failed(read::<f32>(of_device[0])));
            events.into_iter().for_each(destroy_event);
            second.into_iter().flatten().for_each(destroy);
        }
    }
    match execute(alone, &[first[0][0]]) {
        Err(failure) => assert_failed::<()>(Err(failure)),
        Ok(out) => {
            assert_failed(read::<f32>(out[0]));
            out.into_iter().for_each(destroy);
        }
    }
    assert_failed(execute(alone, &[first[0][0]]));
    let out = execute_over(good, &x).unwrap();
    assert_eq!(read::<f32>(out[0][0]).unwrap(), vec![(N * n) as f32; n * n]);
    first
        .into_iter()
        .chain(x)
        .chain(out)
        .flatten()
        .for_each(destroy);
    [bad, good, alone].into_iter().for_each(destroy_executable);
}

#[test]
fn a_device_whose_argument_is_an_error_keeps_no_other_waiting() {
    let client = registered();
    GATE.set(true);
    let x = ones(client, 256);
    let good = compile_over(client, &program(-1, true, false), Over::replicas(N));
    let fails = compile(client, &gated("no argument"));
    let (bad, event) = execute_with(fails, &[x[0][0]], How::default()).unwrap();
    destroy_event(event);
    let mut given = x.clone();
    given[0] = bad.clone();
    let failure = execute_over(good, &given).unwrap_err();
    assert!(
        failure.message.contains("no argument"),
        "{}",
        failure.message
    );
    execute_over(good, &x)
        .unwrap()
        .into_iter()
        .flatten()
        .for_each(destroy);
    x.into_iter().flatten().chain(bad).for_each(destroy);
    [good, fails].into_iter().for_each(destroy_executable);
}

/// A call in a program of Shardy's, split over the devices: per part in a region that says so, else of the whole.
fn partitioned(device: i32, manual: bool) -> String {
    let call = |n: usize, x: &str| {
        format!(
            "%c = stablehlo.custom_call @test_fails_on({x}) {{
               backend_config = {{device = {device} : i32}}, api_version = 4 : i32
             }} : (tensor<{n}xf32>) -> tensor<{n}xf32>"
        )
    };
    let split = "#sdy.sharding<@mesh, [{\"x\"}]>";
    let body = match manual {
        false => call(8, "%x"),
        true => format!(
            "%c = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{\"x\"}}]>] out_shardings=[<@mesh, [{{\"x\"}}]>]
               manual_axes={{\"x\"}} (%p: tensor<2xf32>) {{
               {}
               sdy.return %c : tensor<2xf32>
             }} : (tensor<8xf32>) -> tensor<8xf32>",
            call(2, "%p")
        ),
    };
    format!(
        "module {{
           sdy.mesh @mesh = <[\"x\"=4]>
           func.func @main(%x: tensor<8xf32> {{sdy.sharding = {split}}}) -> (tensor<8xf32> {{sdy.sharding = {split}}}, tensor<f32>) {{
             {body}
             %z = stablehlo.constant dense<0.0> : tensor<f32>
             %s = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0]
               : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
             return %c, %s : tensor<8xf32>, tensor<f32>
           }}
         }}"
    )
}

#[test]
fn calls_in_partitioned_programs_are_guarded_too() {
    let client = registered();
    let over = Over::partitions(N, true);
    let x: Vec<_> = (0..N)
        .map(|d| vec![f32s_on(client, d, &[2], &[d as f32, 1.])])
        .collect();
    for manual in [false, true] {
        let [bad, good] =
            [2, -1].map(|device| compile_over(client, &partitioned(device, manual), over));
        assert_failed(execute_over(bad, &x));
        let out = execute_over(good, &x).unwrap();
        for (d, of_device) in out.iter().enumerate() {
            assert_eq!(read::<f32>(of_device[0]).unwrap(), [d as f32, 1.]);
            assert_eq!(read::<f32>(of_device[1]).unwrap(), [10.]);
        }
        out.into_iter().flatten().for_each(destroy);
        [bad, good].into_iter().for_each(destroy_executable);
    }
    x.into_iter().flatten().for_each(destroy);
}

/// Calls that look at the parts of the argument, in order or not, in a region where each device has its own, or outside.
fn looking(ordered: bool, manual: bool) -> String {
    let mark = match ordered {
        true => ", mhlo.frontend_attributes = {xlaffi.ordered = \"1\"}",
        false => "",
    };
    let look = |x: &str, n: usize| {
        format!("stablehlo.custom_call @test_look({x}) {{has_side_effect = true, api_version = 4 : i32{mark}}} : (tensor<{n}xf32>) -> ()")
    };
    let body = match manual {
        false => look("%x", 8),
        true => format!(
            "%c = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{\"x\"}}]>] out_shardings=[<@mesh, [{{\"x\"}}]>]
               manual_axes={{\"x\"}} (%p: tensor<2xf32>) {{
               {}
               %q = stablehlo.add %p, %p : tensor<2xf32>
               {}
               sdy.return %q : tensor<2xf32>
             }} : (tensor<8xf32>) -> tensor<8xf32>",
            look("%p", 2),
            look("%q", 2)
        ),
    };
    let split = "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}";
    format!(
        "module {{
           sdy.mesh @mesh = <[\"x\"=4]>
           func.func @main(%x: tensor<8xf32> {split}) -> (tensor<8xf32> {split}) {{
             {body}
             return %x : tensor<8xf32>
           }}
         }}"
    )
}

#[test]
fn each_device_has_its_effects_in_order() {
    let client = registered();
    let over = Over::partitions(N, true);
    let numbers = |d: usize, by: f32| [by * d as f32, by];
    let x: Vec<_> = (0..N)
        .map(|d| vec![f32s_on(client, d, &[2], &numbers(d, 1.))])
        .collect();
    let bytes = |n: [f32; 2]| n.map(f32::to_le_bytes).concat();
    for ordered in [false, true] {
        let program = compile_over(client, &looking(ordered, true), over);
        LOOKS.lock().unwrap().clear();
        let out = execute_over(program, &x).unwrap();
        let looks = LOOKS.lock().unwrap();
        assert_eq!(looks.len(), 2 * N);
        for d in 0..N {
            let place = |n| looks.iter().position(|look| *look == bytes(n));
            let (first, second) = (place(numbers(d, 1.)), place(numbers(d, 2.)));
            assert!(first.is_some() && second.is_some() && (!ordered || first < second));
        }
        out.into_iter().flatten().for_each(destroy);
        destroy_executable(program);
        let failure = compile_with(
            client,
            looking(ordered, false).as_bytes(),
            "mlir",
            &over.options(),
        )
        .unwrap_err();
        assert_eq!(failure.code, PJRT_Error_Code::UNIMPLEMENTED);
        assert!(
            failure
                .message
                .contains("XLA cannot partition calls with side effects"),
            "{}",
            failure.message
        );
    }
    x.into_iter().flatten().for_each(destroy);
}

/// A loop that gets on by the integers that a handler gives, which are zeros once it has failed.
fn counting(device: i32, devices: usize) -> String {
    let group: Vec<String> = (0..devices).map(|d| d.to_string()).collect();
    format!(
        "func.func @main(%x: tensor<i32>) -> tensor<i32> {{
           %three = stablehlo.constant dense<3> : tensor<i32>
           %r = stablehlo.while(%i = %x) : tensor<i32>
             cond {{
               %go = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
               stablehlo.return %go : tensor<i1>
             }} do {{
               %one = stablehlo.custom_call @test_one() {{
                 backend_config = {{device = {device} : i32}}, api_version = 4 : i32
               }} : () -> tensor<i32>
               %all = \"stablehlo.all_reduce\"(%one) ({{
                 ^bb0(%a: tensor<i32>, %b: tensor<i32>):
                   %s = stablehlo.minimum %a, %b : tensor<i32>
                   stablehlo.return %s : tensor<i32>
               }}) {{replica_groups = dense<[[{}]]> : tensor<1x{devices}xi64>}} : (tensor<i32>) -> tensor<i32>
               %next = stablehlo.add %i, %all : tensor<i32>
               stablehlo.return %next : tensor<i32>
             }}
           return %r : tensor<i32>
         }}",
        group.join(", ")
    )
}

fn zeros(client: *mut PJRT_Client, devices: usize) -> Vec<Vec<*mut PJRT_Buffer>> {
    let on = |device| {
        let zero = 0i32;
        let data = std::ptr::from_ref(&zero).cast();
        let mut args = upload_args(client, PJRT_Buffer_Type::S32, &[], data);
        args.device = common::devices(client)[device];
        let (buffer, event) = upload_with(args).unwrap();
        destroy_event(event);
        vec![buffer]
    };
    (0..devices).map(on).collect()
}

#[test]
fn a_loop_over_integers_of_a_failed_handler_ends_on_all_devices() {
    let client = registered();
    for devices in [2, 8] {
        let x = zeros(client, devices);
        let over = Over::replicas(devices);
        let [bad, good] =
            [1, -1].map(|device| compile_over(client, &counting(device, devices), over));
        let failure = execute_over(bad, &x).unwrap_err();
        assert!(
            failure
                .message
                .contains("not here (on device CpuDevice(id=1)"),
            "{}",
            failure.message
        );
        let out = execute_over(good, &x).unwrap();
        for of_device in &out {
            assert_eq!(read::<i32>(of_device[0]).unwrap(), [3]);
        }
        x.into_iter().chain(out).flatten().for_each(destroy);
        [bad, good].into_iter().for_each(destroy_executable);
    }
}

/// Runs Python code in the interpreter of this process.
#[cfg(unix)]
fn python(code: &str) {
    let find = |name: &std::ffi::CStr| {
        let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        assert!(!function.is_null(), "{name:?}");
        function
    };
    let code = CString::new(code).unwrap();
    let outcome = unsafe {
        let ensure: extern "C" fn() -> c_int = std::mem::transmute(find(c"PyGILState_Ensure"));
        let release: extern "C" fn(c_int) = std::mem::transmute(find(c"PyGILState_Release"));
        let run: extern "C" fn(*const c_char) -> c_int =
            std::mem::transmute(find(c"PyRun_SimpleString"));
        let state = ensure();
        let outcome = run(code.as_ptr());
        release(state);
        outcome
    };
    assert_eq!(outcome, 0, "{code:?}");
}

/// Registers the handler that fails with jaxlib, as others do: under the first name by itself, under the second one for
/// several stages.
#[cfg(unix)]
fn register_elsewhere(name: &str, with_stages: &str) {
    let address = handler::<FailsOn, Host> as *const () as usize;
    python(&format!(
        "
import ctypes
from jaxlib import xla_client
new = ctypes.pythonapi.PyCapsule_New
new.restype = ctypes.py_object
new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule = new({address}, None, None)
xla_client._xla.register_custom_call_target('{name}', capsule, 'Host', 1)
stages = dict.fromkeys(('prepare', 'initialize', 'execute'), capsule)
xla_client._xla.register_custom_call_target('{with_stages}', stages, 'Host', 1)"
    ));
}

/// The handler of `bad` fails on one device of `x`, that of `good` on none. Both programs are destroyed.
#[cfg(unix)]
fn assert_guarded(
    bad: *mut PJRT_LoadedExecutable,
    good: *mut PJRT_LoadedExecutable,
    x: &[Vec<*mut PJRT_Buffer>],
) {
    assert_failed(execute_over(bad, x));
    let out = execute_over(good, x).unwrap();
    assert_eq!(read::<f32>(out[0][0]).unwrap(), vec![2. * N as f32; 4]);
    out.into_iter().flatten().for_each(destroy);
    [bad, good].into_iter().for_each(destroy_executable);
}

#[cfg(unix)]
#[test]
fn handlers_that_others_have_registered_are_guarded_too() {
    let client = registered();
    register_elsewhere("test_foreign", "test_foreign_stages");
    let x = ones(client, 2);
    for name in ["test_foreign", "test_foreign_stages"] {
        let [bad, good] = [2, -1].map(|device| {
            let code = program(device, false, false).replace("test_fails_on", name);
            compile_over(client, &code, Over::replicas(N))
        });
        assert_guarded(bad, good, &x);
    }
    x.into_iter().flatten().for_each(destroy);
}

#[cfg(unix)]
#[test]
fn what_another_process_has_serialized_finds_handlers_of_others() {
    let client = registered();
    let x = ones(client, 2);
    let [here, there] = ["here", "else"].map(|place| [1, 2].map(|n| format!("test_{place}_{n}")));
    register_elsewhere(&here[0], &here[1]);
    register_elsewhere(&there[0], &there[1]);
    for (here, there) in here.iter().zip(&there) {
        let [bad, good] = [2, -1].map(|device| {
            let code = program(device, false, false).replace("test_fails_on", here);
            let program = compile_over(client, &code, Over::replicas(N));
            // Of the other name, which no program was compiled with in this process.
            let code = replaced(&serialized(program), here.as_bytes(), there.as_bytes());
            destroy_executable(program);
            deserialized(client, &code)
        });
        assert_guarded(bad, good, &x);
    }
    x.into_iter().flatten().for_each(destroy);
}
