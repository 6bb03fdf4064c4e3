//! Element types, shapes and layouts, there and back.

use crate::call;
use crate::common::*;
use pjrt_api::*;
use PJRT_Buffer_Type as T;
use PJRT_HostBufferSemantics as Semantics;

pub fn is_ready(event: *mut PJRT_Event) -> bool {
    call!(PJRT_Event_IsReady, PJRT_Event_IsReady_Args { event })
        .unwrap()
        .is_ready
}

#[test]
fn every_type_goes_there_and_back() {
    let client = client();
    let types = [
        (T::PRED, 1),
        (T::S8, 1),
        (T::S16, 2),
        (T::S32, 4),
        (T::S64, 8),
        (T::U8, 1),
        (T::U16, 2),
        (T::U32, 4),
        (T::U64, 8),
        (T::F16, 2),
        (T::BF16, 2),
        (T::F32, 4),
        (T::F64, 8),
        (T::C64, 8),
        (T::C128, 16),
        (T::F8E5M2, 1),
        (T::F8E4M3FN, 1),
        (T::F8E4M3B11FNUZ, 1),
        (T::F8E5M2FNUZ, 1),
        (T::F8E4M3FNUZ, 1),
        (T::F8E4M3, 1),
        (T::F8E3M4, 1),
        (T::F8E8M0FNU, 1),
    ];
    for (ty, size) in types {
        // Zeros and ones, which every type holds, pred too.
        let bytes: Vec<u8> = (0..6 * size).map(|i| (i % 2) as u8).collect();
        let buffer = upload(client, ty, &[2, 3], &bytes);
        assert_eq!(
            call!(
                PJRT_Buffer_ElementType,
                PJRT_Buffer_ElementType_Args { buffer }
            )
            .unwrap()
            .r#type,
            ty
        );
        assert_eq!(
            call!(
                PJRT_Buffer_OnDeviceSizeInBytes,
                PJRT_Buffer_OnDeviceSizeInBytes_Args { buffer }
            )
            .unwrap()
            .on_device_size_in_bytes,
            6 * size
        );
        assert_eq!(read::<u8>(buffer).unwrap(), bytes, "{ty:?}");
        destroy(buffer);
    }
    for ty in [T::INVALID, T::TOKEN, T::S4, T(999)] {
        let failure =
            upload_with(upload_args(client, ty, &[1], [0u8; 16].as_ptr().cast())).unwrap_err();
        assert_eq!(failure.code, PJRT_Error_Code::UNIMPLEMENTED);
        assert!(
            failure.message.contains("element type"),
            "{}",
            failure.message
        );
    }
}

#[test]
fn every_type_goes_through_a_program() {
    let client = client();
    let cases: [(&str, T, Vec<u8>); 6] = [
        ("i1", T::PRED, vec![1, 0, 1]),
        ("ui8", T::U8, vec![200, 0, 7]),
        (
            "f16",
            T::F16,
            [0x3c00u16, 0xc000, 0x0001]
                .iter()
                .flat_map(|v| v.to_ne_bytes())
                .collect(),
        ),
        (
            "bf16",
            T::BF16,
            [0x3f80u16, 0xc000, 0x7f80]
                .iter()
                .flat_map(|v| v.to_ne_bytes())
                .collect(),
        ),
        (
            "complex<f64>",
            T::C128,
            [1f64, -2., 3., 4., 0.5, 6.]
                .iter()
                .flat_map(|v| v.to_ne_bytes())
                .collect(),
        ),
        ("f8E4M3FN", T::F8E4M3FN, vec![0x38, 0xb8, 0x40]),
    ];
    for (name, ty, bytes) in cases {
        let code = format!(
            "func.func @main(%x: tensor<3x{name}>) -> tensor<3x{name}> {{
               %0 = stablehlo.reverse %x, dims = [0] : tensor<3x{name}>
               return %0 : tensor<3x{name}>
             }}"
        );
        let program = compile(client, &code);
        let x = upload(client, ty, &[3], &bytes);
        let out = execute(program, &[x]).unwrap()[0];
        let turned: Vec<u8> = bytes
            .chunks(bytes.len() / 3)
            .rev()
            .flatten()
            .copied()
            .collect();
        assert_eq!(read::<u8>(out).unwrap(), turned, "{name}");
        [x, out].into_iter().for_each(destroy);
        destroy_executable(program);
    }
}

