//! Errors of handlers in programs over several devices.
//!
//! Where a handler fails on one device, XLA ends the program there. The other devices wait for it in their next
//! collective, without end, or until XLA ends the process. So `prepare.py` makes such programs call [`GUARDED`] in place
//! of handlers (as it does with calls in order, see `calls.rs`): an error is kept for the run, what the handler would have
//! computed is NaN (zeros for integers), and the program goes on to its end on all devices: a loop that waits for a number
//! to get large or small ends by NaN. From then on no handler of the run is called, and its results are errors. The same
//! holds where the error comes later, by a future.
//!
//! XLA tells a handler the id of the run that it is part of; the plugin gives runs their ids.

use crate::error::Error;
use crate::run::Run;
use pjrt_api::PJRT_Error_Code;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::mem::{offset_of, size_of};
use std::ptr::{addr_of, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::SystemTime;
use xla_ffi::sys::{
    self, XLA_FFI_Api, XLA_FFI_CallFrame, XLA_FFI_Error, XLA_FFI_Error_Code, XLA_FFI_Handler,
};
use xla_ffi::{raw, DataKind, DataType};

pub(crate) const GUARDED: &str = "xlaffi.guarded";

static RUNS: RwLock<BTreeMap<i64, Arc<Run>>> = RwLock::new(BTreeMap::new());

/// A run that handlers find by its id.
pub(crate) struct Registered(i32);

impl Registered {
    /// Gives the run an id, which no other has in this process: devices find each other by it, of whatever client.
    pub fn new(run: &Arc<Run>) -> Self {
        static NEXT: OnceLock<AtomicI32> = OnceLock::new();
        let next = NEXT.get_or_init(|| {
            // Runs of another library in this process count from elsewhere.
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            AtomicI32::new(now.map_or(0, |now| now.subsec_nanos() as i32))
        });
        // XLA takes 0 for none.
        let mut ids = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed) & i32::MAX);
        let id = ids.find(|id| *id != 0).unwrap_or(1);
        let mut runs = RUNS.write().unwrap_or_else(PoisonError::into_inner);
        runs.insert(id.into(), Arc::clone(run));
        Self(id)
    }

    pub fn id(&self) -> i64 {
        self.0.into()
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut runs = RUNS.write().unwrap_or_else(PoisonError::into_inner);
        let run = runs.remove(&self.id());
        drop(runs);
        drop(run);
    }
}

/// Reads a function of XLA's table, which may end before it.
macro_rules! function {
    ($api:expr, $name:ident) => {{
        let api: *const XLA_FFI_Api = $api;
        let end = offset_of!(XLA_FFI_Api, $name) + size_of::<Option<sys::$name>>();
        // SAFETY: a table of XLA's, or a copy; its first field says how far it reaches.
        unsafe {
            match !api.is_null() && addr_of!((*api).struct_size).read() >= end {
                true => addr_of!((*api).$name).read(),
                false => None,
            }
        }
    }};
}

/// Asks XLA for a number of the call.
macro_rules! number {
    ($frame:expr, $name:ident, $args:ident { $field:ident }) => {{
        let frame: &XLA_FFI_CallFrame = $frame;
        function!(frame.api, $name).and_then(|ask| {
            let mut args = sys::$args {
                struct_size: size_of::<sys::$args>(),
                extension_start: null_mut(),
                ctx: frame.ctx,
                $field: 0,
            };
            // SAFETY: XLA's function with the struct that it takes, and the context of the call.
            let error = unsafe { ask(&mut args) };
            if error.is_null() {
                return Some(i64::from(args.$field));
            }
            // SAFETY: an error that XLA gave to this call.
            unsafe { destroy(frame.api, error) };
            None
        })
    }};
}

/// # Safety
/// `error` is of that table's XLA, and nobody's else.
unsafe fn destroy(api: *const XLA_FFI_Api, error: *mut XLA_FFI_Error) {
    if let Some(destroy) = function!(api, XLA_FFI_Error_Destroy) {
        let mut args = sys::XLA_FFI_Error_Destroy_Args {
            struct_size: size_of::<sys::XLA_FFI_Error_Destroy_Args>(),
            extension_start: null_mut(),
            error,
        };
        // SAFETY: by this function's contract.
        unsafe { destroy(&mut args) };
    }
}

