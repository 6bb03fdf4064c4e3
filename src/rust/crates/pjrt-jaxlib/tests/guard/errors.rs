//! Errors of handlers.

use super::shared::*;
use crate::common::several::*;
use crate::common::*;
use crate::handlers::{gated, GATE};
use pjrt_api::*;

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
        args.device = crate::common::devices(client)[device];
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
