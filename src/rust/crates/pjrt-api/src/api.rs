//! The function table.

use crate::buffer::*;
use crate::client::*;
use crate::device::*;
use crate::event::*;
use crate::executable::*;
use crate::layout::{c_structs, CStruct};
use crate::transfer::*;
use crate::types::*;

/// Declares the table from the functions in order: `f` takes `f_Args` and answers an error or
/// NULL, `void` answers nothing, `generic` is not declared in detail.
macro_rules! api_table {
    (@type fn $args:ident) => { Option<unsafe extern "C" fn(args: *mut $args) -> *mut PJRT_Error> };
    (@type void $args:ident) => { Option<unsafe extern "C" fn(args: *mut $args)> };
    (@type generic) => { GenericFn };
    ($($name:ident: $kind:ident $(($args:ident))?;)*) => {
        c_structs! {
            args PJRT_Api {
                pjrt_api_version: PJRT_Api_Version,
                $($name: api_table!(@type $kind $($args)?)),*
            }
        }
        impl PJRT_Api {
            /// The functions' names in table order.
            pub const FUNCTIONS: &'static [&'static str] = &[$(stringify!($name)),*];
        }
    };
}

api_table! {
    PJRT_Error_Destroy: void(PJRT_Error_Destroy_Args);
    PJRT_Error_Message: void(PJRT_Error_Message_Args);
    PJRT_Error_GetCode: fn(PJRT_Error_GetCode_Args);
    PJRT_Plugin_Initialize: fn(PJRT_Plugin_Initialize_Args);
    PJRT_Plugin_Attributes: fn(PJRT_Plugin_Attributes_Args);
    PJRT_Event_Destroy: fn(PJRT_Event_Destroy_Args);
    PJRT_Event_IsReady: fn(PJRT_Event_IsReady_Args);
    PJRT_Event_Error: fn(PJRT_Event_Error_Args);
    PJRT_Event_Await: fn(PJRT_Event_Await_Args);
    PJRT_Event_OnReady: fn(PJRT_Event_OnReady_Args);
    PJRT_Client_Create: fn(PJRT_Client_Create_Args);
    PJRT_Client_Destroy: fn(PJRT_Client_Destroy_Args);
    PJRT_Client_PlatformName: fn(PJRT_Client_PlatformName_Args);
    PJRT_Client_ProcessIndex: fn(PJRT_Client_ProcessIndex_Args);
    PJRT_Client_PlatformVersion: fn(PJRT_Client_PlatformVersion_Args);
    PJRT_Client_Devices: fn(PJRT_Client_Devices_Args);
    PJRT_Client_AddressableDevices: fn(PJRT_Client_AddressableDevices_Args);
    PJRT_Client_LookupDevice: fn(PJRT_Client_LookupDevice_Args);
    PJRT_Client_LookupAddressableDevice: fn(PJRT_Client_LookupAddressableDevice_Args);
    PJRT_Client_AddressableMemories: fn(PJRT_Client_AddressableMemories_Args);
    PJRT_Client_Compile: fn(PJRT_Client_Compile_Args);
    PJRT_Client_DefaultDeviceAssignment: fn(PJRT_Client_DefaultDeviceAssignment_Args);
    PJRT_Client_BufferFromHostBuffer: fn(PJRT_Client_BufferFromHostBuffer_Args);
    PJRT_DeviceDescription_Id: fn(PJRT_DeviceDescription_Id_Args);
    PJRT_DeviceDescription_ProcessIndex: fn(PJRT_DeviceDescription_ProcessIndex_Args);
    PJRT_DeviceDescription_Attributes: fn(PJRT_DeviceDescription_Attributes_Args);
    PJRT_DeviceDescription_Kind: fn(PJRT_DeviceDescription_Kind_Args);
    PJRT_DeviceDescription_DebugString: fn(PJRT_DeviceDescription_DebugString_Args);
    PJRT_DeviceDescription_ToString: fn(PJRT_DeviceDescription_ToString_Args);
    PJRT_Device_GetDescription: fn(PJRT_Device_GetDescription_Args);
    PJRT_Device_IsAddressable: fn(PJRT_Device_IsAddressable_Args);
    PJRT_Device_LocalHardwareId: fn(PJRT_Device_LocalHardwareId_Args);
    PJRT_Device_AddressableMemories: fn(PJRT_Device_AddressableMemories_Args);
    PJRT_Device_DefaultMemory: fn(PJRT_Device_DefaultMemory_Args);
    PJRT_Device_MemoryStats: fn(PJRT_Device_MemoryStats_Args);
    PJRT_Memory_Id: fn(PJRT_Memory_Id_Args);
    PJRT_Memory_Kind: fn(PJRT_Memory_Kind_Args);
    PJRT_Memory_DebugString: fn(PJRT_Memory_DebugString_Args);
    PJRT_Memory_ToString: fn(PJRT_Memory_ToString_Args);
    PJRT_Memory_AddressableByDevices: fn(PJRT_Memory_AddressableByDevices_Args);
    PJRT_Executable_Destroy: fn(PJRT_Executable_Destroy_Args);
    PJRT_Executable_Name: fn(PJRT_Executable_Name_Args);
    PJRT_Executable_NumReplicas: fn(PJRT_Executable_NumReplicas_Args);
    PJRT_Executable_NumPartitions: fn(PJRT_Executable_NumPartitions_Args);
    PJRT_Executable_NumOutputs: fn(PJRT_Executable_NumOutputs_Args);
    PJRT_Executable_SizeOfGeneratedCodeInBytes: fn(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args);
    PJRT_Executable_GetCostAnalysis: fn(PJRT_Executable_GetCostAnalysis_Args);
    PJRT_Executable_OutputMemoryKinds: fn(PJRT_Executable_OutputMemoryKinds_Args);
    PJRT_Executable_OptimizedProgram: fn(PJRT_Executable_OptimizedProgram_Args);
    PJRT_Executable_Serialize: fn(PJRT_Executable_Serialize_Args);
    PJRT_LoadedExecutable_Destroy: fn(PJRT_LoadedExecutable_Destroy_Args);
    PJRT_LoadedExecutable_GetExecutable: fn(PJRT_LoadedExecutable_GetExecutable_Args);
    PJRT_LoadedExecutable_AddressableDevices: fn(PJRT_LoadedExecutable_AddressableDevices_Args);
    PJRT_LoadedExecutable_Delete: fn(PJRT_LoadedExecutable_Delete_Args);
    PJRT_LoadedExecutable_IsDeleted: fn(PJRT_LoadedExecutable_IsDeleted_Args);
    PJRT_LoadedExecutable_Execute: fn(PJRT_LoadedExecutable_Execute_Args);
    PJRT_Executable_DeserializeAndLoad: fn(PJRT_Executable_DeserializeAndLoad_Args);
    PJRT_LoadedExecutable_Fingerprint: fn(PJRT_LoadedExecutable_Fingerprint_Args);
    PJRT_Buffer_Destroy: fn(PJRT_Buffer_Destroy_Args);
    PJRT_Buffer_ElementType: fn(PJRT_Buffer_ElementType_Args);
    PJRT_Buffer_Dimensions: fn(PJRT_Buffer_Dimensions_Args);
    PJRT_Buffer_UnpaddedDimensions: fn(PJRT_Buffer_UnpaddedDimensions_Args);
    PJRT_Buffer_DynamicDimensionIndices: fn(PJRT_Buffer_DynamicDimensionIndices_Args);
    PJRT_Buffer_GetMemoryLayout: fn(PJRT_Buffer_GetMemoryLayout_Args);
    PJRT_Buffer_OnDeviceSizeInBytes: fn(PJRT_Buffer_OnDeviceSizeInBytes_Args);
    PJRT_Buffer_Device: fn(PJRT_Buffer_Device_Args);
    PJRT_Buffer_Memory: fn(PJRT_Buffer_Memory_Args);
    PJRT_Buffer_Delete: fn(PJRT_Buffer_Delete_Args);
    PJRT_Buffer_IsDeleted: fn(PJRT_Buffer_IsDeleted_Args);
    PJRT_Buffer_CopyToDevice: fn(PJRT_Buffer_CopyToDevice_Args);
    PJRT_Buffer_ToHostBuffer: fn(PJRT_Buffer_ToHostBuffer_Args);
    PJRT_Buffer_IsOnCpu: fn(PJRT_Buffer_IsOnCpu_Args);
    PJRT_Buffer_ReadyEvent: fn(PJRT_Buffer_ReadyEvent_Args);
    PJRT_Buffer_UnsafePointer: fn(PJRT_Buffer_UnsafePointer_Args);
    PJRT_Buffer_IncreaseExternalReferenceCount: fn(PJRT_Buffer_IncreaseExternalReferenceCount_Args);
    PJRT_Buffer_DecreaseExternalReferenceCount: fn(PJRT_Buffer_DecreaseExternalReferenceCount_Args);
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer: fn(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args);
    PJRT_CopyToDeviceStream_Destroy: generic;
    PJRT_CopyToDeviceStream_AddChunk: generic;
    PJRT_CopyToDeviceStream_TotalBytes: generic;
    PJRT_CopyToDeviceStream_GranuleSize: generic;
    PJRT_CopyToDeviceStream_CurrentBytes: generic;
    PJRT_TopologyDescription_Create: generic;
    PJRT_TopologyDescription_Destroy: generic;
    PJRT_TopologyDescription_PlatformName: generic;
    PJRT_TopologyDescription_PlatformVersion: generic;
    PJRT_TopologyDescription_GetDeviceDescriptions: generic;
    PJRT_TopologyDescription_Serialize: generic;
    PJRT_TopologyDescription_Attributes: generic;
    PJRT_Compile: generic;
    PJRT_Executable_OutputElementTypes: fn(PJRT_Executable_OutputElementTypes_Args);
    PJRT_Executable_OutputDimensions: fn(PJRT_Executable_OutputDimensions_Args);
    PJRT_Buffer_CopyToMemory: fn(PJRT_Buffer_CopyToMemory_Args);
    PJRT_Client_CreateViewOfDeviceBuffer: fn(PJRT_Client_CreateViewOfDeviceBuffer_Args);
    PJRT_Executable_Fingerprint: fn(PJRT_Executable_Fingerprint_Args);
    PJRT_Client_TopologyDescription: fn(PJRT_Client_TopologyDescription_Args);
    PJRT_Executable_GetCompiledMemoryStats: generic;
    PJRT_Memory_Kind_Id: fn(PJRT_Memory_Kind_Id_Args);
    PJRT_ExecuteContext_Create: fn(PJRT_ExecuteContext_Create_Args);
    PJRT_ExecuteContext_Destroy: fn(PJRT_ExecuteContext_Destroy_Args);
    PJRT_Buffer_CopyRawToHost: fn(PJRT_Buffer_CopyRawToHost_Args);
    PJRT_AsyncHostToDeviceTransferManager_Destroy: fn(PJRT_AsyncHostToDeviceTransferManager_Destroy_Args);
    PJRT_AsyncHostToDeviceTransferManager_TransferData: fn(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args);
    PJRT_Client_CreateBuffersForAsyncHostToDevice: fn(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args);
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer: fn(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args);
    PJRT_AsyncHostToDeviceTransferManager_Device: generic;
    PJRT_AsyncHostToDeviceTransferManager_BufferCount: generic;
    PJRT_AsyncHostToDeviceTransferManager_BufferSize: generic;
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError: generic;
    PJRT_AsyncHostToDeviceTransferManager_AddMetadata: generic;
    PJRT_Client_DmaMap: generic;
    PJRT_Client_DmaUnmap: generic;
    PJRT_Client_CreateUninitializedBuffer: fn(PJRT_Client_CreateUninitializedBuffer_Args);
    PJRT_Client_UpdateGlobalProcessInfo: generic;
    PJRT_TopologyDescription_Deserialize: generic;
    PJRT_Client_CreateAliasBuffer: generic;
    PJRT_Client_FulfillAliasBuffer: generic;
    PJRT_LoadedExecutable_GetDeviceAssignment: generic;
    PJRT_Client_CreateErrorBuffer: generic;
    PJRT_AsyncHostToDeviceTransferManager_TransferLiteral: generic;
    PJRT_Buffer_CopyRawToHostFuture: generic;
    PJRT_Device_PoisonExecution: generic;
    PJRT_Device_CreateAsyncTrackingEvent: generic;
    PJRT_AsyncTrackingEvent_Destroy: generic;
    PJRT_Executable_GetCompileOptions: generic;
    PJRT_Buffer_DonateWithControlDependency: generic;
    PJRT_Event_Create: fn(PJRT_Event_Create_Args);
    PJRT_Event_Set: fn(PJRT_Event_Set_Args);
}

impl PJRT_Api {
    /// Whether a table that says it is `struct_size` bytes long holds the field at `offset`
    /// (a function pointer), that is, whether it may be read at all.
    pub const fn holds(struct_size: usize, offset: usize) -> bool {
        struct_size >= offset + std::mem::size_of::<GenericFn>()
    }
}

/// Bytes every table has had: sizes, version and nothing else.
pub const API_HEADER_SIZE: usize =
    std::mem::offset_of!(PJRT_Api, pjrt_api_version) + PJRT_Api_Version::STRUCT_SIZE;

// SAFETY: a table is constant data: function pointers and integers that nobody writes after the
// plugin made it; `extension_start` leads to data of the same kind.
unsafe impl Sync for PJRT_Api {}
// SAFETY: as above.
unsafe impl Send for PJRT_Api {}

/// Name of the function that a plugin exports.
pub const ENTRY_POINT: &str = "GetPjrtApi";
/// Type of the function that a plugin exports: its table, valid for as long as it is loaded.
pub type GetPjrtApi = unsafe extern "C" fn() -> *const PJRT_Api;
