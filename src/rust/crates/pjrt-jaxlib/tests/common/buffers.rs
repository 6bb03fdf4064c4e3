//! Buffers: made, waited for, read.

use super::*;
use crate::call;

/// Host memory aligned for XLA.
#[repr(align(64))]
pub struct Aligned<const N: usize>(pub [f32; N]);

pub fn upload_args(
    client: *mut PJRT_Client,
    ty: PJRT_Buffer_Type,
    dims: &[i64],
    data: *const c_void,
) -> PJRT_Client_BufferFromHostBuffer_Args {
    PJRT_Client_BufferFromHostBuffer_Args {
        client,
        data,
        r#type: ty,
        dims: dims.as_ptr(),
        num_dims: dims.len(),
        device: devices(client)[0],
        ..PJRT_Client_BufferFromHostBuffer_Args::new()
    }
}

/// Runs an upload; the buffer and the event.
pub fn upload_with(
    mut args: PJRT_Client_BufferFromHostBuffer_Args,
) -> Answer<(*mut PJRT_Buffer, *mut PJRT_Event)> {
    let error = unsafe { api().PJRT_Client_BufferFromHostBuffer.unwrap()(&mut args) };
    answer(error).map(|()| (args.buffer, args.done_with_host_buffer))
}

pub fn upload<T>(
    client: *mut PJRT_Client,
    ty: PJRT_Buffer_Type,
    dims: &[i64],
    data: &[T],
) -> *mut PJRT_Buffer {
    let (buffer, event) = upload_with(upload_args(client, ty, dims, data.as_ptr().cast())).unwrap();
    destroy_event(event);
    buffer
}

pub fn f32s(client: *mut PJRT_Client, dims: &[i64], data: &[f32]) -> *mut PJRT_Buffer {
    upload(client, PJRT_Buffer_Type::F32, dims, data)
}

pub fn destroy_event(event: *mut PJRT_Event) {
    call!(PJRT_Event_Destroy, PJRT_Event_Destroy_Args { event }).unwrap();
}

pub fn wait(event: *mut PJRT_Event) -> Answer<()> {
    call!(PJRT_Event_Await, PJRT_Event_Await_Args { event }).map(drop)
}

pub fn destroy(buffer: *mut PJRT_Buffer) {
    call!(PJRT_Buffer_Destroy, PJRT_Buffer_Destroy_Args { buffer }).unwrap();
}

pub fn destroy_executable(executable: *mut PJRT_LoadedExecutable) {
    call!(
        PJRT_LoadedExecutable_Destroy,
        PJRT_LoadedExecutable_Destroy_Args { executable }
    )
    .unwrap();
}

pub fn is_deleted(buffer: *mut PJRT_Buffer) -> bool {
    call!(PJRT_Buffer_IsDeleted, PJRT_Buffer_IsDeleted_Args { buffer })
        .unwrap()
        .is_deleted
}

pub fn address(buffer: *mut PJRT_Buffer) -> Answer<usize> {
    call!(
        PJRT_Buffer_UnsafePointer,
        PJRT_Buffer_UnsafePointer_Args { buffer }
    )
    .map(|a| a.buffer_pointer)
}

pub fn dims(buffer: *mut PJRT_Buffer) -> Vec<i64> {
    let a = call!(
        PJRT_Buffer_Dimensions,
        PJRT_Buffer_Dimensions_Args { buffer }
    )
    .unwrap();
    if a.num_dims == 0 {
        return Vec::new();
    }
    unsafe { std::slice::from_raw_parts(a.dims, a.num_dims) }.to_vec()
}

pub fn layout(buffer: *mut PJRT_Buffer) -> Vec<i64> {
    let a = call!(
        PJRT_Buffer_GetMemoryLayout,
        PJRT_Buffer_GetMemoryLayout_Args { buffer }
    )
    .unwrap();
    assert_eq!(a.layout.r#type, PJRT_Buffer_MemoryLayout_Type::Tiled);
    let tiled = unsafe { a.layout.value.tiled };
    if tiled.minor_to_major_size == 0 {
        return Vec::new();
    }
    unsafe { std::slice::from_raw_parts(tiled.minor_to_major, tiled.minor_to_major_size) }.to_vec()
}

/// A layout of the C API by order of dimensions.
pub fn order(minor_to_major: &[i64]) -> PJRT_Buffer_MemoryLayout {
    let mut layout = PJRT_Buffer_MemoryLayout::new();
    let mut tiled = PJRT_Buffer_MemoryLayout_Tiled::new();
    tiled.minor_to_major = minor_to_major.as_ptr();
    tiled.minor_to_major_size = minor_to_major.len();
    layout.value.tiled = tiled;
    layout
}

/// The elements in a wanted order (NULL: as they are).
pub fn read_as<T: Copy + Default>(
    buffer: *mut PJRT_Buffer,
    mut wanted: Option<PJRT_Buffer_MemoryLayout>,
) -> Answer<Vec<T>> {
    let host_layout = wanted.as_mut().map_or(null_mut(), |l| l as *mut _);
    let asked = call!(
        PJRT_Buffer_ToHostBuffer,
        PJRT_Buffer_ToHostBuffer_Args {
            src: buffer,
            host_layout
        }
    )?;
    assert!(asked.event.is_null());
    let mut out = vec![T::default(); asked.dst_size / std::mem::size_of::<T>()];
    let dst = if out.is_empty() {
        std::ptr::NonNull::<u8>::dangling().as_ptr().cast()
    } else {
        out.as_mut_ptr().cast()
    };
    let a = call!(
        PJRT_Buffer_ToHostBuffer,
        PJRT_Buffer_ToHostBuffer_Args {
            src: buffer,
            host_layout,
            dst,
            dst_size: asked.dst_size,
        }
    )?;
    let outcome = wait(a.event);
    destroy_event(a.event);
    outcome.map(|()| out)
}

pub fn read<T: Copy + Default>(buffer: *mut PJRT_Buffer) -> Answer<Vec<T>> {
    read_as(buffer, None)
}
