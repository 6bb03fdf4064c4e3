//! What several tests use.

use crate::common::several::*;
use crate::common::*;
use pjrt_api::*;

/// Seconds, as the option has them.
pub const LIMIT: i64 = 1;

/// A client that no other test can be kept waiting by.
pub fn alone(devices: usize) -> *mut PJRT_Client {
    find_python();
    let options = [
        int_option("cpu_device_count", devices as i64),
        int_option("collective_timeout", LIMIT),
    ];
    new_client(&options).unwrap()
}

pub fn all_reduce(result: &str, x: &str, ty: &str, devices: usize) -> String {
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
pub fn uneven(devices: usize, n: usize) -> String {
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

pub fn filled(client: *mut PJRT_Client, n: usize, values: &[f32]) -> Vec<Vec<*mut PJRT_Buffer>> {
    let on =
        |(d, &value): (usize, &f32)| vec![f32s_on(client, d, &[n as i64; 2], &vec![value; n * n])];
    values.iter().enumerate().map(on).collect()
}

pub fn twice(n: usize) -> String {
    let ty = format!("tensor<{n}x{n}xf32>");
    format!(
        "func.func @main(%x: {ty}) -> {ty} {{
          %0 = stablehlo.add %x, %x : {ty}
          return %0 : {ty}
        }}"
    )
}

/// One element less than zero.
pub fn one_apart(devices: usize) -> Vec<f32> {
    (0..devices)
        .map(|d| if d == 1 { -1. } else { 1. })
        .collect()
}

pub const FAILED: &str = "test_fails_on: not here (on device CpuDevice(id=1), one of 2)";
