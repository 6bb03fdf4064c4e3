//! The plugin as a C caller sees it.
#![allow(
    dead_code,
    clippy::undocumented_unsafe_blocks,
    reason = "tests: every call is one"
)]

#[cfg(unix)]
pub mod processes;

mod buffers;
mod programs;
pub mod several;

pub use buffers::*;
pub use programs::*;

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
