//! R at an idle prompt, or asleep, serves too: R's event loop is told by a pipe. Elsewhere than on
//! Unix R has no such loop, and what is asked for waits for R's next wait.

#[cfg(not(unix))]
pub fn watch() {}

#[cfg(not(unix))]
pub fn ring() {}

#[cfg(unix)]
pub use unix::{ring, watch};

#[cfg(unix)]
mod unix {
    use std::ffi::{c_int, c_void};
    use std::ptr::{addr_of_mut, null_mut};
    use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};
    use std::sync::Once;

    use crate::runtime::serve::serve_waiting;

    /// R_ext/eventloop.h.
    #[repr(C)]
    struct InputHandler {
        _private: [u8; 0],
    }

    extern "C-unwind" {
        static mut R_InputHandlers: *mut InputHandler;
        fn addInputHandler(
            handlers: *mut InputHandler,
            file: c_int,
            handler: extern "C-unwind" fn(*mut c_void),
            activity: c_int,
        ) -> *mut InputHandler;
        fn removeInputHandler(
            handlers: *mut *mut InputHandler,
            handler: *mut InputHandler,
        ) -> c_int;
    }

    /// Any number that R and other packages do not use.
    const ACTIVITY: c_int = 0x7866;

    /// Where the bell's rope is, and where R listens; -1 before there is one.
    static ROPE: AtomicI32 = AtomicI32::new(-1);
    static EAR: AtomicI32 = AtomicI32::new(-1);
    /// The entry in R's list, which R takes out only if told to.
    static ENTRY: AtomicPtr<InputHandler> = AtomicPtr::new(null_mut());
    /// A byte is in the pipe.
    static RUNG: AtomicBool = AtomicBool::new(false);

    /// Has R's event loop serve.
    pub fn watch() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let mut ends = [-1; 2];
            // SAFETY: room for the two ends. Both are closed where another program is started, and
            // never block. R's thread, which alone changes R's list.
            unsafe {
                if libc::pipe(ends.as_mut_ptr()) != 0 {
                    return;
                }
                for end in ends {
                    libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC);
                    libc::fcntl(end, libc::F_SETFL, libc::O_NONBLOCK);
                }
                EAR.store(ends[0], Ordering::Relaxed);
                ROPE.store(ends[1], Ordering::Release);
                let entry = addInputHandler(R_InputHandlers, ends[0], listen, ACTIVITY);
                ENTRY.store(entry, Ordering::Relaxed);
            }
        });
    }

    /// Tells R's event loop, from any thread.
    pub fn ring() {
        let rope = ROPE.load(Ordering::Acquire);
        if rope >= 0 && !RUNG.swap(true, Ordering::AcqRel) {
            // SAFETY: one byte. Where the pipe takes none, it has some.
            unsafe { libc::write(rope, [1u8].as_ptr().cast(), 1) };
        }
    }

    extern "C-unwind" fn listen(_data: *mut c_void) {
        if fork::is_child() {
            // The pipe is the parent's.
            let entry = ENTRY.load(Ordering::Relaxed);
            // SAFETY: R's thread. R looks for the entry in its list before it frees it, and its
            // event loop goes on behind a handler that is gone.
            unsafe { removeInputHandler(addr_of_mut!(R_InputHandlers), entry) };
            return;
        }
        RUNG.store(false, Ordering::Release);
        let ear = EAR.load(Ordering::Relaxed);
        let mut bytes = [0u8; 16];
        // SAFETY: room for so many bytes; the end never blocks.
        unsafe { libc::read(ear, bytes.as_mut_ptr().cast(), bytes.len()) };
        serve_waiting();
    }
}
