//! The ops as a shared library for hosts other than R (JAX in Python, a GPU machine without R).

use std::ffi::{c_char, c_void, CStr};
use std::panic::catch_unwind;
use std::ptr;

/// The XLA FFI handler of `target` on `platform` (both NUL-terminated), to be registered with any
/// XLA; NULL where there is none, or where a name is NULL.
///
/// # Safety
/// Each name is NULL or points to a NUL-terminated string that stays unchanged during the call.
#[no_mangle]
pub unsafe extern "C" fn xlaffi_handler(
    target: *const c_char,
    platform: *const c_char,
) -> *const c_void {
    catch_unwind(|| {
        // SAFETY: by contract.
        let names = unsafe { (text(target), text(platform)) };
        match names {
            (Some(target), Some(platform)) => ops::find(target, platform),
            _ => None,
        }
    })
    .ok()
    .flatten()
    .map_or(ptr::null(), |handler| handler as *const c_void)
}

/// # Safety
/// As [`xlaffi_handler`]'s names.
unsafe fn text<'a>(name: *const c_char) -> Option<&'a str> {
    if name.is_null() {
        return None;
    }
    // SAFETY: by contract.
    unsafe { CStr::from_ptr(name) }.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handler(target: &CStr, platform: &CStr) -> *const c_void {
        // SAFETY: NUL-terminated.
        unsafe { xlaffi_handler(target.as_ptr(), platform.as_ptr()) }
    }

    #[test]
    fn every_op_is_found_under_every_name_of_its_platform() {
        for platform in [c"host", c"Host", c"cpu"] {
            assert!(!handler(c"lu", platform).is_null());
            assert_eq!(
                handler(c"print_tensor", platform),
                handler(c"print_tensor", c"host")
            );
        }
    }

    #[test]
    fn what_does_not_exist_is_null() {
        assert!(handler(c"lu", c"moon").is_null());
        assert!(handler(c"nothing", c"host").is_null());
        assert!(handler(c"\xff", c"host").is_null());
        // SAFETY: NULL is allowed.
        assert!(unsafe { xlaffi_handler(ptr::null(), c"host".as_ptr()) }.is_null());
        // SAFETY: NULL is allowed.
        assert!(unsafe { xlaffi_handler(c"lu".as_ptr(), ptr::null()) }.is_null());
    }
}
