//! Arguments, donation and devices.

use super::shared::*;
use crate::call;
use crate::common::*;
use pjrt_api::*;

#[test]
fn wrong_arguments_are_named() {
    let client = client();
    let program = compile(client, ADD);
    let good = f32s(client, &[2, 3], &[0.; 6]);
    let turned = f32s(client, &[3, 2], &[0.; 6]);
    let ints = upload(client, PJRT_Buffer_Type::S32, &[2, 3], &[0i32; 6]);
    let gone = f32s(client, &[2, 3], &[0.; 6]);
    call!(PJRT_Buffer_Delete, PJRT_Buffer_Delete_Args { buffer: gone }).unwrap();
    let mut args = upload_args(
        client,
        PJRT_Buffer_Type::F32,
        &[2, 3],
        [0f32; 6].as_ptr().cast(),
    );
    args.device = devices(client)[1];
    let (elsewhere, event) = upload_with(args).unwrap();
    destroy_event(event);
    let fails = |arguments: &[*mut PJRT_Buffer], want: &str| {
        let failure = execute(program, arguments).expect_err(want);
        assert_eq!(failure.code, PJRT_Error_Code::INVALID_ARGUMENT);
        assert_eq!(
            failure.message,
            format!("PJRT_LoadedExecutable_Execute: {want}")
        );
    };
    fails(&[good], "`main` takes 2 argument(s), got 1");
    fails(
        &[good, turned],
        "argument 2 must have dtype and shape f32[2,3], got f32[3,2]",
    );
    fails(
        &[ints, good],
        "argument 1 must have dtype and shape f32[2,3], got i32[2,3]",
    );
    fails(
        &[good, gone],
        "called on deleted or donated buffer (argument 2)",
    );
    fails(
        &[elsewhere, good],
        "argument 1 is on device CpuDevice(id=1), but the program was compiled for device CpuDevice(id=0)",
    );
    fails(&[good, std::ptr::null_mut()], "`argument 2` is NULL");
    let how = How {
        kept: &[2],
        ..How::default()
    };
    let failure = execute_with(program, &[good, good], how).unwrap_err();
    assert!(
        failure
            .message
            .contains("non_donatable_input_indices has 2"),
        "{}",
        failure.message
    );
    let how = How {
        device: Some(devices(client)[1]),
        ..How::default()
    };
    let failure = execute_with(program, &[good, good], how).unwrap_err();
    assert!(
        failure.message.contains("cannot run on CpuDevice(id=1)"),
        "{}",
        failure.message
    );
    [good, turned, ints, gone, elsewhere]
        .into_iter()
        .for_each(destroy);
    destroy_executable(program);
}

/// Reading `x`, its address and runs of the program with it are errors.
fn check_that_it_is_gone(program: *mut PJRT_LoadedExecutable, [x, y]: [*mut PJRT_Buffer; 2]) {
    for failure in [
        read::<f32>(x).unwrap_err(),
        address(x).map(drop).unwrap_err(),
        execute(program, &[x, y]).unwrap_err(),
    ] {
        assert_eq!(failure.code, PJRT_Error_Code::INVALID_ARGUMENT);
        assert!(
            failure
                .message
                .contains("called on deleted or donated buffer"),
            "{}",
            failure.message
        );
    }
}

#[test]
fn donation_takes_the_buffer_unless_told_not_to() {
    let client = client();
    let program = compile(client, DONATING);
    let (ones, twos) = ([1f32; 64], [2f32; 64]);
    let (x, y) = (f32s(client, &[64], &ones), f32s(client, &[64], &twos));
    // Kept: both still there.
    let (kept, event) = execute_with(
        program,
        &[x, y],
        How {
            kept: &[0],
            ..How::default()
        },
    )
    .unwrap();
    wait(event).unwrap();
    destroy_event(event);
    assert!(!is_deleted(x));
    assert_eq!(read::<f32>(x).unwrap(), ones);
    assert_eq!(read::<f32>(kept[0]).unwrap(), [3f32; 64]);
    // An external reference keeps it too.
    call!(
        PJRT_Buffer_IncreaseExternalReferenceCount,
        PJRT_Buffer_IncreaseExternalReferenceCount_Args { buffer: x }
    )
    .unwrap();
    let held = execute(program, &[x, y]).unwrap();
    assert_eq!(read::<f32>(x).unwrap(), ones);
    call!(
        PJRT_Buffer_DecreaseExternalReferenceCount,
        PJRT_Buffer_DecreaseExternalReferenceCount_Args { buffer: x }
    )
    .unwrap();
    let failure = call!(
        PJRT_Buffer_DecreaseExternalReferenceCount,
        PJRT_Buffer_DecreaseExternalReferenceCount_Args { buffer: x }
    )
    .map(drop)
    .unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::FAILED_PRECONDITION);
    // Donated: the first is gone, the second is not.
    let ready = call!(
        PJRT_Buffer_ReadyEvent,
        PJRT_Buffer_ReadyEvent_Args { buffer: x }
    )
    .unwrap()
    .event;
    let out = execute(program, &[x, y]).unwrap();
    assert!(is_deleted(x) && !is_deleted(y));
    assert_eq!(read::<f32>(out[0]).unwrap(), [3f32; 64]);
    // An event from before is not spoilt by that; a new one is an error.
    wait(ready).unwrap();
    destroy_event(ready);
    let ready = call!(
        PJRT_Buffer_ReadyEvent,
        PJRT_Buffer_ReadyEvent_Args { buffer: x }
    )
    .unwrap()
    .event;
    assert_eq!(
        wait(ready).unwrap_err().message,
        "PJRT_Event_Await: called on deleted or donated buffer (the buffer)"
    );
    destroy_event(ready);
    check_that_it_is_gone(program, [x, y]);
    [x, y, kept[0], held[0], out[0]]
        .into_iter()
        .for_each(destroy);
    destroy_executable(program);
}

