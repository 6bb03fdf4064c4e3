//! The function table.

use crate::api::plugin;
use crate::array::buffer;
use crate::array::download;
use crate::array::event;
use crate::array::upload;
use crate::base::error;
use crate::client::device;
use crate::client::entries as client;
use crate::handlers::ffi;
use crate::program::compile;
use crate::program::executable;
use crate::program::execute;
use pjrt_api::{CStruct, PJRT_Api, PJRT_Error, PJRT_FFI_Extension, API_MAJOR, API_MINOR};
use std::ffi::c_void;
use std::mem::{offset_of, size_of};
use std::sync::OnceLock;

/// Answers that a function is not there. `N` is its place among the table's functions.
unsafe extern "C" fn missing<const N: usize>(_args: *mut c_void) -> *mut PJRT_Error {
    unimplemented(N)
}

#[cold]
#[inline(never)] // once, not in each `missing`
fn unimplemented(at: usize) -> *mut PJRT_Error {
    let functions = PJRT_Api::FUNCTIONS;
    let name = functions.get(at).copied().unwrap_or("a PJRT function");
    error::Error {
        own: false,
        ..error::Error::unimplemented(format!(
            "{name} is not implemented by the CPU plugin on jaxlib"
        ))
    }
    .into_raw()
}

type Missing = unsafe extern "C" fn(*mut c_void) -> *mut PJRT_Error;

macro_rules! missing_functions {
    ($($tens:literal)*) => {
        [$(
            missing::<{ 10 * $tens }>, missing::<{ 10 * $tens + 1 }>, missing::<{ 10 * $tens + 2 }>,
            missing::<{ 10 * $tens + 3 }>, missing::<{ 10 * $tens + 4 }>,
            missing::<{ 10 * $tens + 5 }>, missing::<{ 10 * $tens + 6 }>,
            missing::<{ 10 * $tens + 7 }>, missing::<{ 10 * $tens + 8 }>,
            missing::<{ 10 * $tens + 9 }>,
        )*]
    };
}

const MISSING: [Missing; 140] = missing_functions!(0 1 2 3 4 5 6 7 8 9 10 11 12 13);
/// Where the functions begin in the table.
const FIRST: usize = offset_of!(PJRT_Api, PJRT_Error_Destroy);
const _: () = {
    assert!(PJRT_Api::FUNCTIONS.len() <= MISSING.len());
    assert!(FIRST + PJRT_Api::FUNCTIONS.len() * size_of::<Missing>() == size_of::<PJRT_Api>());
};

struct Table {
    api: PJRT_Api,
    ffi: PJRT_FFI_Extension,
}
// SAFETY: constant data.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

static TABLE: OnceLock<Box<Table>> = OnceLock::new();

/// The table, made on the first call; valid for as long as the process.
pub(crate) fn table() -> *const PJRT_Api {
    let table = TABLE.get_or_init(|| {
        let mut table = Box::new(Table {
            api: api(),
            ffi: ffi::EXTENSION,
        });
        table.api.extension_start = std::ptr::addr_of_mut!(table.ffi).cast();
        table
    });
    std::ptr::addr_of!(table.api)
}

/// Sets functions of a table.
macro_rules! set {
    ($api:ident; $($name:ident = $function:path;)*) => { $($api.$name = Some($function);)* };
}

fn api() -> PJRT_Api {
    let mut api = PJRT_Api::new();
    api.struct_size = PJRT_Api::STRUCT_SIZE;
    api.pjrt_api_version.major_version = API_MAJOR;
    api.pjrt_api_version.minor_version = API_MINOR;
    // SAFETY: from `FIRST` on the table holds only function pointers, as many as there are names
    // (asserted above). Whatever its argument's type, a function gets one pointer, which `missing`
    // does not look at; the one function that returns nothing and is not set below ignores it.
    unsafe {
        let functions = std::ptr::addr_of_mut!(api)
            .cast::<u8>()
            .add(FIRST)
            .cast::<Option<Missing>>();
        for (i, function) in MISSING[..PJRT_Api::FUNCTIONS.len()].iter().enumerate() {
            functions.add(i).write(Some(*function));
        }
    }
    set_programs(&mut api);
    set_buffers(&mut api);
    api
}

