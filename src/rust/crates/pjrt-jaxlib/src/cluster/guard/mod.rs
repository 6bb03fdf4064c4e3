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

mod api;
mod results;
mod runs;
mod table;

pub(crate) use runs::Registered;

use api::{destroy, number};
use results::results;
use std::ptr::null_mut;
use table::{described, watching, Going};
use xla_ffi::raw;
use xla_ffi::sys::{XLA_FFI_CallFrame, XLA_FFI_Error, XLA_FFI_Handler};

pub(crate) const GUARDED: &str = "xlaffi.guarded";

/// The id of the run that a call is part of, where XLA tells it.
pub(crate) fn run_id(frame: &XLA_FFI_CallFrame) -> Option<i64> {
    number!(frame, XLA_FFI_RunId_Get, XLA_FFI_RunId_Get_Args { run_id })
}

/// Calls a handler; where the run is one over several devices, its error is the run's, and XLA's none.
///
/// # Safety
/// `handler` is one that XLA accepted, and `frame` that of its own call, in a stage of a run.
pub(crate) unsafe fn call(
    handler: XLA_FFI_Handler,
    frame: &mut XLA_FFI_CallFrame,
) -> *mut XLA_FFI_Error {
    let Some(run) = runs::find(|| run_id(frame)) else {
        // SAFETY: by this function's contract, here and below.
        return unsafe { handler(frame) };
    };
    // SAFETY: as above, here and below.
    let clear = |frame: &_| unsafe { results(frame).iter().for_each(|memory| memory.clear()) };
    let device = number!(
        frame,
        XLA_FFI_DeviceOrdinal_Get,
        XLA_FFI_DeviceOrdinal_Get_Args { device_ordinal }
    );
    let device = device.unwrap_or(-1);
    let number = run.count_call(device);
    if let Some(failure) = run.failure() {
        clear(frame);
        return match run.goes_on_at(number) {
            true => null_mut(),
            false => {
                let error = xla_ffi::Error::new(xla_ffi::Code::Aborted, failure.message);
                // SAFETY: as above.
                unsafe { raw::report(frame, &error) }
            }
        };
    }
    table::begin(Going {
        run: run.enter(),
        device,
        // SAFETY: as above.
        results: unsafe { results(frame) },
    });
    let api = frame.api;
    frame.api = watching(api);
    // SAFETY: as above.
    let error = unsafe { handler(frame) };
    frame.api = api;
    table::end();
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
