//! Errors, events and buffers of the fake plugin.

use pjrt_api::*;
use std::ffi::c_void;
use std::ptr::{null_mut, NonNull};
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Objects alive: errors, events, clients, buffers, loaded executables, executables, serialised ones,
/// transfers.
static LIVE: [AtomicIsize; 8] = [const { AtomicIsize::new(0) }; 8];
/// Threads of the plugin that have not finished.
pub static THREADS: AtomicIsize = AtomicIsize::new(0);

/// Calls that wait for an event which is not ready.
pub static WAITING: AtomicIsize = AtomicIsize::new(0);

pub const ERROR: usize = 0;
pub const EVENT: usize = 1;
pub const CLIENT: usize = 2;
pub const BUFFER: usize = 3;
pub const LOADED: usize = 4;
pub const EXECUTABLE: usize = 5;
pub const SERIALIZED: usize = 6;
pub const TRANSFER: usize = 7;

pub fn live() -> [isize; 8] {
    std::array::from_fn(|i| LIVE[i].load(Ordering::SeqCst))
}

pub fn reset() {
    settle();
    LIVE.iter().for_each(|n| n.store(0, Ordering::SeqCst));
}

/// Waits for the plugin's own threads.
pub fn settle() {
    while THREADS.load(Ordering::SeqCst) > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Gives an object to the host, counted.
pub fn give<T, H>(kind: usize, object: T) -> *mut H {
    LIVE[kind].fetch_add(1, Ordering::SeqCst);
    Box::into_raw(Box::new(object)).cast()
}

/// Takes an object back.
pub fn take<T, H>(kind: usize, handle: *mut H) -> T {
    let left = LIVE[kind].fetch_sub(1, Ordering::SeqCst);
    assert!(left > 0, "freed twice");
    // SAFETY: the host frees only what `give` gave it; once, as just checked as far as one can.
    *unsafe { Box::from_raw(handle.cast::<T>()) }
}

/// Looks at an object.
pub fn peek<'a, T, H>(handle: *const H) -> &'a T {
    // SAFETY: the host passes only handles from `give` that are alive.
    unsafe { &*handle.cast::<T>() }
}

pub struct FakeError(pub PJRT_Error_Code, pub String);

pub fn error(code: PJRT_Error_Code, message: &str) -> *mut PJRT_Error {
    give(ERROR, FakeError(code, message.into()))
}

/// Declares functions of the table; `$a` is a reference to the arguments.
macro_rules! functions {
    ($(fn $name:ident($a:ident: $args:ty) $(-> $ret:ty)? $body:block)*) => {$(
        pub unsafe extern "C" fn $name(args: *mut $args) $(-> $ret)? {
            // SAFETY: the host passes valid arguments.
            let $a = unsafe { &mut *args };
            assert_eq!($a.struct_size, <$args as CStruct>::STRUCT_SIZE);
            $body
        }
    )*};
}

pub(super) use functions;

#[derive(Default)]
pub struct State {
    pub outcome: Option<Option<(PJRT_Error_Code, String)>>,
    callbacks: Vec<(PJRT_Event_OnReadyCallback, usize)>,
}

/// An event and everyone who waits for it.
#[derive(Clone, Default)]
pub struct FakeEvent(Arc<(Mutex<State>, Condvar)>);

fn to_error(outcome: &Option<(PJRT_Error_Code, String)>) -> *mut PJRT_Error {
    outcome.as_ref().map_or(null_mut(), |(c, m)| error(*c, m))
}

impl FakeEvent {
    pub fn give(&self) -> *mut PJRT_Event {
        give(EVENT, self.clone())
    }

    pub fn set(&self, outcome: Option<(PJRT_Error_Code, String)>) {
        let mut state = self.0 .0.lock().unwrap();
        if state.outcome.is_some() {
            return;
        }
        state.outcome = Some(outcome.clone());
        let callbacks = std::mem::take(&mut state.callbacks);
        drop(state);
        self.0 .1.notify_all();
        for (callback, user) in callbacks {
            // SAFETY: the host registered this function with this argument.
            unsafe { callback.unwrap()(to_error(&outcome), user as *mut c_void) };
        }
    }

    pub fn ready() -> Self {
        let event = Self::default();
        event.set(None);
        event
    }
}

functions! {
    fn error_destroy(a: PJRT_Error_Destroy_Args) {
        drop(take::<FakeError, _>(ERROR, a.error));
    }
    fn error_message(a: PJRT_Error_Message_Args) {
        let e: &FakeError = peek(a.error);
        a.message = e.1.as_ptr().cast();
        a.message_size = e.1.len();
    }
    fn error_code(a: PJRT_Error_GetCode_Args) -> *mut PJRT_Error {
        a.code = peek::<FakeError, _>(a.error).0;
        null_mut()
    }
    fn event_destroy(a: PJRT_Event_Destroy_Args) -> *mut PJRT_Error {
        drop(take::<FakeEvent, _>(EVENT, a.event));
        null_mut()
    }
    fn event_is_ready(a: PJRT_Event_IsReady_Args) -> *mut PJRT_Error {
        a.is_ready = peek::<FakeEvent, _>(a.event).0 .0.lock().unwrap().outcome.is_some();
        null_mut()
    }
    fn event_await(a: PJRT_Event_Await_Args) -> *mut PJRT_Error {
        let event = peek::<FakeEvent, _>(a.event).0.clone();
        WAITING.fetch_add(1, Ordering::SeqCst);
        let state = event.1.wait_while(event.0.lock().unwrap(), |s| s.outcome.is_none()).unwrap();
        WAITING.fetch_sub(1, Ordering::SeqCst);
        to_error(state.outcome.as_ref().unwrap())
    }
    fn event_on_ready(a: PJRT_Event_OnReady_Args) -> *mut PJRT_Error {
        let event = peek::<FakeEvent, _>(a.event).clone();
        let mut state = event.0 .0.lock().unwrap();
        match state.outcome.clone() {
            None => state.callbacks.push((a.callback, a.user_arg as usize)),
            Some(outcome) => {
                drop(state);
                // SAFETY: the host's function with the host's argument.
                unsafe { a.callback.unwrap()(to_error(&outcome), a.user_arg) };
            }
        }
        null_mut()
    }
}

/// How a buffer says that it is laid out.
#[derive(Clone, Debug, PartialEq)]
pub enum Placing {
    MinorToMajor(Vec<i64>),
    ByteStrides(Vec<i64>),
    Tiled,
}

pub struct FakeBuffer {
    pub kind: PJRT_Buffer_Type,
    pub dims: Vec<i64>,
    pub layout: Placing,
    pub data: Arc<Mutex<Vec<u8>>>,
    /// The host's memory and the event that gives it back.
    pub borrowed: Option<(NonNull<u8>, FakeEvent)>,
    pub ready: FakeEvent,
    pub deleted: Arc<Mutex<bool>>,
}

impl FakeBuffer {
    pub fn give(self) -> *mut PJRT_Buffer {
        give(BUFFER, self)
    }

    pub fn delete(&self) {
        *self.deleted.lock().unwrap() = true;
        if let Some((_, done)) = &self.borrowed {
            done.set(None);
        }
    }

    pub fn address(&self) -> usize {
        match &self.borrowed {
            Some((memory, _)) => memory.as_ptr() as usize,
            None => self.data.lock().unwrap().as_ptr() as usize,
        }
    }
}

const ROW_MAJOR: [i64; 8] = [7, 6, 5, 4, 3, 2, 1, 0];
static ONE_TILE: ([i64; 1], [usize; 1]) = ([128], [1]);

functions! {
    fn buffer_destroy(a: PJRT_Buffer_Destroy_Args) -> *mut PJRT_Error {
        take::<FakeBuffer, _>(BUFFER, a.buffer).delete();
        null_mut()
    }
    fn buffer_type(a: PJRT_Buffer_ElementType_Args) -> *mut PJRT_Error {
        a.r#type = peek::<FakeBuffer, _>(a.buffer).kind;
        null_mut()
    }
    fn buffer_dims(a: PJRT_Buffer_Dimensions_Args) -> *mut PJRT_Error {
        let b: &FakeBuffer = peek(a.buffer);
        a.dims = b.dims.as_ptr();
        a.num_dims = b.dims.len();
        null_mut()
    }
    fn buffer_layout(a: PJRT_Buffer_GetMemoryLayout_Args) -> *mut PJRT_Error {
        let b: &FakeBuffer = peek(a.buffer);
        a.layout = PJRT_Buffer_MemoryLayout::new();
        let mut tiled = PJRT_Buffer_MemoryLayout_Tiled::new();
        match &b.layout {
            Placing::MinorToMajor(order) => {
                tiled.minor_to_major = order.as_ptr();
                tiled.minor_to_major_size = order.len();
            }
            Placing::Tiled => {
                let rank = b.dims.len();
                tiled.minor_to_major = ROW_MAJOR[8 - rank..].as_ptr();
                tiled.minor_to_major_size = rank;
                tiled.tile_dims = ONE_TILE.0.as_ptr();
                tiled.tile_dim_sizes = ONE_TILE.1.as_ptr();
                tiled.num_tiles = 1;
            }
            Placing::ByteStrides(bytes) => {
                let mut strides = PJRT_Buffer_MemoryLayout_Strides::new();
                strides.byte_strides = bytes.as_ptr();
                strides.num_byte_strides = bytes.len();
                a.layout.r#type = PJRT_Buffer_MemoryLayout_Type::Strides;
                a.layout.value.strides = strides;
                return null_mut();
            }
        }
        a.layout.r#type = PJRT_Buffer_MemoryLayout_Type::Tiled;
        a.layout.value.tiled = tiled;
        null_mut()
    }
    fn buffer_delete(a: PJRT_Buffer_Delete_Args) -> *mut PJRT_Error {
        peek::<FakeBuffer, _>(a.buffer).delete();
        null_mut()
    }
    fn buffer_is_deleted(a: PJRT_Buffer_IsDeleted_Args) -> *mut PJRT_Error {
        a.is_deleted = *peek::<FakeBuffer, _>(a.buffer).deleted.lock().unwrap();
        null_mut()
    }
    fn buffer_ready(a: PJRT_Buffer_ReadyEvent_Args) -> *mut PJRT_Error {
        a.event = peek::<FakeBuffer, _>(a.buffer).ready.give();
        null_mut()
    }
    fn buffer_to_host(a: PJRT_Buffer_ToHostBuffer_Args) -> *mut PJRT_Error {
        // SAFETY: the host's layout is alive during the call.
        let order = unsafe {
            let tiled = (*a.host_layout).value.tiled;
            std::slice::from_raw_parts(tiled.minor_to_major, tiled.minor_to_major_size)
        };
        assert!(order.windows(2).all(|w| w[0] > w[1]), "row-major is asked for");
        let data = peek::<FakeBuffer, _>(a.src).data.lock().unwrap();
        assert_eq!(a.dst_size, data.len());
        // SAFETY: the host's memory is that long.
        unsafe { a.dst.cast::<u8>().copy_from(data.as_ptr(), data.len()) };
        a.event = FakeEvent::ready().give();
        null_mut()
    }
    fn buffer_pointer(a: PJRT_Buffer_UnsafePointer_Args) -> *mut PJRT_Error {
        a.buffer_pointer = peek::<FakeBuffer, _>(a.buffer).address();
        null_mut()
    }
}
