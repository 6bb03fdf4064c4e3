//! The plugin as a C caller sees it.
#![allow(
    dead_code,
    clippy::undocumented_unsafe_blocks,
    reason = "tests: every call is one"
)]

#[cfg(unix)]
pub mod processes;
pub mod several;

use pjrt_api::*;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::{Mutex, OnceLock};

/// What a failed call said.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub code: PJRT_Error_Code,
    pub message: String,
}

pub type Answer<T> = Result<T, Failure>;

pub fn api() -> &'static PJRT_Api {
    unsafe { &*pjrt_jaxlib::GetPjrtApi() }
}

/// Takes an error apart and frees it.
pub fn answer(error: *mut PJRT_Error) -> Answer<()> {
    if error.is_null() {
        return Ok(());
    }
    unsafe {
        let mut m = PJRT_Error_Message_Args {
            error,
            ..PJRT_Error_Message_Args::new()
        };
        api().PJRT_Error_Message.unwrap()(&mut m);
        let text = std::slice::from_raw_parts(m.message.cast::<u8>(), m.message_size);
        let mut c = PJRT_Error_GetCode_Args {
            error,
            ..PJRT_Error_GetCode_Args::new()
        };
        assert!(api().PJRT_Error_GetCode.unwrap()(&mut c).is_null());
        let failure = Failure {
            code: c.code,
            message: String::from_utf8(text.to_vec()).unwrap(),
        };
        let mut d = PJRT_Error_Destroy_Args {
            error,
            ..PJRT_Error_Destroy_Args::new()
        };
        api().PJRT_Error_Destroy.unwrap()(&mut d);
        Err(failure)
    }
}

/// `call!(Function, Args { field: value })` gives the filled-in arguments or the failure.
#[macro_export]
macro_rules! call {
    ($function:ident, $args:ident { $($field:ident $(: $value:expr)?),* $(,)? }) => {{
        #[allow(clippy::needless_update)]
        let mut args = pjrt_api::$args { $($field $(: $value)?,)* ..pjrt_api::$args::new() };
        #[allow(clippy::undocumented_unsafe_blocks)]
        let error = unsafe { $crate::common::api().$function.expect("in the table")(&mut args) };
        $crate::common::answer(error).map(|()| args)
    }};
}

/// Looks for a Python with jaxlib, which `tools/setup.sh test` installs: in `XLAFFI_PYTHON`, which is
/// set to the repository's environment where nobody set it.
///
/// # Panics
/// Where there is none.
pub fn find_python() {
    static FOUND: OnceLock<()> = OnceLock::new();
    FOUND.get_or_init(|| {
        if std::env::var_os("XLAFFI_PYTHON").is_none() {
            let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../.venv/bin/python");
            if venv.is_file() {
                std::env::set_var("XLAFFI_PYTHON", venv);
            }
        }
        let report = pjrt_jaxlib::python::find();
        assert!(
            report.chosen().is_some(),
            "tools/setup.sh test installs what is missing: {}",
            report.message()
        );
    });
}

/// A client of so many devices, shared by the tests of a file.
pub fn shared(devices: i64) -> *mut PJRT_Client {
    struct Shared(*mut PJRT_Client);
    unsafe impl Send for Shared {}
    static CLIENTS: Mutex<BTreeMap<i64, Shared>> = Mutex::new(BTreeMap::new());
    find_python();
    let mut clients = CLIENTS.lock().unwrap();
    let shared = clients
        .entry(devices)
        .or_insert_with(|| Shared(new_client(&[int_option("cpu_device_count", devices)]).unwrap()));
    shared.0
}

/// A client of two devices, shared by the tests of a file.
pub fn client() -> *mut PJRT_Client {
    shared(2)
}

pub fn int_option(name: &'static str, value: i64) -> PJRT_NamedValue {
    let mut option = PJRT_NamedValue::new();
    (option.name, option.name_size) = (name.as_ptr().cast(), name.len());
    option.r#type = PJRT_NamedValue_Type::kInt64;
    option.value.int64_value = value;
    option.value_size = 1;
    option
}

pub fn new_client(options: &[PJRT_NamedValue]) -> Answer<*mut PJRT_Client> {
    call!(
        PJRT_Client_Create,
        PJRT_Client_Create_Args {
            create_options: options.as_ptr(),
            num_options: options.len(),
        }
    )
    .map(|a| a.client)
}

pub fn destroy_client(client: *mut PJRT_Client) {
    call!(PJRT_Client_Destroy, PJRT_Client_Destroy_Args { client }).unwrap();
}

pub fn devices(client: *mut PJRT_Client) -> &'static [*mut PJRT_Device] {
    let a = call!(
        PJRT_Client_AddressableDevices,
        PJRT_Client_AddressableDevices_Args { client }
    )
    .unwrap();
    unsafe { std::slice::from_raw_parts(a.addressable_devices, a.num_addressable_devices) }
}

pub fn compile_with(
    client: *mut PJRT_Client,
    code: &[u8],
    format: &str,
    options: &[u8],
) -> Answer<*mut PJRT_LoadedExecutable> {
    let mut program = PJRT_Program::new();
    program.code = code.as_ptr().cast_mut().cast();
    program.code_size = code.len();
    program.format = format.as_ptr().cast();
    program.format_size = format.len();
    call!(
        PJRT_Client_Compile,
        PJRT_Client_Compile_Args {
            client,
            program: &program,
            compile_options: options.as_ptr().cast(),
            compile_options_size: options.len(),
        }
    )
    .map(|a| a.executable)
}