thread_local! {
    /// The last error that a handler has made on this thread: XLA tells its text only.
    static MADE: RefCell<Option<(XLA_FFI_Error_Code, String)>> = const { RefCell::new(None) };
}

/// A call that goes on after its handler has returned, as one of R's functions does.
struct Going {
    run: Arc<Run>,
    device: i64,
    results: Vec<Memory>,
}

thread_local! {
    /// The call that this thread is in the middle of.
    static CURRENT: RefCell<Option<Going>> = const { RefCell::new(None) };
}

/// By the addresses of the futures that XLA waits for.
static GOING: Mutex<BTreeMap<usize, Going>> = Mutex::new(BTreeMap::new());

fn going() -> MutexGuard<'static, BTreeMap<usize, Going>> {
    GOING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// XLA's table with other functions that make errors and futures, and end these.
struct Watching {
    original: *const XLA_FFI_Api,
    /// As many words as the original has, which may be more than are known here.
    copy: Box<[usize]>,
}

// SAFETY: tables are constant, and their functions may be called from any thread.
unsafe impl Send for Watching {}
// SAFETY: as above.
unsafe impl Sync for Watching {}

static WATCHING: OnceLock<Watching> = OnceLock::new();

/// The table that remembers errors; any other than the first one stays as it is.
fn watching(api: *const XLA_FFI_Api) -> *const XLA_FFI_Api {
    if function!(api, XLA_FFI_Error_Create).is_none() {
        return api;
    }
    let watching = WATCHING.get_or_init(|| {
        // SAFETY: the table is as long as its first field says, and constant.
        let mut copy: Box<[usize]> = unsafe {
            let words = addr_of!((*api).struct_size).read() / size_of::<usize>();
            std::slice::from_raw_parts(api.cast::<usize>(), words).into()
        };
        let own = [
            (
                offset_of!(XLA_FFI_Api, XLA_FFI_Error_Create),
                create as *const () as usize,
            ),
            (
                offset_of!(XLA_FFI_Api, XLA_FFI_Future_Create),
                create_future as *const () as usize,
            ),
            (
                offset_of!(XLA_FFI_Api, XLA_FFI_Future_SetAvailable),
                set_available as *const () as usize,
            ),
            (
                offset_of!(XLA_FFI_Api, XLA_FFI_Future_SetError),
                set_error as *const () as usize,
            ),
        ];
        for (offset, function) in own {
            if let Some(word) = copy.get_mut(offset / size_of::<usize>()) {
                *word = function;
            }
        }
        Watching {
            original: api,
            copy,
        }
    });
    match std::ptr::eq(watching.original, api) {
        true => watching.copy.as_ptr().cast(),
        false => api,
    }
}

fn original() -> *const XLA_FFI_Api {
    WATCHING.get().map_or(std::ptr::null(), |w| w.original)
}

unsafe extern "C" fn create(args: *mut sys::XLA_FFI_Error_Create_Args) -> *mut XLA_FFI_Error {
    let Some(create) = function!(original(), XLA_FFI_Error_Create) else {
        return null_mut();
    };
    // SAFETY: the caller's struct, as XLA's function takes it.
    unsafe {
        if let Some(args) = args.as_ref().filter(|args| !args.message.is_null()) {
            let text = CStr::from_ptr(args.message).to_string_lossy().into_owned();
            // Gone at the end of a thread: then nobody asks.
            let _ = MADE.try_with(|made| made.replace(Some((args.errc, text))));
        }
        create(args)
    }
}

unsafe extern "C" fn create_future(
    args: *mut sys::XLA_FFI_Future_Create_Args,
) -> *mut XLA_FFI_Error {
    let Some(create) = function!(original(), XLA_FFI_Future_Create) else {
        return null_mut();
    };
    // SAFETY: as in `create`.
    let error = unsafe { create(args) };
    let current = CURRENT.try_with(RefCell::take).ok().flatten();
    if let (true, Some(current)) = (error.is_null(), current) {
        // SAFETY: as above; the function has filled it in.
        going().insert(unsafe { (*args).future } as usize, current);
    }
    error
}

