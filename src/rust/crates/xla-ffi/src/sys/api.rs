//! What a handler is called with (the call frame, its buffers, the metadata query), and the table of
//! functions that XLA hands to it, with the struct that each of them takes.

use super::*;

macro_rules! args {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $ty:ty),* $(,)? })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy)]
        pub struct $name {
            pub struct_size: usize,
            pub extension_start: *mut XLA_FFI_Extension_Base,
            $(pub $field: $ty,)*
        }
    )*};
}

args! {
    /// `message` ends in NUL and is copied.
    XLA_FFI_Error_Create_Args { message: *const c_char, errc: XLA_FFI_Error_Code }
    /// `message` (out) belongs to `error`.
    XLA_FFI_Error_GetMessage_Args { error: *mut XLA_FFI_Error, message: *const c_char }
    XLA_FFI_Error_Destroy_Args { error: *mut XLA_FFI_Error }
    /// `future` is an out argument.
    XLA_FFI_Future_Create_Args { future: *mut XLA_FFI_Future }
    XLA_FFI_Future_SetAvailable_Args { future: *mut XLA_FFI_Future }
    /// XLA takes ownership of `error`.
    XLA_FFI_Future_SetError_Args { future: *mut XLA_FFI_Future, error: *mut XLA_FFI_Error }
    XLA_FFI_Handler_Register_Args {
        name: XLA_FFI_ByteSpan,
        platform: XLA_FFI_ByteSpan,
        bundle: XLA_FFI_Handler_Bundle,
        traits: XLA_FFI_Handler_Traits,
    }
    /// `type_id` goes in and out: XLA assigns one if it is `XLA_FFI_UNKNOWN_TYPE_ID`.
    XLA_FFI_Type_Register_Args {
        name: XLA_FFI_ByteSpan,
        type_id: *mut XLA_FFI_TypeId,
        type_info: *const XLA_FFI_TypeInfo,
    }
    /// `data` is an out argument.
    XLA_FFI_ExecutionContext_Get_Args {
        ctx: *mut XLA_FFI_ExecutionContext,
        type_id: *mut XLA_FFI_TypeId,
        data: *mut c_void,
    }
    XLA_FFI_State_Set_Args {
        ctx: *mut XLA_FFI_ExecutionContext,
        stage: XLA_FFI_ExecutionStage,
        type_id: *mut XLA_FFI_TypeId,
        state: *mut c_void,
    }
    /// `state` is an out argument.
    XLA_FFI_State_Get_Args {
        ctx: *mut XLA_FFI_ExecutionContext,
        stage: XLA_FFI_ExecutionStage,
        type_id: *mut XLA_FFI_TypeId,
        state: *mut c_void,
    }
    /// `stream` is an out argument: a `CUstream` on CUDA.
    XLA_FFI_Stream_Get_Args { ctx: *mut XLA_FFI_ExecutionContext, stream: *mut c_void }
    /// `data` is an out argument.
    XLA_FFI_DeviceMemory_Allocate_Args {
        ctx: *mut XLA_FFI_ExecutionContext,
        size: usize,
        alignment: usize,
        data: *mut c_void,
    }
    XLA_FFI_DeviceMemory_Free_Args {
        ctx: *mut XLA_FFI_ExecutionContext,
        size: usize,
        data: *mut c_void,
    }
    XLA_FFI_ThreadPool_Schedule_Args {
        ctx: *mut XLA_FFI_ExecutionContext,
        task: Option<XLA_FFI_Task>,
        data: *mut c_void,
    }
    /// XLA writes through `num_threads`.
    XLA_FFI_ThreadPool_NumThreads_Args {
        ctx: *mut XLA_FFI_ExecutionContext,
        num_threads: *mut i64,
    }
    /// `run_id` is an out argument.
    XLA_FFI_RunId_Get_Args { ctx: *mut XLA_FFI_ExecutionContext, run_id: i64 }
    /// `device_ordinal` is an out argument.
    XLA_FFI_DeviceOrdinal_Get_Args { ctx: *mut XLA_FFI_ExecutionContext, device_ordinal: i32 }
}

/// A task for XLA's thread pool.
pub type XLA_FFI_Task = unsafe extern "C" fn(data: *mut c_void);

macro_rules! functions {
    ($($name:ident($args:ty) $(-> $out:ty)?;)*) => {
        $(pub type $name = unsafe extern "C" fn(args: *mut $args) $(-> $out)?;)*

        /// The functions that XLA offers to handlers. An older XLA's table ends earlier: see
        /// `struct_size`.
        #[repr(C)]
        #[derive(Debug, Clone, Copy)]
        pub struct XLA_FFI_Api {
            pub struct_size: usize,
            pub extension_start: *mut XLA_FFI_Extension_Base,
            pub api_version: XLA_FFI_Api_Version,
            pub internal_api: *const XLA_FFI_InternalApi,
            $(pub $name: Option<$name>,)*
        }

        impl XLA_FFI_Api {
            /// A table of this version without functions.
            pub const EMPTY: Self = XLA_FFI_Api {
                struct_size: core::mem::size_of::<Self>(),
                extension_start: core::ptr::null_mut(),
                api_version: XLA_FFI_Api_Version {
                    struct_size: core::mem::size_of::<XLA_FFI_Api_Version>(),
                    extension_start: core::ptr::null_mut(),
                    major_version: XLA_FFI_API_MAJOR,
                    minor_version: XLA_FFI_API_MINOR,
                },
                internal_api: core::ptr::null(),
                $($name: None,)*
            };
        }

        // SAFETY: a table is constant; its functions may be called from any thread.
        unsafe impl Sync for XLA_FFI_Api {}
    };
}