#[test]
fn immutable_host_memory_survives_donation() {
    let client = client();
    let program = compile(client, DONATING);
    let host = Box::new(Aligned([1f32; 64]));
    let y = f32s(client, &[64], &[2f32; 64]);
    for semantics in [
        PJRT_HostBufferSemantics::kImmutableZeroCopy,
        PJRT_HostBufferSemantics::kMutableZeroCopy,
    ] {
        let mut args = upload_args(client, PJRT_Buffer_Type::F32, &[64], host.0.as_ptr().cast());
        args.host_buffer_semantics = semantics;
        let (x, done) = upload_with(args).unwrap();
        assert_eq!(
            address(x).unwrap(),
            host.0.as_ptr() as usize,
            "used as it is"
        );
        let out = execute(program, &[x, y]).unwrap()[0];
        assert_eq!(read::<f32>(out).unwrap(), [3f32; 64]);
        if semantics == PJRT_HostBufferSemantics::kImmutableZeroCopy {
            assert_eq!(host.0, [1f32; 64]);
            assert!(!is_deleted(x));
        }
        [x, out].into_iter().for_each(destroy);
        wait(done).unwrap();
        destroy_event(done);
    }
    destroy(y);
    destroy_executable(program);
}

#[test]
fn a_program_runs_on_the_device_that_its_options_name() {
    let client = client();
    let devices = devices(client);
    // executable_build_options { device_ordinal: 1 }
    let program = compile_with(client, ADD.as_bytes(), "mlir", b"\x1a\x02\x08\x01").unwrap();
    let a = call!(
        PJRT_LoadedExecutable_AddressableDevices,
        PJRT_LoadedExecutable_AddressableDevices_Args {
            executable: program
        }
    )
    .unwrap();
    assert_eq!(
        unsafe { std::slice::from_raw_parts(a.addressable_devices, a.num_addressable_devices) },
        [devices[1]]
    );
    let x = f32s(client, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let moved = call!(
        PJRT_Buffer_CopyToDevice,
        PJRT_Buffer_CopyToDevice_Args {
            buffer: x,
            dst_device: devices[1]
        }
    )
    .unwrap()
    .dst_buffer;
    let out = execute(program, &[moved, moved]).unwrap()[0];
    assert_eq!(
        call!(PJRT_Buffer_Device, PJRT_Buffer_Device_Args { buffer: out })
            .unwrap()
            .device,
        devices[1]
    );
    assert_eq!(read::<f32>(out).unwrap(), [2., 4., 6., 8., 10., 12.]);
    let back = call!(
        PJRT_Device_DefaultMemory,
        PJRT_Device_DefaultMemory_Args { device: devices[0] }
    )
    .unwrap()
    .memory;
    let back = call!(
        PJRT_Buffer_CopyToMemory,
        PJRT_Buffer_CopyToMemory_Args {
            buffer: out,
            dst_memory: back
        }
    )
    .unwrap()
    .dst_buffer;
    destroy(out);
    assert_eq!(read::<f32>(back).unwrap(), [2., 4., 6., 8., 10., 12.]);
    let failure = call!(
        PJRT_Buffer_CopyToDevice,
        PJRT_Buffer_CopyToDevice_Args {
            buffer: x,
            dst_device: devices[0]
        }
    )
    .map(drop)
    .unwrap_err();
    assert_eq!(
        failure.message,
        "PJRT_Buffer_CopyToDevice: the buffer is on CpuDevice(id=0) already"
    );
    [x, moved, back].into_iter().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn a_deleted_program_says_so() {
    let client = client();
    let program = compile(client, ADD);
    let deleted = || {
        call!(
            PJRT_LoadedExecutable_IsDeleted,
            PJRT_LoadedExecutable_IsDeleted_Args {
                executable: program
            }
        )
        .unwrap()
        .is_deleted
    };
    assert!(!deleted());
    call!(
        PJRT_LoadedExecutable_Delete,
        PJRT_LoadedExecutable_Delete_Args {
            executable: program
        }
    )
    .unwrap();
    assert!(deleted());
    let failure = execute(program, &[]).unwrap_err();
    assert_eq!(
        failure.message,
        "PJRT_LoadedExecutable_Execute: the executable has been deleted"
    );
    destroy_executable(program);
}

#[test]
fn results_too_large_for_memory_are_refused() {
    let client = client();
    let program = compile(
        client,
        "func.func @main(%x: tensor<f32>) -> tensor<4000000x4000000xf32> {
           %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<4000000x4000000xf32>
           return %0 : tensor<4000000x4000000xf32>
         }",
    );
    let x = f32s(client, &[], &[1.]);
    let failure = execute(program, &[x]).unwrap_err();
    assert_eq!(
        failure.code,
        PJRT_Error_Code::RESOURCE_EXHAUSTED,
        "{}",
        failure.message
    );
    destroy(x);
    destroy_executable(program);
}
