//! Handlers of several stages, for plugins whose extension takes one function.
//!
//! XLA itself takes a function for each stage, by a table that it gives to handlers with every call, that for their
//! version among them. So a handler that does nothing else is registered first, and the table kept.

use std::ffi::{c_char, CStr};
use std::mem::{offset_of, size_of};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use xla_ffi::raw::answer_metadata;
use xla_ffi::sys;

use crate::barrier;
use crate::error::{Code, Error, Result};
use crate::plugin::Plugin;

const CALL: &str = "XLA_FFI_Handler_Register";

/// The name of the handler that keeps the table.
const NAME: &str = "xlaffi.handler_table";

/// What the handler saw last.
static SEEN: AtomicPtr<sys::XLA_FFI_Api> = AtomicPtr::new(null_mut());

/// As [`sys::XLA_FFI_Handler_Register_Args`] from version 0.4 on, which has a fifth stage for devices.
#[repr(C)]
struct WithRecord {
    struct_size: usize,
    extension_start: *mut sys::XLA_FFI_Extension_Base,
    name: sys::XLA_FFI_ByteSpan,
    platform: sys::XLA_FFI_ByteSpan,
    bundle: sys::XLA_FFI_Handler_Bundle,
    record: Option<sys::XLA_FFI_Handler>,
    traits: sys::XLA_FFI_Handler_Traits,
}

/// XLA counts up to the last field's end, without what fills a struct up.
const TRAITS: usize = size_of::<sys::XLA_FFI_Handler_Traits>();

unsafe extern "C" fn keep_table(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: XLA's frame.
    unsafe {
        SEEN.store((*frame).api.cast_mut(), Ordering::SeqCst);
        answer_metadata(frame, 0);
    }
    null_mut()
}

impl Plugin {
    /// Registers an XLA FFI handler that has functions for several stages. `platform` as in
    /// [`Plugin::register_ffi_handler`].
    ///
    /// # Errors
    /// `UNIMPLEMENTED` where XLA in the plugin does not give handlers a table when it asks for their version; else what
    /// XLA returns, and as [`Plugin::register_ffi_handler`].
    ///
    /// # Safety
    /// The functions are handlers and stay valid for the rest of the process.
    pub unsafe fn register_ffi_stages(
        &self,
        target: &str,
        platform: &str,
        bundle: sys::XLA_FFI_Handler_Bundle,
    ) -> Result<()> {
        let api = self.table_for_handlers(platform)?;
        let bytes = |text: &str| sys::XLA_FFI_ByteSpan {
            ptr: text.as_ptr().cast::<c_char>(),
            len: text.len(),
        };
        // SAFETY: XLA's table, a constant, which has its version, this function and those before it in every version.
        let (version, register) = unsafe { ((*api).api_version, (*api).XLA_FFI_Handler_Register) };
        let register = register.ok_or_else(missing)?;
        let mut args = sys::XLA_FFI_Handler_Register_Args {
            struct_size: offset_of!(sys::XLA_FFI_Handler_Register_Args, traits) + TRAITS,
            extension_start: null_mut(),
            name: bytes(target),
            platform: bytes(platform),
            bundle,
            traits: 0,
        };
        let mut with_record = WithRecord {
            struct_size: offset_of!(WithRecord, traits) + TRAITS,
            extension_start: null_mut(),
            name: args.name,
            platform: args.platform,
            bundle,
            record: None,
            traits: 0,
        };
        let has_record = (version.major_version, version.minor_version) >= (0, 4);
        let args = match has_record {
            true => std::ptr::addr_of_mut!(with_record).cast(),
            false => std::ptr::addr_of_mut!(args),
        };
        // SAFETY: the struct of that version; the strings outlive the call, in which they are copied; the functions are
        // the caller's promise.
        let error = unsafe { barrier::answer(CALL, register, args)? };
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: XLA's error, ours to free.
        Err(unsafe { taken(api, error) })
    }

    fn table_for_handlers(&self, platform: &str) -> Result<*const sys::XLA_FFI_Api> {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        if self.handlers().get().is_none() {
            SEEN.store(null_mut(), Ordering::SeqCst);
            let handler: sys::XLA_FFI_Handler = keep_table;
            // SAFETY: a function of this library, which stays.
            unsafe { self.register_ffi_handler(NAME, platform, handler as *const _)? };
            let _ = self.handlers().set(SEEN.load(Ordering::SeqCst) as usize);
        }
        match self.handlers().get() {
            None | Some(0) => Err(missing()),
            Some(&table) => Ok(table as *const sys::XLA_FFI_Api),
        }
    }
}

fn missing() -> Error {
    Error::from_plugin(
        CALL,
        Code::UNIMPLEMENTED,
        "it has functions for several stages, of which this plugin takes one only".to_owned(),
    )
}

/// # Safety
/// An error of that table's, which is given up.
unsafe fn taken(api: *const sys::XLA_FFI_Api, error: *mut sys::XLA_FFI_Error) -> Error {
    let mut text = String::new();
    let mut args = sys::XLA_FFI_Error_GetMessage_Args {
        struct_size: size_of::<sys::XLA_FFI_Error_GetMessage_Args>(),
        extension_start: null_mut(),
        error,
        message: std::ptr::null(),
    };
    let mut gone = sys::XLA_FFI_Error_Destroy_Args {
        struct_size: size_of::<sys::XLA_FFI_Error_Destroy_Args>(),
        extension_start: null_mut(),
        error,
    };
    // SAFETY: by contract; the text is copied before the error is freed.
    unsafe {
        if let Some(message) = (*api).XLA_FFI_Error_GetMessage {
            message(&mut args);
        }
        if !args.message.is_null() {
            text = CStr::from_ptr(args.message).to_string_lossy().into_owned();
        }
        if let Some(destroy) = (*api).XLA_FFI_Error_Destroy {
            destroy(&mut gone);
        }
    }
    Error::from_plugin(CALL, Code::UNKNOWN, text)
}
