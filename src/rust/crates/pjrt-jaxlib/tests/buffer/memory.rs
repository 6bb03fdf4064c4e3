//! Host memory, sizes, and memories of devices.

use crate::call;
use crate::common::*;
use pjrt_api::*;
use PJRT_Buffer_Type as T;
use PJRT_HostBufferSemantics as Semantics;

use super::types::is_ready;

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

fn default_memory(device: *mut PJRT_Device) -> *mut PJRT_Memory {
    call!(
        PJRT_Device_DefaultMemory,
        PJRT_Device_DefaultMemory_Args { device }
    )
    .unwrap()
    .memory
}

fn kind(memory: *mut PJRT_Memory) -> String {
    let a = call!(PJRT_Memory_Kind, PJRT_Memory_Kind_Args { memory }).unwrap();
    String::from_utf8(
        unsafe { std::slice::from_raw_parts(a.kind.cast::<u8>(), a.kind_size) }.to_vec(),
    )
    .unwrap()
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
    let default = default_memory(device);
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
            let memory = default_memory(device);
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
