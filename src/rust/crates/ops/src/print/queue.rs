//! Where printed text goes: to the host that asked for it, else to standard output.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Sink {
    queued: bool,
    texts: Vec<String>,
}

static SINK: Mutex<Sink> = Mutex::new(Sink {
    queued: false,
    texts: Vec::new(),
});

/// A panic elsewhere cannot leave the sink half-written, so a poisoned lock is still good.
fn sink() -> MutexGuard<'static, Sink> {
    SINK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks that printed text be kept for [`drain`] (`true`) instead of going to standard output.
///
/// A host that may only write from one of its threads (R) asks once, when it loads. Text that was
/// queued before a change stays queued until it is drained.
pub fn queue_output(queued: bool) {
    sink().queued = queued;
}

/// Takes the queued texts, oldest first; each is the whole output of one call and ends in a
/// newline. Nothing is dropped, however late the host comes for it.
pub fn drain() -> Vec<String> {
    std::mem::take(&mut sink().texts)
}

/// Whether texts wait to be taken.
pub fn is_waiting() -> bool {
    !sink().texts.is_empty()
}

/// Hands over the whole text of one call: the lock is held over the write, so the outputs of
/// calls that run at once do not mix.
pub(crate) fn emit(text: String) -> std::io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut sink = sink();
    if sink.queued {
        sink.texts.push(text);
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