#[test]
fn scalars_and_empty_arrays() {
    let client = client();
    let scalar = upload(client, T::F64, &[], &[2.5f64]);
    assert_eq!((dims(scalar), layout(scalar)), (vec![], vec![]));
    assert_eq!(read::<f64>(scalar).unwrap(), [2.5]);
    destroy(scalar);
    let (empty, done) =
        upload_with(upload_args(client, T::F32, &[0, 3], std::ptr::null())).unwrap();
    wait(done).unwrap();
    destroy_event(done);
    assert_eq!(dims(empty), [0, 3]);
    assert_eq!(read::<f32>(empty).unwrap(), []);
    assert!(address(empty).is_ok());
    let program = compile(
        client,
        "func.func @main(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
           %0 = stablehlo.add %x, %x : tensor<0x3xf32>
           return %0 : tensor<0x3xf32>
         }",
    );
    let out = execute(program, &[empty]).unwrap()[0];
    assert_eq!(dims(out), [0, 3]);
    [empty, out].into_iter().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn strides_are_followed() {
    let client = client();
    // Column-major memory of [[1, 2, 3], [4, 5, 6]].
    let data = [1f32, 4., 2., 5., 3., 6.];
    let with = |data: *const f32, strides: &[i64]| {
        let mut args = upload_args(client, T::F32, &[2, 3], data.cast());
        (args.byte_strides, args.num_byte_strides) = (strides.as_ptr(), strides.len());
        args.host_buffer_semantics = Semantics::kMutableZeroCopy;
        upload_with(args).map(|(buffer, done)| {
            assert!(is_ready(done), "copied, so the memory is free again");
            destroy_event(done);
            let elements = read::<f32>(buffer).unwrap();
            assert_eq!(layout(buffer), [1, 0]);
            destroy(buffer);
            elements
        })
    };
    assert_eq!(
        with(data.as_ptr(), &[4, 8]).unwrap(),
        [1., 2., 3., 4., 5., 6.]
    );
    // From the last row up, and one row again and again.
    assert_eq!(
        with(unsafe { data.as_ptr().add(1) }, &[-4, 8]).unwrap(),
        [4., 5., 6., 1., 2., 3.]
    );
    assert_eq!(
        with(data.as_ptr(), &[0, 8]).unwrap(),
        [1., 2., 3., 1., 2., 3.]
    );
    assert!(with(data.as_ptr(), &[4])
        .unwrap_err()
        .message
        .contains("`byte_strides` has 1 elements"));
}

#[test]
fn a_device_layout_is_kept_and_told() {
    let client = client();
    let data = [1f32, 2., 3., 4., 5., 6.];
    let mut wanted = order(&[0, 1]);
    let mut args = upload_args(client, T::F32, &[2, 3], data.as_ptr().cast());
    args.device_layout = &mut wanted;
    let (buffer, done) = upload_with(args).unwrap();
    destroy_event(done);
    assert_eq!((dims(buffer), layout(buffer)), (vec![2, 3], vec![0, 1]));
    assert_eq!(read::<f32>(buffer).unwrap(), [1., 4., 2., 5., 3., 6.]);
    assert_eq!(read_as::<f32>(buffer, Some(order(&[1, 0]))).unwrap(), data);
    let program = compile(client, ADD);
    let out = execute(program, &[buffer, buffer]).unwrap()[0];
    assert_eq!(read::<f32>(out).unwrap(), [2., 4., 6., 8., 10., 12.]);
    [buffer, out].into_iter().for_each(destroy);
    destroy_executable(program);
    for bad in [&[0i64, 0][..], &[0, 2]] {
        let mut wanted = order(bad);
        args.device_layout = &mut wanted;
        let failure = upload_with(args).unwrap_err();
        assert!(
            failure.message.contains("is not an order of 2 dimensions"),
            "{}",
            failure.message
        );
    }
}
