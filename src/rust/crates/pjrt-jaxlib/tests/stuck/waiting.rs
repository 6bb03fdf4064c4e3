//! Devices that wait.

use super::shared::*;
use crate::common::several::*;
use crate::common::*;
use pjrt_api::*;
use std::time::{Duration, Instant};

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
        let is_named = failure.message.contains("; ended: CpuDevice(id=1)");
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
                    assert!(is_named && device == 1);
                    assert_eq!(read::<f32>(out[0]).unwrap(), [2.; 4]);
                    out.into_iter().for_each(destroy);
                }
                Err(failure) => {
                    assert!(!is_named || device == 0);
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
