//! What print_tensor writes: where R shows it.

use std::ffi::{c_char, c_int};

use ops::print::Console;

use crate::r::entry::routines;
use crate::r::finalizer::{deferred, free};
use crate::r::value::Value;
use crate::runtime::idle::ring;

extern "C-unwind" {
    fn xlaffi_show(text: *const c_char, length: usize) -> c_int;
}

/// Text waits for R's thread, unless that runs the handler itself, as under another host it may:
/// then it is shown at once.
pub fn take_charge() {
    main_thread::claim(ring);
    ops::print::queue_output(true);
    ops::print::show_on(Some(Console {
        is_here: main_thread::is_here,
        show,
    }));
}

fn show(text: &str) -> bool {
    // SAFETY: R's thread, as `is_here` says; the text is that long. An error of R's (a connection
    // that takes no more) ends in C.
    let shown = deferred(|| unsafe { xlaffi_show(text.as_ptr().cast(), text.len()) });
    shown != 0
}

routines! {
    // Texts printed since the last call, in order; NULL where there are none (any more).
    fn printed() {
        free(|| ());
        let texts = ops::print::drain();
        Ok(match texts.is_empty() {
            true => Value::Null,
            false => Value::from(texts),
        })
    }
}
