//! Where printed text goes: to the host that asked for it, else to standard output.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::spill::Spill;

/// How a host shows text at once, where it can.
#[derive(Clone, Copy)]
pub struct Console {
    /// Whether this thread may show text.
    pub is_here: fn() -> bool,
    /// Shows a text on such a thread; false where that failed. Handlers may be called meanwhile.
    pub show: fn(&str) -> bool,
}

struct Sink {
    queued: bool,
    console: Option<Console>,
    texts: Vec<String>,
    /// Bytes of `texts`.
    held: usize,
    /// Younger than all `texts`.
    spill: Spill,
}

static SINK: Mutex<Sink> = Mutex::new(Sink {
    queued: false,
    console: None,
    texts: Vec::new(),
    held: 0,
    spill: Spill::new(),
});

/// Bytes kept in memory. What a host has not taken by then goes to a file: it may be waiting for
/// the very program that prints, so that the handler must not wait for the host.
const KEPT: usize = 1 << 20;

impl Sink {
    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.spill.is_empty()
    }

    fn push(&mut self, text: String) -> io::Result<()> {
        if self.held >= KEPT || !self.spill.is_empty() {
            return self.spill.push(&text);
        }
        self.held += text.len();
        self.texts.push(text);
        Ok(())
    }

    fn take(&mut self) -> Vec<String> {
        self.held = 0;
        let mut texts = std::mem::take(&mut self.texts);
        let mut bytes: usize = texts.iter().map(String::len).sum();
        while bytes < KEPT {
            match self.spill.pop() {
                Ok(Some(text)) => {
                    bytes += text.len();
                    texts.push(text);
                }
                Ok(None) => break,
                Err(error) => {
                    self.spill = Spill::new();
                    texts.push(format!("(printed text is lost: {error})\n"));
                }
            }
        }
        texts
    }
}

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

/// Asks that text which is printed where a host can show it be shown there, behind what waits.
pub fn show_on(console: Option<Console>) {
    sink().console = console;
}

/// Takes queued texts, oldest first; each is the whole output of one call and ends in a newline.
/// About a megabyte of them: there may be more until this gives none. Nothing is dropped, however
/// late the host comes for it.
pub fn drain() -> Vec<String> {
    sink().take()
}

/// Whether texts wait to be taken.
pub fn is_waiting() -> bool {
    !sink().is_empty()
}

/// Hands over the whole text of one call. To standard output the lock is held over the write, so
/// the outputs of calls that run at once do not mix.
pub(crate) fn emit(text: String) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut sink = sink();
    if !sink.queued {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        return out.flush();
    }
    let here = sink.console.filter(|console| (console.is_here)());
    sink.push(text)?;
    drop(sink);
    match here {
        // Without the lock, since showing may run other handlers.
        Some(console) => show_all(console),
        None => Ok(()),
    }
}

fn show_all(console: Console) -> io::Result<()> {
    loop {
        let texts = drain();
        if texts.is_empty() {
            return Ok(());
        }
        if !texts.iter().all(|text| (console.show)(text)) {
            return Err(io::Error::other("the console takes no text"));
        }
    }
}