fn set_programs(api: &mut PJRT_Api) {
    set! {
        api;
        PJRT_Error_Destroy = error::destroy;
        PJRT_Error_Message = error::message;
        PJRT_Error_GetCode = error::get_code;
        PJRT_Plugin_Initialize = plugin::initialize;
        PJRT_Plugin_Attributes = plugin::attributes;
        PJRT_Event_Destroy = event::destroy;
        PJRT_Event_IsReady = event::is_ready;
        PJRT_Event_Error = event::error;
        PJRT_Event_Await = event::wait;
        PJRT_Event_OnReady = event::on_ready;
        PJRT_Event_Create = event::create;
        PJRT_Event_Set = event::set;
        PJRT_Client_Create = client::create;
        PJRT_Client_Destroy = client::destroy;
        PJRT_Client_PlatformName = client::platform_name;
        PJRT_Client_PlatformVersion = client::platform_version;
        PJRT_Client_ProcessIndex = client::process_index;
        PJRT_Client_Devices = client::devices;
        PJRT_Client_AddressableDevices = client::addressable_devices;
        PJRT_Client_AddressableMemories = client::addressable_memories;
        PJRT_Client_LookupDevice = client::lookup_device;
        PJRT_Client_LookupAddressableDevice = client::lookup_addressable_device;
        PJRT_Client_DefaultDeviceAssignment = client::default_device_assignment;
        PJRT_Client_Compile = compile::compile;
        PJRT_Client_BufferFromHostBuffer = upload::from_host_buffer;
        PJRT_DeviceDescription_Id = device::description_id;
        PJRT_DeviceDescription_ProcessIndex = device::description_process_index;
        PJRT_DeviceDescription_Attributes = device::description_attributes;
        PJRT_DeviceDescription_Kind = device::description_kind;
        PJRT_DeviceDescription_DebugString = device::description_debug;
        PJRT_DeviceDescription_ToString = device::description_string;
        PJRT_Device_GetDescription = device::get_description;
        PJRT_Device_IsAddressable = device::is_addressable;
        PJRT_Device_LocalHardwareId = device::local_hardware_id;
        PJRT_Device_AddressableMemories = device::addressable_memories;
        PJRT_Device_DefaultMemory = device::default_memory;
        PJRT_Device_MemoryStats = device::memory_stats;
        PJRT_Memory_Id = device::memory_id;
        PJRT_Memory_Kind = device::memory_kind;
        PJRT_Memory_Kind_Id = device::memory_kind_id;
        PJRT_Memory_DebugString = device::memory_debug;
        PJRT_Memory_ToString = device::memory_string;
        PJRT_Memory_AddressableByDevices = device::memory_devices;
        PJRT_Executable_Destroy = executable::destroy;
        PJRT_Executable_Name = executable::name;
        PJRT_Executable_Fingerprint = executable::fingerprint;
        PJRT_Executable_NumReplicas = executable::num_replicas;
        PJRT_Executable_NumPartitions = executable::num_partitions;
        PJRT_Executable_NumOutputs = executable::num_outputs;
        PJRT_Executable_SizeOfGeneratedCodeInBytes = executable::code_size;
        PJRT_Executable_OutputElementTypes = executable::output_types;
        PJRT_Executable_OutputDimensions = executable::output_dims;
        PJRT_Executable_OutputMemoryKinds = executable::output_memories;
        PJRT_Executable_OptimizedProgram = compile::optimized_program;
        PJRT_Executable_Serialize = compile::serialize;
        PJRT_Executable_DeserializeAndLoad = compile::deserialize;
        PJRT_LoadedExecutable_Destroy = executable::loaded_destroy;
        PJRT_LoadedExecutable_Delete = executable::loaded_delete;
        PJRT_LoadedExecutable_IsDeleted = executable::loaded_is_deleted;
        PJRT_LoadedExecutable_GetExecutable = executable::get_executable;
        PJRT_LoadedExecutable_AddressableDevices = executable::loaded_devices;
        PJRT_LoadedExecutable_Fingerprint = executable::loaded_fingerprint;
        PJRT_LoadedExecutable_Execute = execute::loaded_execute;
    }
}

fn set_buffers(api: &mut PJRT_Api) {
    set! {
        api;
        PJRT_Buffer_Destroy = buffer::destroy;
        PJRT_Buffer_Delete = buffer::delete;
        PJRT_Buffer_IsDeleted = buffer::is_deleted;
        PJRT_Buffer_ElementType = buffer::element_type;
        PJRT_Buffer_Dimensions = buffer::dimensions;
        PJRT_Buffer_UnpaddedDimensions = buffer::unpadded_dimensions;
        PJRT_Buffer_DynamicDimensionIndices = buffer::dynamic_dimension_indices;
        PJRT_Buffer_GetMemoryLayout = buffer::memory_layout;
        PJRT_Buffer_OnDeviceSizeInBytes = buffer::on_device_size;
        PJRT_Buffer_Device = buffer::device;
        PJRT_Buffer_Memory = buffer::memory;
        PJRT_Buffer_IsOnCpu = buffer::is_on_cpu;
        PJRT_Buffer_ReadyEvent = buffer::ready_event;
        PJRT_Buffer_UnsafePointer = buffer::unsafe_pointer;
        PJRT_Buffer_OpaqueDeviceMemoryDataPointer = buffer::opaque_pointer;
        PJRT_Buffer_IncreaseExternalReferenceCount = buffer::increase_references;
        PJRT_Buffer_DecreaseExternalReferenceCount = buffer::decrease_references;
        PJRT_Buffer_CopyToDevice = buffer::copy_to_device;
        PJRT_Buffer_CopyToMemory = buffer::copy_to_memory;
        PJRT_Buffer_ToHostBuffer = download::to_host_buffer;
        PJRT_Buffer_CopyRawToHost = download::copy_raw_to_host;
    }
}
