//! Signals that R and its packages answer by functions for R's thread alone. The system gives a signal to whatever thread
//! does not block it, so threads of ours, of XLA's and of Python's are started with these blocked: R's package `parallel`
//! changes its list of children while it blocks SIGCHLD on R's thread, and its answer reads that list.

#[cfg(unix)]
mod platform {
    use std::marker::PhantomData;
    use std::mem::zeroed;
    use std::ptr::null_mut;

    /// SIGINT is not among them: R's answer only notes it, and a client may take long to start.
    const SIGNALS: [libc::c_int; 6] = [
        libc::SIGALRM,
        libc::SIGCHLD,
        libc::SIGHUP,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGWINCH,
    ];

    fn block() -> libc::sigset_t {
        // SAFETY: sets that are made empty before they are used, and one that the last function fills in.
        unsafe {
            let (mut set, mut before) = (zeroed(), zeroed());
            libc::sigemptyset(&mut set);
            for signal in SIGNALS {
                libc::sigaddset(&mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before);
            before
        }
    }

    /// From now on this thread, which is not R's, and those that it starts have nothing to do with such signals.
    pub fn leave_signals() {
        block();
    }

    /// As long as this lives, threads that its thread starts have nothing to do with such signals. What comes meanwhile for
    /// the thread itself comes at the end.
    pub struct SignalsLater {
        before: libc::sigset_t,
        of_thread: PhantomData<*const ()>,
    }

    impl Default for SignalsLater {
        fn default() -> Self {
            Self {
                before: block(),
                of_thread: PhantomData,
            }
        }
    }

    impl Drop for SignalsLater {
        fn drop(&mut self) {
            // SAFETY: the set that this thread had, as it cannot leave the thread.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, null_mut()) };
        }
    }
}

#[cfg(not(unix))]
mod platform {
    /// There are no such signals.
    pub fn leave_signals() {}

    /// There are no such signals.
    #[derive(Default)]
    pub struct SignalsLater(());
}

pub use platform::{leave_signals, SignalsLater};
