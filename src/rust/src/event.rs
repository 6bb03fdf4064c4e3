//! `xlaffi_event`: a running program without results.

use std::time::Duration;

use extendr_api::prelude::*;
use pjrt::Event;

use crate::failure::guard;
use crate::pointer::{class, get};

/// The end of an execution.
pub struct EventObject {
    /// The event.
    pub event: Event,
}

class!(EventObject, c"xlaffi_event", "an event of pjrt_execute()");

// Waits up to `seconds`; whether it is over.
#[extendr]
fn event_wait(event: Robj, seconds: f64) -> Robj {
    guard(|| {
        let object: &EventObject = get(&event, "event")?;
        Ok(object.event.wait_timeout(Duration::from_secs_f64(seconds))?)
    })
}

extendr_module! {
    mod event;
    fn event_wait;
}
