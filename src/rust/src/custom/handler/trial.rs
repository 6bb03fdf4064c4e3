//! Calls a function of which nobody knows whether it is a handler, in a child process that may die
//! of it.

use xla_ffi::HandlerFn;

/// What came of it.
#[cfg_attr(not(unix), allow(dead_code))]
pub enum Trial {
    /// It answered XLA's question for its version.
    Answered,
    /// It returned and had not answered.
    Silent,
    /// It ended the child.
    Crashed,
    /// It did not return.
    Hung,
    /// The system has no children, or does not tell what became of them.
    Impossible,
}

#[cfg(not(unix))]
pub fn of(_handler: HandlerFn) -> Trial {
    Trial::Impossible
}

#[cfg(unix)]
pub use unix::of;

#[cfg(unix)]
mod unix {
    use std::ffi::{c_int, c_void};
    use std::io::Error;
    use std::ptr;

    use super::*;
    use crate::custom::handler::barrier::BARRIER;

    const ANSWERED: c_int = 0;
    const SILENT: c_int = 1;
    const LEFT: c_int = 2;
    /// A handler answers in less than a microsecond.
    const SECONDS: u32 = 3;

    extern "C-unwind" {
        /// Of R: runs a function, and comes back where it raises an R error.
        fn R_ToplevelExec(body: extern "C-unwind" fn(*mut c_void), data: *mut c_void) -> c_int;
    }

    pub fn of(handler: HandlerFn) -> Trial {
        // SAFETY: the child does nothing but `try_out`, and never returns from here.
        let child = unsafe { libc::fork() };
        match child {
            -1 => Trial::Impossible,
            0 => try_out(handler),
            _ => outcome(child),
        }
    }

    fn outcome(child: libc::pid_t) -> Trial {
        let mut status = 0;
        loop {
            // SAFETY: a child of ours, and a place for its status.
            if unsafe { libc::waitpid(child, &mut status, 0) } == child {
                break;
            }
            if Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
                return Trial::Impossible;
            }
        }
        if libc::WIFSIGNALED(status) {
            return match libc::WTERMSIG(status) {
                libc::SIGALRM => Trial::Hung,
                _ => Trial::Crashed,
            };
        }
        match libc::WEXITSTATUS(status) {
            ANSWERED => Trial::Answered,
            SILENT => Trial::Silent,
            _ => Trial::Crashed,
        }
    }

    /// In the child: R's own handlers of signals are not for it, nor is anything it writes.
    fn try_out(handler: HandlerFn) -> ! {
        // SAFETY: the only thread of this process; plain system calls, and `R_ToplevelExec` because
        // the function may raise an R error, which must not bring the child back to R's prompt.
        unsafe {
            for signal in [
                libc::SIGSEGV,
                libc::SIGBUS,
                libc::SIGILL,
                libc::SIGFPE,
                libc::SIGABRT,
                libc::SIGALRM,
                libc::SIGINT,
            ] {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut all = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::sigprocmask(libc::SIG_UNBLOCK, &all, ptr::null_mut());
            let no_core = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            libc::setrlimit(libc::RLIMIT_CORE, &no_core);
            let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
            for stream in 0..3 {
                libc::dup2(nowhere, stream);
            }
            libc::alarm(SECONDS);
            let mut handler = handler;
            R_ToplevelExec(ask, ptr::addr_of_mut!(handler).cast());
            libc::_exit(LEFT)
        }
    }

    extern "C-unwind" fn ask(handler: *mut c_void) {
        // SAFETY: `try_out`'s; that it is a handler is what is tried.
        unsafe {
            let handler = *handler.cast::<HandlerFn>();
            let answer = xla_ffi::registry::metadata_behind(&BARRIER, handler);
            let silent = answer == xla_ffi::Answer::Silence;
            libc::_exit(if silent { SILENT } else { ANSWERED })
        }
    }
}
