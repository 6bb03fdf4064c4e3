//! Programs whose calls are guarded.

use super::shared::*;
use crate::common::several::*;
use crate::common::*;
use crate::handlers::{FailsOn, LOOKS};
use pjrt_api::*;
use std::ffi::{c_char, c_int, CString};
use xla_ffi::{handler, Host};

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
