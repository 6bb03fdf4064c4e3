//! Programs: compiling, arguments, results, donation, devices.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
mod common;
use common::*;
use pjrt_api::*;

/// Reuses the memory of its first argument.
const DONATING: &str = "func.func @main(%x: tensor<64xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.add %x, %y : tensor<64xf32>
  return %0 : tensor<64xf32>
}";

#[test]
fn a_program_runs() {
    let client = client();
    let program = compile(client, ADD);
    let x = f32s(client, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let y = f32s(client, &[2, 3], &[10., 20., 30., 40., 50., 60.]);
    let results = execute(program, &[x, y]).unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(dims(results[0]), [2, 3]);
    assert_eq!(
        read::<f32>(results[0]).unwrap(),
        [11., 22., 33., 44., 55., 66.]
    );
    // Inputs stay what they were.
    assert_eq!(read::<f32>(x).unwrap(), [1., 2., 3., 4., 5., 6.]);
    [x, y, results[0]].into_iter().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn results_of_several_types_are_described_and_right() {
    let client = client();
    let program = compile(
        client,
        "module @several { func.func @main() -> (tensor<i64>, tensor<2xcomplex<f32>>, tensor<0x3xbf16>, tensor<2xi1>) {
           %0 = stablehlo.constant dense<-7> : tensor<i64>
           %1 = stablehlo.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
           %2 = stablehlo.constant dense<1.0> : tensor<0x3xbf16>
           %3 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
           return %0, %1, %2, %3 : tensor<i64>, tensor<2xcomplex<f32>>, tensor<0x3xbf16>, tensor<2xi1>
         } }",
    );
    let of = executable_of(program);
    let a = call!(
        PJRT_Executable_Name,
        PJRT_Executable_Name_Args { executable: of }
    )
    .unwrap();
    let name = unsafe {
        std::slice::from_raw_parts(a.executable_name.cast::<u8>(), a.executable_name_size)
    };
    assert_eq!(name, b"several");
    let a = call!(
        PJRT_Executable_OutputElementTypes,
        PJRT_Executable_OutputElementTypes_Args { executable: of }
    )
    .unwrap();
    let types = unsafe { std::slice::from_raw_parts(a.output_types, a.num_output_types) };
    use PJRT_Buffer_Type as T;
    assert_eq!(types, [T::S64, T::C64, T::BF16, T::PRED]);
    let a = call!(
        PJRT_Executable_OutputDimensions,
        PJRT_Executable_OutputDimensions_Args { executable: of }
    )
    .unwrap();
    assert_eq!(
        unsafe { std::slice::from_raw_parts(a.dim_sizes, 4) },
        [0, 1, 2, 1]
    );
    assert_eq!(
        unsafe { std::slice::from_raw_parts(a.dims, 4) },
        [2, 0, 3, 2]
    );
    // The executable outlives what it was taken from.
    let results = execute(program, &[]).unwrap();
    destroy_executable(program);
    assert_eq!(
        call!(
            PJRT_Executable_NumOutputs,
            PJRT_Executable_NumOutputs_Args { executable: of }
        )
        .unwrap()
        .num_outputs,
        4
    );
    destroy_unloaded(of);
    assert_eq!(read::<i64>(results[0]).unwrap(), [-7]);
    assert_eq!(read::<[f32; 2]>(results[1]).unwrap(), [[1., 2.]; 2]);
    assert_eq!(read::<u16>(results[2]).unwrap(), []);
    assert_eq!(dims(results[2]), [0, 3]);
    assert_eq!(read::<u8>(results[3]).unwrap(), [1, 0]);
    results.into_iter().for_each(destroy);
}

#[test]
fn layouts_other_than_row_major_are_told_and_honoured() {
    let client = client();
    let program = compile(
        client,
        "func.func @main(%x: tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}) -> (tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}) {
           %0 = stablehlo.add %x, %x : tensor<2x3xf32>
           return %0 : tensor<2x3xf32>
         }",
    );
    let x = f32s(client, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    assert_eq!(layout(x), [1, 0]);
    let out = execute(program, &[x]).unwrap()[0];
    assert_eq!(layout(out), [0, 1]);
    assert_eq!(read::<f32>(out).unwrap(), [2., 8., 4., 10., 6., 12.]);
    assert_eq!(
        read_as::<f32>(out, Some(order(&[1, 0]))).unwrap(),
        [2., 4., 6., 8., 10., 12.]
    );
    // A result in that order is an argument like any other, here and where row-major is wanted.
    let again = execute(program, &[out]).unwrap()[0];
    assert_eq!(
        read_as::<f32>(again, Some(order(&[1, 0]))).unwrap(),
        [4., 8., 12., 16., 20., 24.]
    );
    let add = compile(client, ADD);
    let sum = execute(add, &[out, x]).unwrap()[0];
    assert_eq!(read::<f32>(sum).unwrap(), [3., 6., 9., 12., 15., 18.]);
    [x, out, again, sum].into_iter().for_each(destroy);
    [program, add].into_iter().for_each(destroy_executable);
}

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