unsafe extern "C" fn set_available(
    args: *mut sys::XLA_FFI_Future_SetAvailable_Args,
) -> *mut XLA_FFI_Error {
    // SAFETY: as in `create`.
    let known = going().remove(&(unsafe { (*args).future } as usize));
    drop(known);
    match function!(original(), XLA_FFI_Future_SetAvailable) {
        // SAFETY: as above.
        Some(set) => unsafe { set(args) },
        None => null_mut(),
    }
}

unsafe extern "C" fn set_error(args: *mut sys::XLA_FFI_Future_SetError_Args) -> *mut XLA_FFI_Error {
    // SAFETY: as in `create`.
    let (future, error) = unsafe { ((*args).future, (*args).error) };
    let known = going().remove(&(future as usize));
    let set_available = function!(original(), XLA_FFI_Future_SetAvailable);
    let (Some(call), Some(set_available)) = (known, set_available) else {
        return match function!(original(), XLA_FFI_Future_SetError) {
            // SAFETY: as above.
            Some(set) => unsafe { set(args) },
            None => null_mut(),
        };
    };
    let mut args = sys::XLA_FFI_Future_SetAvailable_Args {
        struct_size: size_of::<sys::XLA_FFI_Future_SetAvailable_Args>(),
        extension_start: null_mut(),
        future,
    };
    // SAFETY: the error is given up by the caller; the memory is the call's until its future has ended, which it does
    // here, by XLA's function.
    unsafe {
        call.run.fail(call.device, described(original(), error));
        destroy(original(), error);
        call.results.iter().for_each(|memory| memory.clear());
        set_available(&mut args)
    }
}

/// What an error says.
///
/// # Safety
/// `error` is of that table's XLA.
unsafe fn described(api: *const XLA_FFI_Api, error: *mut XLA_FFI_Error) -> Error {
    let made = MADE.try_with(RefCell::take).ok().flatten();
    let (code, text) = made.unwrap_or_else(|| {
        let mut args = sys::XLA_FFI_Error_GetMessage_Args {
            struct_size: size_of::<sys::XLA_FFI_Error_GetMessage_Args>(),
            extension_start: null_mut(),
            error,
            message: std::ptr::null(),
        };
        if let Some(message) = function!(api, XLA_FFI_Error_GetMessage) {
            // SAFETY: XLA's function with the struct that it takes.
            unsafe { message(&mut args) };
        }
        let text = match args.message.is_null() {
            true => "a handler failed without a message".into(),
            // SAFETY: XLA's text, which ends with zero and lives as long as the error.
            false => unsafe { CStr::from_ptr(args.message) }.to_string_lossy(),
        };
        (PJRT_Error_Code::INTERNAL.0 as i32, text.into_owned())
    });
    Error {
        code: PJRT_Error_Code(code as _),
        message: text,
        own: false,
    }
}

/// Memory of a result.
struct Memory {
    address: *mut u8,
    bytes: usize,
    blank: u8,
}

// SAFETY: memory of a call, which any thread may write that has the call.
unsafe impl Send for Memory {}

impl Memory {
    /// Fills it with what stands for nothing.
    ///
    /// # Safety
    /// Its call has not ended.
    unsafe fn clear(&self) {
        // SAFETY: by this function's contract.
        unsafe { std::ptr::write_bytes(self.address, self.blank, self.bytes) };
    }
}

/// The byte of which NaN may consist, where the type has it.
fn blank(dtype: DataType) -> u8 {
    match (dtype, dtype.info().map(|info| info.kind)) {
        (DataType::F4E2M1FN, _) => 0,
        // Minus zero of other types
        (DataType::F8E4M3B11FNUZ | DataType::F8E5M2FNUZ | DataType::F8E4M3FNUZ, _) => 0x80,
        (_, Some(DataKind::Float | DataKind::Complex)) => 0xff,
        _ => 0,
    }
}

