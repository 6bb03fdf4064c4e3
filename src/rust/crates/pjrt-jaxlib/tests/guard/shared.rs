//! What several tests use.

use crate::common::several::*;
use crate::common::*;
use crate::handlers::{register, FailsLater, FailsOn, GateOp, Look, One};
use pjrt_api::*;
use std::sync::Once;
use xla_ffi::{handler, Host};

pub const N: usize = 4;

pub fn registered() -> *mut PJRT_Client {
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
pub fn program(device: i32, large: bool, ordered: bool) -> String {
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

pub fn ones(client: *mut PJRT_Client, n: usize) -> Vec<Vec<*mut PJRT_Buffer>> {
    let data = vec![1f32; n * n];
    let on = |d| vec![f32s_on(client, d, &[n as i64; 2], &data)];
    (0..N).map(on).collect()
}

pub const FAILED: &str = "not here (on device CpuDevice(id=2), one of 4)";

pub fn assert_failed<T>(answer: Answer<T>) {
    let failure = answer.map(drop).unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::INVALID_ARGUMENT);
    assert!(failure.message.ends_with(FAILED), "{}", failure.message);
}
