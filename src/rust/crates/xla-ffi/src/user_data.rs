//! What the program's host put into an execution's context for its handlers.

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr;

use crate::context::{api_fn, service, Context};
use crate::error::{Error, Result};
use crate::sys;

/// A type of data that the host (which runs the program) adds to an execution's context by a number
/// that XLA knows types by.
///
/// ```
/// # use xla_ffi::{Context, Result, UserData};
/// use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
///
/// /// What XLA answered when the host registered the type.
/// static LIMITS_ID: AtomicI64 = AtomicI64::new(0);
///
/// struct Limits { calls: AtomicU32 }
///
/// // SAFETY: the host adds nothing but `Limits` under this number, and keeps them.
/// unsafe impl UserData for Limits {
///     fn type_id() -> i64 {
///         LIMITS_ID.load(Ordering::SeqCst)
///     }
/// }
///
/// fn count(context: &Context<'_>) -> Result<()> {
///     context.user_data::<Limits>()?.calls.fetch_add(1, Ordering::SeqCst);
///     Ok(())
/// }
/// ```
///
/// # Safety
/// Whatever hosts add to a context under [`type_id`](Self::type_id) is a pointer to a `Self` that
/// lives, unchanged but by shared reference, for as long as executions with that context.
pub unsafe trait UserData: Sync + 'static {
    /// XLA's number for the type.
    fn type_id() -> i64;
}

impl<'f> Context<'f> {
    /// What the host added to the context of this execution.
    ///
    /// # Errors
    /// It added none of this type; this XLA is too old.
    pub fn user_data<T: UserData>(&self) -> Result<&'f T> {
        let mut type_id = sys::XLA_FFI_TypeId {
            type_id: T::type_id(),
        };
        let args = service!(
            self,
            XLA_FFI_ExecutionContext_Get,
            XLA_FFI_ExecutionContext_Get_Args {
                type_id: &mut type_id,
                data: ptr::null_mut::<c_void>(),
            }
        )?;
        // SAFETY: null, or the host's, by the contract of `UserData`.
        unsafe { args.data.cast::<T>().as_ref() }
            .ok_or_else(|| Error::internal("XLA gave no user data"))
    }
}
