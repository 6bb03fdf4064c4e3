//! What XLA offers to handlers, imitated: errors, context, scratch memory, a pool of real threads.

use core::ffi::c_void;
use core::ptr;
use std::alloc::{alloc, dealloc, Layout};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::future;
use super::pool::{Pool, Task};
use super::raw_error::{error, error_create, error_destroy, error_message};
use crate::error::Code;
use crate::sys;

#[derive(Debug, Default)]
struct Scratch {
    live: HashMap<usize, Layout>,
    requests: usize,
}

/// The `XLA_FFI_ExecutionContext` of this host.
#[derive(Debug, Default)]
struct State {
    pool: Option<Pool>,
    stream: usize,
    device_ordinal: i32,
    run_id: i64,
    scratch_limit: Option<usize>,
    scratch: Mutex<Scratch>,
    kept: Mutex<Option<Kept>>,
    user_data: HashMap<i64, usize>,
}

#[derive(Debug, Default)]
pub(super) struct Host {
    /// A table of its own, where it is not `API`.
    api: Option<Rc<sys::XLA_FFI_Api>>,
    state: Arc<State>,
}

impl Host {
    /// While the call is put together, nobody else has it.
    fn state(&mut self) -> &mut State {
        Arc::get_mut(&mut self.state).expect("no other reference")
    }

    pub(super) fn set_threads(&mut self, threads: usize) {
        self.state().pool = (threads > 0).then(|| Pool::new(threads));
    }

    pub(super) fn set_context(&mut self, stream: usize, device_ordinal: i32, run_id: i64) {
        let state = self.state();
        state.stream = stream;
        state.device_ordinal = device_ordinal;
        state.run_id = run_id;
    }

    pub(super) fn set_scratch_limit(&mut self, bytes: usize) {
        self.state().scratch_limit = Some(bytes);
    }

    pub(super) fn set_user_data(&mut self, type_id: i64, data: *const c_void) {
        self.state().user_data.insert(type_id, data as usize);
    }

    pub(super) fn set_api_size(&mut self, bytes: usize) {
        self.api = Some(Rc::new(sys::XLA_FFI_Api {
            struct_size: bytes,
            ..API
        }));
    }

    pub(super) fn scratch(&self) -> (usize, usize) {
        let scratch = self
            .state
            .scratch
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        (
            scratch.live.values().map(Layout::size).sum(),
            scratch.requests,
        )
    }

    pub(super) fn as_raw(&self) -> (*const sys::XLA_FFI_Api, *mut sys::XLA_FFI_ExecutionContext) {
        (
            self.api.as_ref().map_or(&API, Rc::as_ptr),
            Arc::as_ptr(&self.state).cast_mut().cast(),
        )
    }
}

/// # Safety
/// `ctx` is the context of a live [`Host`].
unsafe fn state<'a>(ctx: *mut sys::XLA_FFI_ExecutionContext) -> &'a State {
    // SAFETY: by contract.
    unsafe { &*ctx.cast_const().cast::<State>() }
}

unsafe extern "C" fn user_data(
    args: *mut sys::XLA_FFI_ExecutionContext_Get_Args,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as in `stream`.
    unsafe {
        match state((*args).ctx)
            .user_data
            .get(&(*(*args).type_id).type_id)
        {
            Some(&data) => (*args).data = data as *mut c_void,
            None => return error(Code::NotFound, c"no user data of this type"),
        }
    }
    ptr::null_mut()
}

unsafe extern "C" fn stream(args: *mut sys::XLA_FFI_Stream_Get_Args) -> *mut sys::XLA_FFI_Error {
    // SAFETY: the API's contract: a filled struct, this call's context.
    unsafe {
        let stream = state((*args).ctx).stream;
        if stream == 0 {
            return error(Code::Unimplemented, c"no stream");
        }
        (*args).stream = ptr::null_mut::<c_void>().wrapping_byte_add(stream);
    }
    ptr::null_mut()
}

unsafe extern "C" fn run_id(args: *mut sys::XLA_FFI_RunId_Get_Args) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as in `stream`.
    unsafe { (*args).run_id = state((*args).ctx).run_id };
    ptr::null_mut()
}

unsafe extern "C" fn device_ordinal(
    args: *mut sys::XLA_FFI_DeviceOrdinal_Get_Args,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as in `stream`.
    unsafe { (*args).device_ordinal = state((*args).ctx).device_ordinal };
    ptr::null_mut()
}

/// Types are known to the whole process; a type's number is its place, counted from 1.
static TYPES: Mutex<Vec<sys::XLA_FFI_TypeInfo>> = Mutex::new(Vec::new());

// SAFETY: a constant, and a function that may be called from any thread.
unsafe impl Send for sys::XLA_FFI_TypeInfo {}

unsafe extern "C" fn type_register(
    args: *mut sys::XLA_FFI_Type_Register_Args,
) -> *mut sys::XLA_FFI_Error {
    let mut types = TYPES.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the API's contract: a filled struct, whose pointers are good for the call.
    unsafe {
        if *(*args).type_id != sys::XLA_FFI_UNKNOWN_TYPE_ID {
            return error(Code::Unimplemented, c"numbers are given here");
        }
        types.push(*(*args).type_info);
        (*(*args).type_id).type_id = types.len() as i64;
    }
    ptr::null_mut()
}