pub fn compile(client: *mut PJRT_Client, code: &str) -> *mut PJRT_LoadedExecutable {
    compile_with(client, code.as_bytes(), "mlir", b"").unwrap()
}

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

/// What an execution may be told.
#[derive(Default)]
pub struct How<'a> {
    pub kept: &'a [i64],
    pub device: Option<*mut PJRT_Device>,
}

pub fn executable_of(program: *mut PJRT_LoadedExecutable) -> *mut PJRT_Executable {
    call!(
        PJRT_LoadedExecutable_GetExecutable,
        PJRT_LoadedExecutable_GetExecutable_Args {
            loaded_executable: program
        }
    )
    .unwrap()
    .executable
}

pub fn destroy_unloaded(executable: *mut PJRT_Executable) {
    call!(
        PJRT_Executable_Destroy,
        PJRT_Executable_Destroy_Args { executable }
    )
    .unwrap();
}

pub fn number_of_results(program: *mut PJRT_LoadedExecutable) -> usize {
    let executable = executable_of(program);
    let n = call!(
        PJRT_Executable_NumOutputs,
        PJRT_Executable_NumOutputs_Args { executable }
    )
    .unwrap()
    .num_outputs;
    destroy_unloaded(executable);
    n
}

/// Runs a program on one device: its results and its event.
pub fn execute_with(
    executable: *mut PJRT_LoadedExecutable,
    arguments: &[*mut PJRT_Buffer],
    how: How<'_>,
) -> Answer<(Vec<*mut PJRT_Buffer>, *mut PJRT_Event)> {
    let n = number_of_results(executable);
    let mut options = PJRT_ExecuteOptions::new();
    options.non_donatable_input_indices = how.kept.as_ptr();
    options.num_non_donatable_input_indices = how.kept.len();
    let mut outputs = vec![null_mut(); n];
    let lists = [arguments.as_ptr()];
    let places = [outputs.as_mut_ptr()];
    let mut event = [null_mut()];
    call!(
        PJRT_LoadedExecutable_Execute,
        PJRT_LoadedExecutable_Execute_Args {
            executable,
            options: &mut options,
            argument_lists: lists.as_ptr(),
            num_devices: 1,
            num_args: arguments.len(),
            output_lists: places.as_ptr(),
            device_complete_events: event.as_mut_ptr(),
            execute_device: how.device.unwrap_or(null_mut()),
        }
    )?;
    Ok((outputs, event[0]))
}

/// Runs a program and waits for it.
pub fn execute(
    executable: *mut PJRT_LoadedExecutable,
    arguments: &[*mut PJRT_Buffer],
) -> Answer<Vec<*mut PJRT_Buffer>> {
    let (outputs, event) = execute_with(executable, arguments, How::default())?;
    let outcome = wait(event);
    destroy_event(event);
    match outcome {
        Ok(()) => Ok(outputs),
        Err(failure) => {
            outputs.into_iter().for_each(destroy);
            Err(failure)
        }
    }
}

pub const ADD: &str =
    "func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %x, %y : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}";

/// The compiled program, which can be compiled as `hlo`.
pub fn optimized(program: *mut PJRT_LoadedExecutable) -> Vec<u8> {
    let executable = executable_of(program);
    let mut hlo = PJRT_Program::new();
    let mut code = Vec::<u8>::new();
    for _ in 0..2 {
        call!(
            PJRT_Executable_OptimizedProgram,
            PJRT_Executable_OptimizedProgram_Args {
                executable,
                program: &mut hlo
            }
        )
        .unwrap();
        code.resize(hlo.code_size, 0);
        hlo.code = code.as_mut_ptr().cast();
    }
    destroy_unloaded(executable);
    code
}

pub fn serialized(program: *mut PJRT_LoadedExecutable) -> Vec<u8> {
    let of = executable_of(program);
    let s = call!(
        PJRT_Executable_Serialize,
        PJRT_Executable_Serialize_Args { executable: of }
    )
    .unwrap();
    let bytes = unsafe {
        let bytes = s.serialized_bytes.cast::<u8>();
        std::slice::from_raw_parts(bytes, s.serialized_bytes_size).to_vec()
    };
    unsafe { s.serialized_executable_deleter.unwrap()(s.serialized_executable) };
    destroy_unloaded(of);
    bytes
}

pub fn deserialized(client: *mut PJRT_Client, bytes: &[u8]) -> *mut PJRT_LoadedExecutable {
    call!(
        PJRT_Executable_DeserializeAndLoad,
        PJRT_Executable_DeserializeAndLoad_Args {
            client,
            serialized_executable: bytes.as_ptr().cast(),
            serialized_executable_size: bytes.len(),
        }
    )
    .unwrap()
    .loaded_executable
}

/// The bytes with another word, which is as long, in place of one that they have.
pub fn replaced(bytes: &[u8], word: &[u8], by: &[u8]) -> Vec<u8> {
    assert_eq!(word.len(), by.len());
    let mut bytes = bytes.to_vec();
    let places: Vec<_> = (0..=bytes.len() - word.len())
        .filter(|&place| bytes[place..].starts_with(word))
        .collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place..place + by.len()].copy_from_slice(by);
    }
    bytes
}
