//! Other hosts' handlers on R's thread: they may write by R, or call it, and nobody can tell.

use std::time::Duration;

use main_thread::{Patience, Refusal};
use pjrt_jaxlib::Work;

use crate::r::unwind::protect;
use crate::runtime::abandon::abandoned;
use crate::runtime::contained::contained;

/// How long a handler waits for an R that does something else, as those of `ffi_callback()` do by default.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs `work` of that run on R's thread, where R's jumps end, and waits for it; why it did not come to its end.
pub fn on_r(run_id: Option<i64>, work: Work<'_>) -> Result<(), String> {
    const LEFT: &str = "was left by an error of R\u{2019}s, or interrupted";
    if main_thread::is_here() {
        return match run(work) {
            true => Ok(()),
            false => Err(LEFT.to_owned()),
        };
    }
    struct Sent(*mut (dyn FnMut() + Send));
    // SAFETY: the work may be sent, and one thread at a time has it.
    unsafe impl Send for Sent {}
    // SAFETY: what `ask` is given is run or dropped before it returns, so the work outlives its use.
    let sent = Sent(unsafe {
        std::mem::transmute::<*mut (dyn FnMut() + Send), *mut (dyn FnMut() + Send + 'static)>(work)
    });
    let patience = Patience {
        cancelled: abandoned(run_id),
        limit: Some(LIMIT),
    };
    let asked = move || {
        let sent = sent;
        // SAFETY: as above.
        run(unsafe { &mut *sent.0 })
    };
    match main_thread::ask(asked, &patience) {
        Ok(true) => Ok(()),
        Ok(false) | Err(Refusal::Left) => Err(LEFT.to_owned()),
        Err(Refusal::Cancelled) => {
            Err("was not called: R waits for the program no more".to_owned())
        }
        Err(Refusal::Closed) => Err("was not called: R ended, or xlaffi was unloaded".to_owned()),
        Err(Refusal::Alone(limit)) => Err(format!(
            "was not called: R did not come for {} s, as it is busy",
            limit.as_secs()
        )),
    }
}

/// Whether it came to its end, on R's thread.
fn run(work: Work<'_>) -> bool {
    let work: *mut (dyn FnMut() + Send) = work;
    // SAFETY: the work is C's, and owns nothing of ours: a jump leaves nothing behind.
    contained(|| unsafe { protect(|| (*work)()) })
}
