//! What print_tensor writes: where R shows it.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int};

use ops::print::Console;

use crate::entry::routines;
use crate::value::Value;

extern "C-unwind" {
    fn xlaffi_show(text: *const c_char, length: usize) -> c_int;
}

thread_local! {
    static SHOWING: Cell<bool> = const { Cell::new(false) };
    static LATER: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
}

/// Text waits for R's thread, unless that runs the handler itself, as under another host it may:
/// then it is shown at once.
pub fn take_charge() {
    main_thread::claim(crate::callback::ring);
    ops::print::queue_output(true);
    ops::print::show_on(Some(Console {
        is_here: main_thread::is_here,
        show,
    }));
}

fn show(text: &str) -> bool {
    SHOWING.set(true);
    // SAFETY: R's thread, as `is_here` says; the text is that long. An error of R's (a connection
    // that takes no more) ends in C.
    let shown = unsafe { xlaffi_show(text.as_ptr().cast(), text.len()) };
    SHOWING.set(false);
    shown != 0
}

/// Frees what R has collected: later, where R is showing text of a program under way, whose locks
/// the plugin may hold.
pub fn free(value: impl FnOnce() + 'static) {
    if SHOWING.get() {
        return LATER.with_borrow_mut(|later| later.push(Box::new(value)));
    }
    value();
    for value in LATER.take() {
        value();
    }
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
