//! A thread of the host's that has other work to do where it waits here.

use std::sync::OnceLock;
use std::time::Duration;

/// What a host does on a thread that waits for a result, such as calls of functions that run on that
/// thread alone and that the result needs.
#[derive(Clone, Copy, Debug)]
pub struct Attendant {
    /// Whether the calling thread is the one.
    pub is_here: fn() -> bool,
    /// Calls `turn` until it says that there is nothing to wait for any more, and does the other work
    /// between two turns. A turn waits for that long at most, and ends where the thread is unparked.
    pub attend: fn(turn: &mut dyn FnMut(Duration) -> bool),
}

static ATTENDANT: OnceLock<Attendant> = OnceLock::new();

/// Has waits of the host's thread attended to, from now on; the first attendant stays.
pub fn attend_by(attendant: Attendant) {
    let _ = ATTENDANT.set(attendant);
}

/// The attendant, where this is its thread.
pub(crate) fn attendant() -> Option<&'static Attendant> {
    ATTENDANT.get().filter(|attendant| (attendant.is_here)())
}
