//! Events: signals of our own, and the readiness of jaxlib's arrays.

use crate::array::jax_array::Array;
use crate::array::small::Contents;
use crate::base::entry::{entry, object, slice};
use crate::base::error::{Error, Result};
use crate::python::gil::blocking;
use crate::run::signal::{Callback, Outcome, Signal};
use pjrt_api::{PJRT_Error, PJRT_Error_Code, PJRT_Event, PJRT_Event_OnReadyCallback};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

/// What a `PJRT_Event` is.
pub(crate) enum Event {
    Done(Outcome),
    Signal(Arc<Signal>),
    Array(Arc<Array>),
}

impl Event {
    /// Ready when the contents are there.
    pub fn of(contents: Contents) -> Self {
        match contents {
            Contents::Array(array) => Self::Array(array),
            Contents::Small(_) => Self::Done(None),
        }
    }

    pub fn into_raw(self) -> *mut PJRT_Event {
        Box::into_raw(Box::new(self)).cast()
    }

    fn poll(&self) -> Option<Outcome> {
        match self {
            Self::Done(outcome) => Some(outcome.clone()),
            Self::Signal(signal) => signal.poll().or_else(|| {
                blocking(std::thread::yield_now);
                signal.poll()
            }),
            Self::Array(array) => array.poll().cloned(),
        }
    }

    fn wait(&self) -> Outcome {
        match self {
            Self::Done(outcome) => outcome.clone(),
            Self::Signal(signal) => signal.wait(),
            Self::Array(array) => array.wait().clone(),
        }
    }

    /// Calls back once it is ready: at once where it is, else from another thread.
    fn on_ready(&self, callback: Callback) -> Result<()> {
        match self {
            Self::Signal(signal) => signal.on_ready(callback),
            Self::Done(outcome) => callback(outcome.clone()),
            Self::Array(array) => match array.poll() {
                Some(outcome) => callback(outcome.clone()),
                None => array.completion()?.on_ready(callback),
            },
        }
        Ok(())
    }
}

/// Succeeds, or fails with what the event failed with.
fn report(outcome: Outcome) -> Result<()> {
    outcome.map_or(Ok(()), Err)
}

/// # Safety
/// `event` is NULL or an event of this crate.
unsafe fn event<'a>(event: *mut PJRT_Event) -> Result<&'a Event> {
    // SAFETY: by this function's contract.
    unsafe { object(event, "event") }
}

entry!(destroy, PJRT_Event_Destroy_Args, |args| {
    if !args.event.is_null() {
        // SAFETY: every event handed out is a boxed `Event`, and it is destroyed once.
        drop(unsafe { Box::from_raw(args.event.cast::<Event>()) });
    }
    Ok(())
});

entry!(is_ready, PJRT_Event_IsReady_Args, |args| {
    // SAFETY: the API's contract.
    args.is_ready = unsafe { event(args.event)? }.poll().is_some();
    Ok(())
});

entry!(error, PJRT_Event_Error_Args, |args| {
    // SAFETY: the API's contract.
    match unsafe { event(args.event)? }.poll() {
        Some(outcome) => report(outcome),
        None => Err(Error::precondition("the event is not ready")),
    }
});

entry!(wait, PJRT_Event_Await_Args, |args| {
    // SAFETY: the API's contract.
    report(unsafe { event(args.event)? }.wait())
});

/// A callback's argument, which the caller lets other threads have.
struct UserArgument(*mut c_void);
// SAFETY: the API says that callbacks come from other threads.
unsafe impl Send for UserArgument {}

impl UserArgument {
    fn call(self, callback: unsafe extern "C" fn(*mut PJRT_Error, *mut c_void), outcome: Outcome) {
        let error = outcome.map_or(null_mut(), Error::into_raw);
        // SAFETY: the caller's callback with the caller's argument; it owns the error.
        unsafe { callback(error, self.0) };
    }
}

entry!(on_ready, PJRT_Event_OnReady_Args, |args| {
    let callback: PJRT_Event_OnReadyCallback = args.callback;
    let callback = callback.ok_or_else(|| Error::invalid("`callback` is NULL"))?;
    let argument = UserArgument(args.user_arg);
    // SAFETY: the API's contract.
    unsafe { event(args.event)? }
        .on_ready(Box::new(move |outcome| argument.call(callback, outcome)))
});

entry!(create, PJRT_Event_Create_Args, |args| {
    args.event = Event::Signal(Signal::new()).into_raw();
    Ok(())
});

entry!(set, PJRT_Event_Set_Args, |args| {
    // SAFETY: the API's contract.
    let Event::Signal(signal) = (unsafe { event(args.event)? }) else {
        return Err(Error::precondition(
            "the event was not made by PJRT_Event_Create",
        ));
    };
    let outcome = if args.error_code == PJRT_Error_Code::OK {
        None
    } else {
        // SAFETY: the API's contract.
        let text = unsafe {
            slice(
                args.error_message.cast::<u8>(),
                args.error_message_size,
                "error_message",
            )?
        };
        let message = String::from_utf8_lossy(text).into_owned();
        Some(Error {
            code: args.error_code,
            message,
            own: false,
        })
    };
    if signal.set(outcome) {
        Ok(())
    } else {
        Err(Error::precondition("the event has been set before"))
    }
});
