//! Buffers: every type, order, way of giving host memory, and reading back.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
mod common;
use common::*;
use pjrt_api::*;
use PJRT_Buffer_Type as T;
use PJRT_HostBufferSemantics as Semantics;

fn is_ready(event: *mut PJRT_Event) -> bool {
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

#[test]
fn host_memory_is_free_when_the_event_says_so() {
    let client = client();
    let host = Box::new(Aligned([7f32; 64]));
    let give = |semantics, offset: usize| {
        let data = unsafe { host.0.as_ptr().add(offset) };
        let mut args = upload_args(client, T::F32, &[16], data.cast());
        args.host_buffer_semantics = semantics;
        let (buffer, done) = upload_with(args).unwrap();
        (buffer, done, address(buffer).unwrap() == data as usize)
    };
    for semantics in [
        Semantics::kImmutableOnlyDuringCall,
        Semantics::kImmutableUntilTransferCompletes,
    ] {
        let (buffer, done, same) = give(semantics, 0);
        assert!(is_ready(done) && !same);
        destroy(buffer);
        destroy_event(done);
    }
    for semantics in [Semantics::kImmutableZeroCopy, Semantics::kMutableZeroCopy] {
        let (buffer, done, same) = give(semantics, 0);
        assert!(!is_ready(done) && same);
        destroy(buffer);
        wait(done).unwrap();
        destroy_event(done);
        // Memory that XLA could not use as it is is copied.
        let (buffer, done, same) = give(semantics, 1);
        assert!(is_ready(done) && !same);
        destroy(buffer);
        destroy_event(done);
        // Deleted is as good as destroyed.
        let (buffer, done, _) = give(semantics, 0);
        call!(PJRT_Buffer_Delete, PJRT_Buffer_Delete_Args { buffer }).unwrap();
        wait(done).unwrap();
        destroy_event(done);
        destroy(buffer);
    }
}

#[test]
fn reading_asks_for_room_and_honours_the_layout() {
    let client = client();
    let buffer = f32s(client, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let mut small = [0f32; 5];
    let failure = call!(
        PJRT_Buffer_ToHostBuffer,
        PJRT_Buffer_ToHostBuffer_Args {
            src: buffer,
            dst: small.as_mut_ptr().cast(),
            dst_size: 20,
        }
    )
    .map(drop)
    .unwrap_err();
    assert_eq!(
        failure.message,
        "PJRT_Buffer_ToHostBuffer: `dst_size` is 20, an array f32[2,3] needs 24"
    );
    assert_eq!(
        read_as::<f32>(buffer, Some(order(&[0, 1]))).unwrap(),
        [1., 4., 2., 5., 3., 6.]
    );
    // By strides, with a gap after each row.
    let mut layout = PJRT_Buffer_MemoryLayout::new();
    let strides = [16i64, 4];
    let mut value = PJRT_Buffer_MemoryLayout_Strides::new();
    (value.byte_strides, value.num_byte_strides) = (strides.as_ptr(), 2);
    layout.value.strides = value;
    layout.r#type = PJRT_Buffer_MemoryLayout_Type::Strides;
    assert_eq!(
        read_as::<f32>(buffer, Some(layout)).unwrap(),
        [1., 2., 3., 0., 4., 5., 6.]
    );
    // A part, as it lies there.
    let mut part = [0f32; 2];
    let raw = |offset, transfer_size, dst: *mut f32| {
        call!(
            PJRT_Buffer_CopyRawToHost,
            PJRT_Buffer_CopyRawToHost_Args {
                buffer,
                dst: dst.cast(),
                offset,
                transfer_size,
            }
        )
    };
    let event = raw(8, 8, part.as_mut_ptr()).unwrap().event;
    wait(event).unwrap();
    destroy_event(event);
    assert_eq!(part, [3., 4.]);
    for (offset, size) in [(-4, 8), (20, 8), (i64::MAX, 8)] {
        let failure = raw(offset, size, part.as_mut_ptr()).map(drop).unwrap_err();
        assert!(
            failure.message.contains("do not lie in a buffer of 24"),
            "{}",
            failure.message
        );
    }
    destroy(buffer);
}

#[test]
fn impossible_sizes_are_refused() {
    let client = client();
    let fails = |dims: &[i64], code: PJRT_Error_Code, text: &str| {
        let failure =
            upload_with(upload_args(client, T::F64, dims, [0u8; 64].as_ptr().cast())).unwrap_err();
        assert_eq!(failure.code, code, "{}", failure.message);
        assert!(failure.message.contains(text), "{}", failure.message);
    };
    fails(
        &[-1],
        PJRT_Error_Code::INVALID_ARGUMENT,
        "dimension -1 of [-1] is negative",
    );
    fails(
        &[i64::MAX, 2],
        PJRT_Error_Code::RESOURCE_EXHAUSTED,
        "is larger than memory",
    );
    fails(
        &[1 << 46],
        PJRT_Error_Code::RESOURCE_EXHAUSTED,
        "cannot allocate",
    );
    let failure = upload_with(upload_args(client, T::F64, &[2], std::ptr::null())).unwrap_err();
    assert!(
        failure
            .message
            .contains("`data` is NULL for an array f64[2]"),
        "{}",
        failure.message
    );
    let mut args = upload_args(client, T::F64, &[2], [0f64; 2].as_ptr().cast());
    args.device = std::ptr::null_mut();
    assert!(upload_with(args)
        .unwrap_err()
        .message
        .contains("`device` and `memory` are both NULL"));
    let other = new_client(&[]).unwrap();
    args.device = devices(other)[0];
    assert!(upload_with(args)
        .unwrap_err()
        .message
        .contains("not a device of this client"));
    call!(
        PJRT_Client_Destroy,
        PJRT_Client_Destroy_Args { client: other }
    )
    .unwrap();
}

#[test]
fn memories_belong_to_their_device() {
    let client = client();
    let device = devices(client)[1];
    let a = call!(
        PJRT_Device_AddressableMemories,
        PJRT_Device_AddressableMemories_Args { device }
    )
    .unwrap();
    let memories = unsafe { std::slice::from_raw_parts(a.memories, a.num_memories) };
    let default = call!(
        PJRT_Device_DefaultMemory,
        PJRT_Device_DefaultMemory_Args { device }
    )
    .unwrap()
    .memory;
    assert!(memories.contains(&default));
    let mut args = upload_args(client, T::F32, &[1], [1f32].as_ptr().cast());
    args.memory = default;
    let (buffer, done) = upload_with(args).unwrap();
    destroy_event(done);
    assert_eq!(
        call!(PJRT_Buffer_Device, PJRT_Buffer_Device_Args { buffer })
            .unwrap()
            .device,
        device
    );
    assert_eq!(
        call!(PJRT_Buffer_Memory, PJRT_Buffer_Memory_Args { buffer })
            .unwrap()
            .memory,
        default
    );
    assert!(
        call!(PJRT_Buffer_IsOnCpu, PJRT_Buffer_IsOnCpu_Args { buffer })
            .unwrap()
            .is_on_cpu
    );
    destroy(buffer);
    let kind = |memory| {
        let a = call!(PJRT_Memory_Kind, PJRT_Memory_Kind_Args { memory }).unwrap();
        String::from_utf8(
            unsafe { std::slice::from_raw_parts(a.kind.cast::<u8>(), a.kind_size) }.to_vec(),
        )
        .unwrap()
    };
    assert_eq!(kind(default), "device");
    for &memory in memories {
        let a = call!(
            PJRT_Memory_AddressableByDevices,
            PJRT_Memory_AddressableByDevices_Args { memory }
        )
        .unwrap();
        assert_eq!(
            unsafe { std::slice::from_raw_parts(a.devices, a.num_devices) },
            [device]
        );
        assert!(
            call!(PJRT_Memory_ToString, PJRT_Memory_ToString_Args { memory })
                .unwrap()
                .to_string_size
                > 0
        );
        if memory != default {
            args.memory = memory;
            let failure = upload_with(args).unwrap_err();
            assert!(
                failure.message.contains(&kind(memory)),
                "{}",
                failure.message
            );
        }
    }
    let ids: Vec<_> = devices(client)
        .iter()
        .map(|&device| {
            let memory = call!(
                PJRT_Device_DefaultMemory,
                PJRT_Device_DefaultMemory_Args { device }
            )
            .unwrap()
            .memory;
            call!(PJRT_Memory_Id, PJRT_Memory_Id_Args { memory })
                .unwrap()
                .id
        })
        .collect();
    assert!(ids[0] != ids[1]);
}

/// A stride that is never taken may be anything: numpy and R's clients leave all kinds there.
#[test]
fn strides_of_axes_of_one_element_do_not_prevent_sharing() {
    let client = client();
    let data = Aligned([1., 2., 3., 4.]);
    let pointer: *const std::ffi::c_void = data.0.as_ptr().cast();
    for (dims, strides) in [([4, 1], [4, 4]), ([4, 1], [4, 16]), ([1, 4], [4, 4])] {
        let args = PJRT_Client_BufferFromHostBuffer_Args {
            byte_strides: strides.as_ptr(),
            num_byte_strides: 2,
            host_buffer_semantics: PJRT_HostBufferSemantics::kImmutableZeroCopy,
            ..upload_args(client, PJRT_Buffer_Type::F32, &dims, pointer)
        };
        let (buffer, event) = upload_with(args).unwrap();
        assert_eq!(address(buffer).unwrap(), pointer as usize, "{strides:?}");
        assert_eq!(read::<f32>(buffer).unwrap(), [1., 2., 3., 4.]);
        destroy(buffer);
        wait(event).unwrap();
        destroy_event(event);
    }
}
