//! Events.

use crate::layout::c_structs;
use crate::types::*;
use std::ffi::{c_char, c_void};

/// Called once when an event is ready. Owns `error` (NULL where all went well).
pub type PJRT_Event_OnReadyCallback =
    Option<unsafe extern "C" fn(error: *mut PJRT_Error, user_arg: *mut c_void)>;

c_structs! {
    args PJRT_Event_Destroy_Args { event: *mut PJRT_Event }
    args PJRT_Event_IsReady_Args { event: *mut PJRT_Event, is_ready: bool }
    args PJRT_Event_Error_Args { event: *mut PJRT_Event }
    args PJRT_Event_Await_Args { event: *mut PJRT_Event }
    args PJRT_Event_OnReady_Args {
        event: *mut PJRT_Event,
        callback: PJRT_Event_OnReadyCallback,
        user_arg: *mut c_void,
    }
    args PJRT_Event_Create_Args { event: *mut PJRT_Event }
    args PJRT_Event_Set_Args {
        event: *mut PJRT_Event,
        error_code: PJRT_Error_Code,
        error_message: *const c_char,
        error_message_size: usize,
    }
}