fn lock(kept: &Mutex<Option<Kept>>) -> MutexGuard<'_, Option<Kept>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a handler gave to be kept.
#[derive(Debug)]
struct Kept {
    type_id: i64,
    state: *mut c_void,
}

impl Drop for Kept {
    fn drop(&mut self) {
        let types = TYPES.lock().unwrap_or_else(PoisonError::into_inner);
        let deleter = types[self.type_id as usize - 1].deleter;
        drop(types);
        if let Some(deleter) = deleter {
            // SAFETY: of this type, given to be dropped once.
            unsafe { deleter(self.state) };
        }
    }
}

unsafe extern "C" fn state_set(args: *mut sys::XLA_FFI_State_Set_Args) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as in `stream`.
    unsafe {
        let mut kept = lock(&state((*args).ctx).kept);
        if kept.is_some() {
            return error(Code::FailedPrecondition, c"there is a state already");
        }
        *kept = Some(Kept {
            type_id: (*(*args).type_id).type_id,
            state: (*args).state,
        });
    }
    ptr::null_mut()
}

unsafe extern "C" fn state_get(args: *mut sys::XLA_FFI_State_Get_Args) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as in `stream`.
    unsafe {
        match &*lock(&state((*args).ctx).kept) {
            None => error(Code::NotFound, c"there is no state"),
            Some(kept) if kept.type_id != (*(*args).type_id).type_id => {
                error(Code::InvalidArgument, c"the state is of another type")
            }
            Some(kept) => {
                (*args).state = kept.state;
                ptr::null_mut()
            }
        }
    }
}

unsafe extern "C" fn allocate(
    args: *mut sys::XLA_FFI_DeviceMemory_Allocate_Args,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as in `stream`; the size is not 0.
    unsafe {
        let state = state((*args).ctx);
        let mut scratch = state.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        scratch.requests += 1;
        let live: usize = scratch.live.values().map(Layout::size).sum();
        if state
            .scratch_limit
            .is_some_and(|limit| live + (*args).size > limit)
        {
            return error(Code::ResourceExhausted, c"no memory left");
        }
        match Layout::from_size_align((*args).size, (*args).alignment) {
            Ok(layout) if layout.size() > 0 => {
                (*args).data = alloc(layout).cast();
                scratch.live.insert((*args).data as usize, layout);
                ptr::null_mut()
            }
            _ => error(Code::InvalidArgument, c"no such layout"),
        }
    }
}

unsafe extern "C" fn free(
    args: *mut sys::XLA_FFI_DeviceMemory_Free_Args,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as in `stream`.
    let state = unsafe { state((*args).ctx) };
    let mut scratch = state.scratch.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: as in `stream`.
    let (data, size) = unsafe { ((*args).data, (*args).size) };
    match scratch.live.remove(&(data as usize)) {
        Some(layout) if layout.size() == size => {
            // SAFETY: from `alloc` with this layout.
            unsafe { dealloc(data.cast(), layout) };
            ptr::null_mut()
        }
        _ => error(Code::InvalidArgument, c"not from this allocator"),
    }
}

unsafe extern "C" fn schedule(
    args: *mut sys::XLA_FFI_ThreadPool_Schedule_Args,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as in `stream`.
    let (state, run, data) = unsafe { (state((*args).ctx), (*args).task, (*args).data) };
    let tasks = state.pool.as_ref().and_then(|pool| pool.tasks.as_ref());
    match (tasks, run) {
        (Some(tasks), Some(run)) if tasks.send(Task { run, data }).is_ok() => ptr::null_mut(),
        _ => error(Code::Unimplemented, c"no thread pool"),
    }
}

unsafe extern "C" fn num_threads(
    args: *mut sys::XLA_FFI_ThreadPool_NumThreads_Args,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as in `stream`; `num_threads` points to where the number goes.
    unsafe {
        match &state((*args).ctx).pool {
            Some(pool) => {
                *(*args).num_threads = pool.threads.len() as i64;
                ptr::null_mut()
            }
            None => error(Code::Unimplemented, c"no thread pool"),
        }
    }
}

/// One for all calls, as XLA has it.
static API: sys::XLA_FFI_Api = sys::XLA_FFI_Api {
    XLA_FFI_Error_Create: Some(error_create),
    XLA_FFI_Error_GetMessage: Some(error_message),
    XLA_FFI_Error_Destroy: Some(error_destroy),
    XLA_FFI_Stream_Get: Some(stream),
    XLA_FFI_Type_Register: Some(type_register),
    XLA_FFI_ExecutionContext_Get: Some(user_data),
    XLA_FFI_State_Set: Some(state_set),
    XLA_FFI_State_Get: Some(state_get),
    XLA_FFI_DeviceMemory_Allocate: Some(allocate),
    XLA_FFI_DeviceMemory_Free: Some(free),
    XLA_FFI_ThreadPool_Schedule: Some(schedule),
    XLA_FFI_ThreadPool_NumThreads: Some(num_threads),
    XLA_FFI_Future_Create: Some(future::create),
    XLA_FFI_Future_SetAvailable: Some(future::set_available),
    XLA_FFI_Future_SetError: Some(future::set_error),
    XLA_FFI_RunId_Get: Some(run_id),
    XLA_FFI_DeviceOrdinal_Get: Some(device_ordinal),
    ..sys::XLA_FFI_Api::EMPTY
};
