//! SIGPIPE, which a thread gets that writes to a connection that the other side has closed. Gloo does so with plain `write`,
//! and what the signal does is the host's affair: R raises an error by a jump, on whichever thread it is. So XLA's threads
//! are started with the signal blocked, and while there is a mesh a function of ours answers it: on the main thread, where R
//! itself may write to a pipe, it passes it on to what was there before; on any other it does nothing, and the write fails
//! with `EPIPE`. The signal is not ignored instead: programs that R starts would inherit that.

#[cfg(unix)]
pub(super) use platform::{answer, block, restore, Blocked};

#[cfg(unix)]
mod platform {
    use libc::{c_int, c_void, sigaction, siginfo_t, sigset_t, SIGPIPE};
    use std::mem::{transmute, zeroed};
    use std::ptr::{null, null_mut};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Mutex, PoisonError};

    type Handler = unsafe extern "C" fn(c_int);
    type InfoHandler = unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

    /// What was there before.
    static BEFORE: Mutex<Option<sigaction>> = Mutex::new(None);
    /// The same, for a signal handler, which must not wait for a lock.
    static PASS_TO: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
    static TAKES_INFO: AtomicBool = AtomicBool::new(false);

    /// Answers the signal from now on, also where another answer has come since: R's sets itself again. One that ignores
    /// the signal is left.
    pub fn answer() {
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        let now = current();
        if now.sa_sigaction == own() || now.sa_sigaction == libc::SIG_IGN {
            return;
        }
        TAKES_INFO.store(now.sa_flags & libc::SA_SIGINFO != 0, Ordering::Release);
        PASS_TO.store(now.sa_sigaction, Ordering::Release);
        let mut ours = now;
        ours.sa_sigaction = own();
        ours.sa_flags |= libc::SA_SIGINFO | libc::SA_RESTART;
        // SAFETY: a function for signals, and what was there.
        unsafe { sigaction(SIGPIPE, &ours, null_mut()) };
        *before = Some(now);
    }

    /// Answers it no more.
    pub fn restore() {
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = before.take().filter(|_| current().sa_sigaction == own()) {
            // SAFETY: what the system has told.
            unsafe { sigaction(SIGPIPE, &before, null_mut()) };
        }
    }

    fn own() -> usize {
        on_signal as InfoHandler as usize
    }

    fn current() -> sigaction {
        // SAFETY: the struct that the function fills in.
        unsafe {
            let mut now = zeroed();
            sigaction(SIGPIPE, null(), &mut now);
            now
        }
    }

    /// Only what may be called in a signal handler: loads, and system calls.
    unsafe extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        if !is_main() {
            return;
        }
        match PASS_TO.load(Ordering::Acquire) {
            libc::SIG_IGN => {}
            // SAFETY: the system's own answer, which ends the process, comes when this function returns.
            libc::SIG_DFL => unsafe {
                let mut default: sigaction = zeroed();
                default.sa_sigaction = libc::SIG_DFL;
                sigaction(SIGPIPE, &default, null_mut());
                libc::raise(SIGPIPE);
            },
            // SAFETY: what was there before, called as it asked for.
            handler if TAKES_INFO.load(Ordering::Acquire) => unsafe {
                transmute::<usize, InfoHandler>(handler)(signal, info, context);
            },
            // SAFETY: as above.
            handler => unsafe { transmute::<usize, Handler>(handler)(signal) },
        }
    }

    /// Whether this is the main thread, or the only one of a forked child.
    #[cfg(target_os = "linux")]
    fn is_main() -> bool {
        // SAFETY: system calls that do nothing but tell.
        unsafe { libc::syscall(libc::SYS_gettid) == libc::c_long::from(libc::getpid()) }
    }

    #[cfg(not(target_os = "linux"))]
    fn is_main() -> bool {
        // SAFETY: as it says.
        unsafe { libc::pthread_main_np() != 0 }
    }

    fn pipe() -> sigset_t {
        // SAFETY: a set that is made empty before it is used.
        unsafe {
            let mut set = zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, SIGPIPE);
            set
        }
    }

    /// Blocks the signal for this thread, and for those that it starts.
    pub fn block() {
        std::mem::forget(Blocked::new());
    }

    /// As long as this lives, the signal is blocked for its thread, and for those that it starts.
    pub struct Blocked {
        before: sigset_t,
        was_pending: bool,
    }

    impl Blocked {
        pub fn new() -> Self {
            // SAFETY: sets that the functions read, or fill in, here and below.
            unsafe {
                let mut before = zeroed();
                libc::pthread_sigmask(libc::SIG_BLOCK, &pipe(), &mut before);
                Self {
                    before,
                    was_pending: is_pending(),
                }
            }
        }
    }

    impl Drop for Blocked {
        fn drop(&mut self) {
            // SAFETY: as above. What has come meanwhile is taken back, so that it does not come now.
            unsafe {
                if !self.was_pending && is_pending() {
                    let mut signal = 0;
                    libc::sigwait(&pipe(), &mut signal);
                }
                libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, null_mut());
            }
        }
    }

    fn is_pending() -> bool {
        // SAFETY: as above.
        unsafe {
            let mut pending = zeroed();
            libc::sigpending(&mut pending);
            libc::sigismember(&pending, SIGPIPE) == 1
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::io::ErrorKind;
        use std::os::unix::net::UnixStream;

        static SEEN: AtomicUsize = AtomicUsize::new(0);

        unsafe extern "C" fn count(_signal: c_int) {
            SEEN.fetch_add(1, Ordering::Relaxed);
        }

        /// Writes as gloo does.
        fn write_to_nobody() -> ErrorKind {
            use std::os::fd::AsRawFd;
            let (here, there) = UnixStream::pair().unwrap();
            drop(there);
            // SAFETY: a descriptor that is open, and a byte.
            let written = unsafe { libc::write(here.as_raw_fd(), [0u8].as_ptr().cast(), 1) };
            assert_eq!(written, -1);
            std::io::Error::last_os_error().kind()
        }

        // One test: the action is the process's. Tests do not run on the main thread.
        #[test]
        fn other_threads_than_the_main_one_get_an_error_from_a_write() {
            // SAFETY: an action of this test's.
            let began = unsafe {
                let mut counts: sigaction = zeroed();
                counts.sa_sigaction = count as Handler as usize;
                let mut began = zeroed();
                sigaction(SIGPIPE, &counts, &mut began);
                began
            };
            assert_eq!(write_to_nobody(), ErrorKind::BrokenPipe);
            assert_eq!(SEEN.load(Ordering::Relaxed), 1);
            answer();
            assert_eq!(write_to_nobody(), ErrorKind::BrokenPipe);
            assert_eq!(SEEN.load(Ordering::Relaxed), 1);
            restore();
            assert_eq!(write_to_nobody(), ErrorKind::BrokenPipe);
            assert_eq!(SEEN.load(Ordering::Relaxed), 2);
            let blocked = Blocked::new();
            assert_eq!(write_to_nobody(), ErrorKind::BrokenPipe);
            drop(blocked);
            assert_eq!(SEEN.load(Ordering::Relaxed), 2);
            // Passed on to what was there, as on the main thread.
            let forked = in_a_child(|| {
                answer();
                write_to_nobody();
                SEEN.load(Ordering::Relaxed) as c_int
            });
            assert_eq!(forked, 3);
            // SAFETY: what the system has told.
            unsafe { sigaction(SIGPIPE, &began, null_mut()) };
        }

        /// What it gives in a child, whose only thread is its main one.
        fn in_a_child(work: impl FnOnce() -> c_int) -> c_int {
            // SAFETY: the child makes system calls, and ends at once.
            unsafe {
                match libc::fork() {
                    0 => libc::_exit(work()),
                    child => {
                        let mut status = 0;
                        assert_eq!(libc::waitpid(child, &mut status, 0), child);
                        libc::WEXITSTATUS(status)
                    }
                }
            }
        }
    }
}

/// Where there is no such signal there are no meshes either.
#[cfg(not(unix))]
mod platform {
    pub fn answer() {}
    pub fn restore() {}
    pub fn block() {}
    pub struct Blocked;
    impl Blocked {
        pub fn new() -> Self {
            Self
        }
    }
}

#[cfg(not(unix))]
pub(super) use platform::{answer, block, restore, Blocked};