/// Where the results of a call go.
///
/// # Safety
/// `frame` is XLA's, or a copy of it.
unsafe fn results(frame: &XLA_FFI_CallFrame) -> Vec<Memory> {
    let mut results = Vec::new();
    // SAFETY: the frame's arrays have as many elements as their sizes say; a buffer has its dims.
    unsafe {
        for i in 0..usize::try_from(frame.rets.size).unwrap_or(0) {
            if *frame.rets.types.add(i) != sys::XLA_FFI_RetType_BUFFER {
                continue;
            }
            let buffer = &*(*frame.rets.rets.add(i)).cast::<sys::XLA_FFI_Buffer>();
            let size = DataType(buffer.dtype).info().map_or(0, |info| info.size);
            let dims = (0..buffer.rank.max(0) as usize).map(|d| *buffer.dims.add(d) as usize);
            let bytes = dims.product::<usize>() * size;
            if !buffer.data.is_null() {
                results.push(Memory {
                    address: buffer.data.cast::<u8>(),
                    bytes,
                    blank: blank(DataType(buffer.dtype)),
                });
            }
        }
    }
    results
}

/// Calls a handler; where the run is one over several devices, its error is the run's, and XLA's none.
///
/// # Safety
/// `handler` is one that XLA accepted, and `frame` that of its own call, in the stage of execution.
pub(crate) unsafe fn call(
    handler: XLA_FFI_Handler,
    frame: &mut XLA_FFI_CallFrame,
) -> *mut XLA_FFI_Error {
    let runs = || RUNS.read().unwrap_or_else(PoisonError::into_inner);
    let run = (!runs().is_empty())
        .then(|| number!(frame, XLA_FFI_RunId_Get, XLA_FFI_RunId_Get_Args { run_id }))
        .flatten()
        .and_then(|id| runs().get(&id).cloned());
    let Some(run) = run else {
        // SAFETY: by this function's contract, here and below.
        return unsafe { handler(frame) };
    };
    // SAFETY: as above, here and below.
    let clear = |frame: &_| unsafe { results(frame).iter().for_each(|memory| memory.clear()) };
    if let Some(failure) = run.failure() {
        clear(frame);
        return match run.leaves_out_another() {
            true => null_mut(),
            false => {
                let error = xla_ffi::Error::new(xla_ffi::Code::Aborted, failure.message);
                // SAFETY: as above.
                unsafe { raw::report(frame, &error) }
            }
        };
    }
    let device = number!(
        frame,
        XLA_FFI_DeviceOrdinal_Get,
        XLA_FFI_DeviceOrdinal_Get_Args { device_ordinal }
    );
    let device = device.unwrap_or(-1);
    let going = Going {
        run: Arc::clone(&run),
        device,
        // SAFETY: as above.
        results: unsafe { results(frame) },
    };
    // They are there on a thread that calls handlers.
    let _ = CURRENT.try_with(|current| current.replace(Some(going)));
    let _ = MADE.try_with(RefCell::take);
    let api = frame.api;
    frame.api = watching(api);
    // SAFETY: as above.
    let error = unsafe { handler(frame) };
    frame.api = api;
    let _ = CURRENT.try_with(RefCell::take);
    if error.is_null() {
        return error;
    }
    // SAFETY: as above; the error is this call's.
    unsafe {
        run.fail(device, described(api, error));
        destroy(api, error);
    }
    clear(frame);
    null_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_results_are_nan_or_zero() {
        let bytes = |dtype| [blank(dtype); 8];
        assert!(f64::from_ne_bytes(bytes(DataType::F64)).is_nan());
        let single = |dtype| f32::from_ne_bytes(bytes(dtype)[..4].try_into().unwrap());
        assert!(single(DataType::F32).is_nan() && single(DataType::C64).is_nan());
        // The first half of a single-precision number
        let [low, high, ..] = bytes(DataType::BF16);
        assert!(f32::from_bits(u32::from(u16::from_ne_bytes([low, high])) << 16).is_nan());
        for (dtype, nan) in [
            (DataType::F16, 0xff),
            (DataType::C128, 0xff),
            (DataType::F8E5M2, 0xff),
            (DataType::F8E4M3FN, 0xff),
            (DataType::F8E8M0FNU, 0xff),
            (DataType::F8E4M3FNUZ, 0x80),
            (DataType::F4E2M1FN, 0),
            (DataType::S32, 0),
            (DataType::PRED, 0),
            (DataType::TOKEN, 0),
        ] {
            assert_eq!(blank(dtype), nan, "{dtype}");
        }
    }
}