#[test]
fn programs_that_cannot_be_compiled_say_why() {
    let client = client();
    let fails = |code: &str, format: &str, want: PJRT_Error_Code, text: &str| {
        let failure = compile_with(client, code.as_bytes(), format, b"").expect_err(text);
        assert_eq!(failure.code, want, "{}", failure.message);
        assert!(failure.message.contains(text), "{}", failure.message);
    };
    fails(
        "func.func @main(",
        "mlir",
        PJRT_Error_Code::INVALID_ARGUMENT,
        "error: expected",
    );
    fails("", "mlir", PJRT_Error_Code::INVALID_ARGUMENT, "");
    fails(
        "",
        "onnx",
        PJRT_Error_Code::INVALID_ARGUMENT,
        "program format `onnx` is unknown",
    );
    fails(
        "func.func @main() -> tensor<f32> {
           %0 = stablehlo.custom_call @no_such_target() {api_version = 4 : i32} : () -> tensor<f32>
           return %0 : tensor<f32>
         }",
        "mlir",
        PJRT_Error_Code::NOT_FOUND,
        "no_such_target",
    );
    // Options: 2 replicas of 2 partitions on a client of 2 devices.
    let options = b"\x1a\x04\x20\x02\x28\x02";
    let failure = compile_with(client, ADD.as_bytes(), "mlir", options).unwrap_err();
    assert!(
        failure.message.contains("need 4 device(s)"),
        "{}",
        failure.message
    );
    // Options: device 7.
    let failure = compile_with(client, ADD.as_bytes(), "mlir", b"\x1a\x02\x08\x07").unwrap_err();
    assert!(
        failure.message.contains("no device has the id 7"),
        "{}",
        failure.message
    );
}

#[test]
fn hlo_and_serialised_programs_run_too() {
    let client = client();
    let program = compile(client, ADD);
    let of = executable_of(program);
    assert!(
        call!(
            PJRT_Executable_Fingerprint,
            PJRT_Executable_Fingerprint_Args { executable: of }
        )
        .unwrap()
        .executable_fingerprint_size
            > 0
    );
    let from_hlo = compile_with(client, &optimized(program), "hlo", b"").unwrap();
    destroy_unloaded(of);
    let loaded = deserialized(client, &serialized(program));
    // Of a program that it has loaded, XLA itself forgets the code.
    let again = deserialized(client, &serialized(loaded));
    let x = f32s(client, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    for p in [program, from_hlo, loaded, again] {
        let out = execute(p, &[x, x]).unwrap()[0];
        assert_eq!(read::<f32>(out).unwrap(), [2., 4., 6., 8., 10., 12.]);
        destroy(out);
        destroy_executable(p);
    }
    destroy(x);
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

/// JAX turns off what XLA's CPU compiler does by default: minima and maxima that forget NaN.
#[test]
fn maximum_and_minimum_keep_nan() {
    let client = client();
    let reduce = |op: &str, start: &str| {
        format!(
            "func.func @main(%x: tensor<4xf32>) -> tensor<f32> {{
               %start = stablehlo.constant dense<{start}> : tensor<f32>
               %0 = stablehlo.reduce(%x init: %start) applies stablehlo.{op} across dimensions = [0]
                 : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
               return %0 : tensor<f32>
             }}"
        )
    };
    let some = f32s(client, &[4], &[1., f32::NAN, 3., 4.]);
    let none = f32s(client, &[4], &[1., 2., 3., 4.]);
    for (op, start, expected) in [("maximum", "0xFF800000", 4.), ("minimum", "0x7F800000", 1.)] {
        // executable_build_options { num_replicas: 1 num_partitions: 1 }
        for options in [&b""[..], b"\x1a\x04\x20\x01\x28\x01"] {
            let program =
                compile_with(client, reduce(op, start).as_bytes(), "mlir", options).unwrap();
            let result = |x| {
                let out = execute(program, &[x]).unwrap()[0];
                let value = read::<f32>(out).unwrap()[0];
                destroy(out);
                value
            };
            assert!(result(some).is_nan(), "{op}");
            assert_eq!(result(none), expected, "{op}");
            destroy_executable(program);
        }
    }
    [some, none].into_iter().for_each(destroy);
}

#[test]
fn a_program_for_any_shape_is_refined() {
    let client = client();
    let any = b"func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<3x?xf32> {
      %0 = call @sum(%x, %y) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<?x3xf32>) -> tensor<3x?xf32>
      return %1 : tensor<3x?xf32>
    }
    func.func private @sum(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
      %0 = stablehlo.add %x, %y : tensor<?x3xf32>
      return %0 : tensor<?x3xf32>
    }";
    let x = f32s(client, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let sized = pjrt_jaxlib::refine(any, &[vec![2, 3], vec![2, 3]]).unwrap();
    let program = compile_with(client, &sized, "mlir", b"").unwrap();
    let out = execute(program, &[x, x]).unwrap()[0];
    assert_eq!(dims(out), [3, 2]);
    assert_eq!(read::<f32>(out).unwrap(), [2., 8., 4., 10., 6., 12.]);
    [x, out].into_iter().for_each(destroy);
    destroy_executable(program);
    let fails = |code: &[u8], shapes: &[Vec<i64>], text: &str| {
        let failure = pjrt_jaxlib::refine(code, shapes).expect_err(text);
        assert_eq!(
            failure.code,
            PJRT_Error_Code::INVALID_ARGUMENT,
            "{failure:?}"
        );
        assert!(failure.message.contains(text), "{}", failure.message);
    };
    fails(any, &[vec![2, 3]], "takes 2 argument(s), got 1 shape(s)");
    fails(
        any,
        &[vec![2, 4], vec![2, 3]],
        "argument 1 is tensor<?x3xf32>",
    );
    fails(any, &[vec![2, 3], vec![3]], "argument 2 is tensor<?x3xf32>");
    fails(any, &[vec![2, 3], vec![5, 3]], "");
    fails(b"nonsense", &[], "not StableHLO");
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
