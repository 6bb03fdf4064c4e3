//! Donation, serialised programs, events.

use super::placement::product;
use crate::call;
use crate::common::several::*;
use crate::common::*;
use pjrt_api::*;

/// Reuses the memory of its argument.
const DONATING: &str =
    "func.func @main(%x: tensor<64x64xf32> {tf.aliasing_output = 0 : i32}) -> tensor<64x64xf32> {
  %0 = stablehlo.add %x, %x : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}";

#[test]
fn each_device_donates_its_arguments_unless_they_are_kept() {
    let client = eight();
    let program = compile_over(client, DONATING, Over::replicas(3));
    let given = |first: usize| -> Vec<_> {
        (0..3)
            .map(|d| {
                vec![f32s_on(
                    client,
                    d,
                    &[64, 64],
                    &[(first + d) as f32; 64 * 64],
                )]
            })
            .collect()
    };
    for kept in [&[][..], &[0]] {
        let x = given(1);
        // Somebody looks at the elements on the second device.
        let seen = x[1][0];
        let pin = PJRT_Buffer_IncreaseExternalReferenceCount_Args::new();
        let pin = PJRT_Buffer_IncreaseExternalReferenceCount_Args {
            buffer: seen,
            ..pin
        };
        let mut pin = pin;
        let error = unsafe { api().PJRT_Buffer_IncreaseExternalReferenceCount.unwrap()(&mut pin) };
        answer(error).unwrap();
        let (out, events) = launch_over(program, &x, kept).unwrap();
        for (event, d) in events.into_iter().zip(0..) {
            wait(event).unwrap();
            destroy_event(event);
            assert_eq!(is_deleted(x[d][0]), kept.is_empty() && d != 1);
            let twice = [2. * (1 + d) as f32; 64 * 64];
            assert_eq!(read::<f32>(out[d][0]).unwrap(), twice);
            if is_deleted(x[d][0]) {
                continue;
            }
            assert_eq!(read::<f32>(x[d][0]).unwrap(), [(1 + d) as f32; 64 * 64]);
        }
        if kept.is_empty() {
            let failure = execute_over(program, &x).unwrap_err();
            let want = "called on deleted or donated buffer (argument 1 of device CpuDevice(id=0))";
            assert!(failure.message.ends_with(want), "{}", failure.message);
        }
        // Results are donated as well as what was uploaded.
        let again = execute_over(program, &out).unwrap();
        assert_eq!(read::<f32>(again[2][0]).unwrap(), [12.; 64 * 64]);
        assert!(out.iter().all(|of_device| is_deleted(of_device[0])));
        x.into_iter()
            .chain(out)
            .chain(again)
            .flatten()
            .for_each(destroy);
    }
    destroy_executable(program);
}

#[test]
fn what_was_serialized_runs_on_the_same_devices() {
    let client = eight();
    let over = Over {
        devices: &[6, 1, 4, 3],
        ..Over::partitions(4, true)
    };
    let program = compile_over(client, &product(4, true), over);
    let code = serialized(program);
    let devices_before = devices_of(program);
    destroy_executable(program);
    for options in [over.options(), Vec::new()] {
        let program = call!(
            PJRT_Executable_DeserializeAndLoad,
            PJRT_Executable_DeserializeAndLoad_Args {
                client,
                serialized_executable: code.as_ptr().cast(),
                serialized_executable_size: code.len(),
                overridden_serialized_compile_options: options.as_ptr().cast(),
                overridden_serialized_compile_options_size: options.len(),
            }
        )
        .unwrap()
        .loaded_executable;
        assert_eq!(devices_of(program), devices_before);
        let executable = executable_of(program);
        let counts = (
            call!(
                PJRT_Executable_NumReplicas,
                PJRT_Executable_NumReplicas_Args { executable }
            )
            .unwrap()
            .num_replicas,
            call!(
                PJRT_Executable_NumPartitions,
                PJRT_Executable_NumPartitions_Args { executable }
            )
            .unwrap()
            .num_partitions,
        );
        assert_eq!(counts, (1, 4));
        destroy_unloaded(executable);
        let x: Vec<_> = over
            .devices
            .iter()
            .map(|&d| {
                let d = d.into();
                vec![
                    f32s_on(client, d, &[2, 2], &[d as f32; 4]),
                    f32s_on(client, d, &[2, 3], &[1.; 6]),
                ]
            })
            .collect();
        let out = execute_over(program, &x).unwrap();
        for (of_device, &d) in out.iter().zip(over.devices) {
            assert_eq!(read::<f32>(of_device[0]).unwrap(), [2. * f32::from(d); 6]);
        }
        x.into_iter().chain(out).flatten().for_each(destroy);
        destroy_executable(program);
    }
}

#[test]
fn a_program_without_results_tells_every_device_when_it_is_through() {
    let client = eight();
    let program = compile_over(
        client,
        "func.func @main(%x: tensor<2xf32>) { return }",
        Over::replicas(2),
    );
    let x: Vec<_> = (0..2)
        .map(|d| vec![f32s_on(client, d, &[2], &[0.; 2])])
        .collect();
    assert_eq!(execute_over(program, &x).unwrap(), [vec![], vec![]]);
    x.into_iter().flatten().for_each(destroy);
    destroy_executable(program);
}