functions! {
    XLA_FFI_Error_Create(XLA_FFI_Error_Create_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_Error_GetMessage(XLA_FFI_Error_GetMessage_Args);
    XLA_FFI_Error_Destroy(XLA_FFI_Error_Destroy_Args);
    XLA_FFI_Handler_Register(XLA_FFI_Handler_Register_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_Stream_Get(XLA_FFI_Stream_Get_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_Type_Register(XLA_FFI_Type_Register_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_ExecutionContext_Get(XLA_FFI_ExecutionContext_Get_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_State_Set(XLA_FFI_State_Set_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_State_Get(XLA_FFI_State_Get_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_DeviceMemory_Allocate(XLA_FFI_DeviceMemory_Allocate_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_DeviceMemory_Free(XLA_FFI_DeviceMemory_Free_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_ThreadPool_Schedule(XLA_FFI_ThreadPool_Schedule_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_ThreadPool_NumThreads(XLA_FFI_ThreadPool_NumThreads_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_Future_Create(XLA_FFI_Future_Create_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_Future_SetAvailable(XLA_FFI_Future_SetAvailable_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_Future_SetError(XLA_FFI_Future_SetError_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_RunId_Get(XLA_FFI_RunId_Get_Args) -> *mut XLA_FFI_Error;
    XLA_FFI_DeviceOrdinal_Get(XLA_FFI_DeviceOrdinal_Get_Args) -> *mut XLA_FFI_Error;
}

pub type XLA_FFI_ArgType = XLA_FFI_Enum;
pub const XLA_FFI_ArgType_BUFFER: XLA_FFI_ArgType = 1;

pub type XLA_FFI_RetType = XLA_FFI_Enum;
pub const XLA_FFI_RetType_BUFFER: XLA_FFI_RetType = 1;

pub type XLA_FFI_AttrType = XLA_FFI_Enum;
pub const XLA_FFI_AttrType_ARRAY: XLA_FFI_AttrType = 1;
pub const XLA_FFI_AttrType_DICTIONARY: XLA_FFI_AttrType = 2;
pub const XLA_FFI_AttrType_SCALAR: XLA_FFI_AttrType = 3;
pub const XLA_FFI_AttrType_STRING: XLA_FFI_AttrType = 4;

pub type XLA_FFI_ExecutionStage = XLA_FFI_Enum;
pub const XLA_FFI_ExecutionStage_INSTANTIATE: XLA_FFI_ExecutionStage = 0;
pub const XLA_FFI_ExecutionStage_PREPARE: XLA_FFI_ExecutionStage = 1;
pub const XLA_FFI_ExecutionStage_INITIALIZE: XLA_FFI_ExecutionStage = 2;
pub const XLA_FFI_ExecutionStage_EXECUTE: XLA_FFI_ExecutionStage = 3;

/// A dense array in memory of the device; `dims` has `rank` entries. It says nothing of layout.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_Buffer {
    pub struct_size: usize,
    pub extension_start: *mut XLA_FFI_Extension_Base,
    pub dtype: XLA_FFI_DataType,
    pub data: *mut c_void,
    pub rank: i64,
    pub dims: *mut i64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_Args {
    pub struct_size: usize,
    pub extension_start: *mut XLA_FFI_Extension_Base,
    pub size: i64,
    pub types: *mut XLA_FFI_ArgType,
    pub args: *mut *mut c_void,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_Rets {
    pub struct_size: usize,
    pub extension_start: *mut XLA_FFI_Extension_Base,
    pub size: i64,
    pub types: *mut XLA_FFI_RetType,
    pub rets: *mut *mut c_void,
}

/// Attributes sorted by name; `attrs[i]` points to a scalar, array, byte span or another
/// `XLA_FFI_Attrs`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_Attrs {
    pub struct_size: usize,
    pub extension_start: *mut XLA_FFI_Extension_Base,
    pub size: i64,
    pub types: *mut XLA_FFI_AttrType,
    pub names: *mut *mut XLA_FFI_ByteSpan,
    pub attrs: *mut *mut c_void,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_CallFrame {
    pub struct_size: usize,
    pub extension_start: *mut XLA_FFI_Extension_Base,
    pub api: *const XLA_FFI_Api,
    pub ctx: *mut XLA_FFI_ExecutionContext,
    pub stage: XLA_FFI_ExecutionStage,
    pub args: XLA_FFI_Args,
    pub rets: XLA_FFI_Rets,
    pub attrs: XLA_FFI_Attrs,
    pub future: *mut XLA_FFI_Future,
}

/// What is registered with XLA: one function of this type per stage.
pub type XLA_FFI_Handler = unsafe extern "C" fn(*mut XLA_FFI_CallFrame) -> *mut XLA_FFI_Error;

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_Handler_Bundle {
    pub instantiate: Option<XLA_FFI_Handler>,
    pub prepare: Option<XLA_FFI_Handler>,
    pub initialize: Option<XLA_FFI_Handler>,
    pub execute: Option<XLA_FFI_Handler>,
}

pub type XLA_FFI_Handler_Traits = u32;
/// The handler always launches the same device work, so that XLA may record it in a command buffer.
pub const XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE: XLA_FFI_Handler_Traits = 1;

/// XLA's question "which version, which traits?"; the handler fills it in.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_Metadata {
    pub struct_size: usize,
    pub api_version: XLA_FFI_Api_Version,
    pub traits: XLA_FFI_Handler_Traits,
    pub state_type_id: XLA_FFI_TypeId,
}

/// Hangs off a call frame that asks for metadata instead of a run.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XLA_FFI_Metadata_Extension {
    pub extension_base: XLA_FFI_Extension_Base,
    pub metadata: *mut XLA_FFI_Metadata,
}
