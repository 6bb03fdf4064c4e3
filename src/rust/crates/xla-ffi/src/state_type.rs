//! Types of state, as XLA numbers them.

use core::any::TypeId;
use core::ffi::c_void;
use core::mem::size_of;
use core::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::context::{api_fn, Context};
use crate::error::Result;
use crate::panics::discard;
use crate::sys;

/// A type that was registered, by XLA (there is one for each plugin) and Rust's type.
struct Known {
    xla: usize,
    type_: TypeId,
    id: sys::XLA_FFI_TypeId,
    next: *const Known,
}

/// All of them, the last one first: a list that only grows, as every call looks into it.
static KNOWN: AtomicPtr<Known> = AtomicPtr::new(ptr::null_mut());

fn known(xla: usize, type_: TypeId) -> Option<sys::XLA_FFI_TypeId> {
    let mut next = KNOWN.load(Ordering::Acquire).cast_const();
    // SAFETY: null, or put into the list by `type_of_state`; never freed.
    while let Some(known) = unsafe { next.as_ref() } {
        if known.xla == xla && known.type_ == type_ {
            return Some(known.id);
        }
        next = known.next;
    }
    None
}

/// Drops a state that XLA gives back.
pub(crate) unsafe extern "C" fn drop_state<S>(state: *mut c_void) {
    // SAFETY: from `Arc::into_raw` in `Context::share_state`; XLA drops each once.
    let state = unsafe { Arc::from_raw(state.cast::<S>()) };
    // XLA must not be unwound.
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(state)));
    if let Err(payload) = dropped {
        discard(payload);
    }
}

impl Context<'_> {
    /// XLA's number for a type of state, which is registered the first time.
    #[inline]
    pub(crate) fn type_of_state<S: Send + Sync + 'static>(&self) -> Result<sys::XLA_FFI_TypeId> {
        // Copies of the table have the same inside.
        // SAFETY: null or a live table.
        let xla = unsafe { self.api.as_ref() }.map_or(0, |api| api.internal_api as usize);
        let type_ = TypeId::of::<S>();
        match known(xla, type_) {
            Some(id) => Ok(id),
            None => self.register_state::<S>(xla, type_),
        }
    }

    #[cold]
    fn register_state<S: Send + Sync + 'static>(
        &self,
        xla: usize,
        type_: TypeId,
    ) -> Result<sys::XLA_FFI_TypeId> {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = known(xla, type_) {
            return Ok(id);
        }
        let deleter = drop_state::<S>;
        // Another library may have a type of this name.
        let name = format!("{}@{:p}", core::any::type_name::<S>(), deleter as *const ());
        let info = sys::XLA_FFI_TypeInfo {
            struct_size: size_of::<sys::XLA_FFI_TypeInfo>(),
            extension_start: ptr::null_mut(),
            deleter: Some(deleter),
        };
        let mut id = sys::XLA_FFI_UNKNOWN_TYPE_ID;
        self.register_type(&name, &mut id, &info)?;
        let next = KNOWN.load(Ordering::Relaxed).cast_const();
        let known = Box::leak(Box::new(Known {
            xla,
            type_,
            id,
            next,
        }));
        KNOWN.store(known, Ordering::Release);
        Ok(id)
    }

    fn register_type(
        &self,
        name: &str,
        type_id: &mut sys::XLA_FFI_TypeId,
        type_info: &sys::XLA_FFI_TypeInfo,
    ) -> Result<()> {
        let function = api_fn!(self.api, XLA_FFI_Type_Register)
            .ok_or_else(|| self.missing("XLA_FFI_Type_Register"))?;
        let mut args = sys::XLA_FFI_Type_Register_Args {
            struct_size: size_of::<sys::XLA_FFI_Type_Register_Args>(),
            extension_start: ptr::null_mut(),
            name: sys::XLA_FFI_ByteSpan {
                ptr: name.as_ptr().cast(),
                len: name.len(),
            },
            type_id,
            type_info,
        };
        // SAFETY: XLA's function with the struct that it takes, and what it points to; the error,
        // if any, is ours from here on.
        unsafe { self.take_error("XLA_FFI_Type_Register", function(&mut args)) }
    }
}
