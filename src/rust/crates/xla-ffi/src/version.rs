//! What XLA asks of a handler: version and traits.

use core::ffi::c_int;
use core::mem::{offset_of, size_of};
use core::ptr;

use crate::sys;

/// What is registered with XLA.
pub type HandlerFn = sys::XLA_FFI_Handler;

/// The FFI version that handlers report: the oldest whose frames and services they need. XLA
/// refuses handlers newer than itself, and each service is checked for when it is asked for.
pub const REPORTED_VERSION: (c_int, c_int) = (sys::XLA_FFI_API_MAJOR, 1);

/// Frames are complete up to `attrs` in every version.
pub(crate) const FRAME_SIZE: usize = offset_of!(sys::XLA_FFI_CallFrame, future);

/// Answers XLA's question for version and traits, if the frame asks it.
///
/// # Safety
/// `frame` is XLA's.
pub unsafe fn answer_metadata(
    frame: *mut sys::XLA_FFI_CallFrame,
    traits: sys::XLA_FFI_Handler_Traits,
) -> bool {
    // SAFETY: by contract.
    unsafe {
        match asked_metadata(frame) {
            Some(metadata) => {
                fill_metadata(metadata, traits);
                true
            }
            None => false,
        }
    }
}

/// The struct to fill where the frame asks for version and traits.
///
/// # Safety
/// `frame` is XLA's.
#[inline]
pub(crate) unsafe fn asked_metadata(
    frame: *const sys::XLA_FFI_CallFrame,
) -> Option<*mut sys::XLA_FFI_Metadata> {
    // SAFETY: the head of every frame and extension is complete; XLA's list ends in null.
    unsafe {
        let mut extension = (*frame).extension_start;
        while !extension.is_null() {
            if (*extension).type_ == sys::XLA_FFI_Extension_Metadata
                && (*extension).struct_size >= size_of::<sys::XLA_FFI_Metadata_Extension>()
            {
                return Some((*extension.cast::<sys::XLA_FFI_Metadata_Extension>()).metadata);
            }
            extension = (*extension).next;
        }
    }
    None
}

/// # Safety
/// `metadata` is null or XLA's struct to fill, complete up to what its `struct_size` says.
unsafe fn fill_metadata(metadata: *mut sys::XLA_FFI_Metadata, traits: sys::XLA_FFI_Handler_Traits) {
    const UP_TO_TRAITS: usize =
        offset_of!(sys::XLA_FFI_Metadata, traits) + size_of::<sys::XLA_FFI_Handler_Traits>();
    // SAFETY: by contract. `state_type_id` keeps XLA's "none".
    unsafe {
        if metadata.is_null() || (*metadata).struct_size < UP_TO_TRAITS {
            return;
        }
        (*metadata).api_version = sys::XLA_FFI_Api_Version {
            struct_size: size_of::<sys::XLA_FFI_Api_Version>(),
            extension_start: ptr::null_mut(),
            major_version: REPORTED_VERSION.0,
            minor_version: REPORTED_VERSION.1,
        };
        (*metadata).traits = traits;
    }
}
