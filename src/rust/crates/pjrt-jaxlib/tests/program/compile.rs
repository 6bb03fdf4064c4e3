//! Programs are compiled and described.

use crate::call;
use crate::common::*;
use pjrt_api::*;

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
fn layouts_other_than_row_major_are_reported_and_honoured() {
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

/// JAX turns off what XLA's CPU compiler does by default: minima and maxima that forget NaN. Large arrays it leaves to a
/// library that forgets it, too.
#[test]
fn maximum_and_minimum_keep_nan() {
    let client = client();
    let reduce = |size: usize, op: &str, start: &str| {
        format!(
            "func.func @main(%x: tensor<{size}xf32>) -> tensor<f32> {{
               %start = stablehlo.constant dense<{start}> : tensor<f32>
               %0 = stablehlo.reduce(%x init: %start) applies stablehlo.{op} across dimensions = [0]
                 : (tensor<{size}xf32>, tensor<f32>) -> tensor<f32>
               return %0 : tensor<f32>
             }}"
        )
    };
    for size in [4, 5000] {
        let mut data = vec![2.; size];
        (data[0], data[size - 1]) = (1., 4.);
        let none = f32s(client, &[size as i64], &data);
        data[size / 2] = f32::NAN;
        let some = f32s(client, &[size as i64], &data);
        for (op, start, expected) in [("maximum", "0xFF800000", 4.), ("minimum", "0x7F800000", 1.)]
        {
            // executable_build_options { num_replicas: 1 num_partitions: 1 }
            for options in [&b""[..], b"\x1a\x04\x20\x01\x28\x01"] {
                let code = reduce(size, op, start);
                let program = compile_with(client, code.as_bytes(), "mlir", options).unwrap();
                assert!(only_number(program, some).is_nan(), "{op} {size}");
                assert_eq!(only_number(program, none), expected, "{op} {size}");
                destroy_executable(program);
            }
        }
        [some, none].into_iter().for_each(destroy);
    }
}

/// What a program makes of an array: one number.
fn only_number(program: *mut PJRT_LoadedExecutable, x: *mut PJRT_Buffer) -> f32 {
    let out = execute(program, &[x]).unwrap()[0];
    let value = read::<f32>(out).unwrap()[0];
    destroy(out);
    value
}

/// In sums of large arrays that library would lose the sign of zeros and conversions as well.
#[test]
fn sums_of_large_arrays_are_what_the_program_says() {
    let client = client();
    let sum = |body: &str, number: f32| {
        let code = format!(
            "func.func @main(%x: TYPE) -> tensor<f32> {{
               %zero = stablehlo.constant dense<0.0> : tensor<f32>
               %zeros = stablehlo.constant dense<0.0> : TYPE
               %ones = stablehlo.constant dense<1.0> : TYPE
               {body}
               %sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0]
                 : (TYPE, tensor<f32>) -> tensor<f32>
               return %sum : tensor<f32>
             }}"
        );
        let program = compile(client, &code.replace("TYPE", "tensor<5000xf32>"));
        let x = f32s(client, &[5000], &[number; 5000]);
        let value = only_number(program, x);
        destroy(x);
        destroy_executable(program);
        value
    };
    let negative = "%n = stablehlo.negate %x : TYPE
        %y = stablehlo.divide %ones, %n : TYPE";
    assert_eq!(sum(negative, 0.0), f32::NEG_INFINITY);
    // 1.501 is 1.5 in 16 bits.
    for (to, expected) in [("i8", 5000.0), ("bf16", 7500.0)] {
        let rounded = "%o = stablehlo.convert %x : (TYPE) -> tensor<5000xOTHER>
            %y = stablehlo.convert %o : (tensor<5000xOTHER>) -> TYPE";
        assert_eq!(sum(&rounded.replace("OTHER", to), 1.501), expected);
    }
    let largest = "%y = stablehlo.maximum %x, %zeros : TYPE";
    assert!(sum(largest, f32::NAN).is_nan());
    assert_eq!(sum(largest, 1.0), 5000.0);
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
