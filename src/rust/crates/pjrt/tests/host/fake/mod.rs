//! A plugin without XLA: a function table of fakes that count the objects alive, so that tests
//! can tell leaks, double frees and wrong orders. Programs are words, see `execute`.

mod execute;
mod objects;
mod run;
pub mod transfers;

pub use run::open_gate;

use objects::*;
use pjrt::{Client, Plugin, Value};
use pjrt_api::*;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

static SESSION: Mutex<()> = Mutex::new(());

/// Keeps tests apart (the counters are global) and checks at the end that nothing is left.
pub struct Session {
    _guard: MutexGuard<'static, ()>,
}

pub fn session() -> Session {
    let guard = SESSION.lock().unwrap_or_else(PoisonError::into_inner);
    reset();
    Session { _guard: guard }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            settle();
            assert_eq!(
                live(),
                [0; 8],
                "errors, events, clients, buffers, programs, kinds, serialised, transfers"
            );
        }
    }
}

/// A complete table.
pub fn table() -> PJRT_Api {
    let mut t = PJRT_Api::new();
    t.pjrt_api_version = PJRT_Api_Version::new();
    t.pjrt_api_version.minor_version = API_MINOR;
    t.PJRT_Error_Destroy = Some(error_destroy);
    t.PJRT_Error_Message = Some(error_message);
    t.PJRT_Error_GetCode = Some(error_code);
    t.PJRT_Plugin_Initialize = Some(run::plugin_initialize);
    t.PJRT_Plugin_Attributes = Some(run::plugin_attributes);
    t.PJRT_Event_Destroy = Some(event_destroy);
    t.PJRT_Event_IsReady = Some(event_is_ready);
    t.PJRT_Event_Await = Some(event_await);
    t.PJRT_Event_OnReady = Some(event_on_ready);
    t.PJRT_Client_Create = Some(run::client_create);
    t.PJRT_Client_Destroy = Some(run::client_destroy);
    t.PJRT_Client_PlatformName = Some(run::client_platform_name);
    t.PJRT_Client_AddressableDevices = Some(run::client_devices);
    t.PJRT_Client_Compile = Some(run::client_compile);
    t.PJRT_Client_BufferFromHostBuffer = Some(run::buffer_from_host);
    t.PJRT_LoadedExecutable_Destroy = Some(run::loaded_destroy);
    t.PJRT_LoadedExecutable_GetExecutable = Some(run::loaded_get);
    t.PJRT_LoadedExecutable_AddressableDevices = Some(run::loaded_devices);
    t.PJRT_Executable_OptimizedProgram = Some(run::optimized_program);
    t.PJRT_LoadedExecutable_Execute = Some(run::execute);
    t.PJRT_Executable_Destroy = Some(run::executable_destroy);
    t.PJRT_Executable_Serialize = Some(run::executable_serialize);
    t.PJRT_Executable_DeserializeAndLoad = Some(run::deserialize);
    t.PJRT_Executable_NumOutputs = Some(run::executable_num_outputs);
    t.PJRT_Buffer_Destroy = Some(buffer_destroy);
    t.PJRT_Buffer_ElementType = Some(buffer_type);
    t.PJRT_Buffer_Dimensions = Some(buffer_dims);
    t.PJRT_Buffer_GetMemoryLayout = Some(buffer_layout);
    t.PJRT_Buffer_Delete = Some(buffer_delete);
    t.PJRT_Buffer_IsDeleted = Some(buffer_is_deleted);
    t.PJRT_Buffer_ReadyEvent = Some(buffer_ready);
    t.PJRT_Buffer_ToHostBuffer = Some(buffer_to_host);
    t.PJRT_Buffer_UnsafePointer = Some(buffer_pointer);
    t
}

/// Waits until another thread waits for an event.
pub fn until_somebody_waits() {
    while WAITING.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
}

/// Keeps something for ever, where leak checkers can see it.
pub fn keep<T>(thing: T) -> *mut T {
    static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let kept = Box::into_raw(Box::new(thing));
    KEPT.lock().unwrap().push(kept as usize);
    kept
}

/// A plugin of that table.
pub fn plugin(table: PJRT_Api) -> pjrt::Result<Plugin> {
    // SAFETY: kept, so valid for ever.
    unsafe { Plugin::from_api(keep(table), "fake") }
}

/// A client whose memory is (`"cpu"`) or is not (anything else) ours to read.
pub fn client(platform: &str) -> Client {
    plugin(table())
        .unwrap()
        .client(&platform_option(platform))
        .unwrap()
}

pub fn platform_option(platform: &str) -> Vec<(String, Value)> {
    vec![("platform".into(), Value::String(platform.into()))]
}
