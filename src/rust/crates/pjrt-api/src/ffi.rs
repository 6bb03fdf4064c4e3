//! The FFI extension: registration of XLA FFI handlers with a plugin.

use crate::layout::c_structs;
use crate::types::*;
use std::ffi::{c_char, c_void};

c_structs! {
    plain PJRT_FFI_Type_Info {
        deleter: Option<unsafe extern "C" fn(object: *mut c_void)>,
        serialize: Option<unsafe extern "C" fn()>,
        deserialize: Option<unsafe extern "C" fn()>,
    }
    args PJRT_FFI_Type_Register_Args {
        type_name: *const c_char,
        type_name_size: usize,
        type_id: i64,
        type_info: *mut PJRT_FFI_Type_Info,
    }
    plain PJRT_FFI_UserData { type_id: i64, data: *mut c_void }
    args PJRT_FFI_UserData_Add_Args {
        context: *mut PJRT_ExecuteContext,
        user_data: PJRT_FFI_UserData,
    }
    plain PJRT_FFI_Register_Handler_Args {
        struct_size: usize,
        target_name: *const c_char,
        target_name_size: usize,
        handler: *mut c_void,
        platform_name: *const c_char,
        platform_name_size: usize,
        traits: PJRT_FFI_Handler_TraitsBits,
    }
    plain PJRT_FFI_Extension {
        base: PJRT_Extension_Base,
        type_register:
            Option<unsafe extern "C" fn(*mut PJRT_FFI_Type_Register_Args) -> *mut PJRT_Error>,
        user_data_add:
            Option<unsafe extern "C" fn(*mut PJRT_FFI_UserData_Add_Args) -> *mut PJRT_Error>,
        register_handler:
            Option<unsafe extern "C" fn(*mut PJRT_FFI_Register_Handler_Args) -> *mut PJRT_Error>,
    }
}

// The one argument struct without an extension pointer.
c_structs!(@sized PJRT_FFI_Register_Handler_Args);
