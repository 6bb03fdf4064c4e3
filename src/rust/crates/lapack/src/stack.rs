//! Space on the stack. OpenBLAS's threaded factorisations recurse with half a megabyte per level
//! and no stack probes: on a thread with a small stack (2 MiB under `ulimit -s unlimited`) they
//! run past the guard page and overwrite other memory without a word.

use crate::error::{Error, Result};

/// What the deepest recursion takes (7 levels), with a margin.
const NEEDED: usize = 5 << 20;

/// The stack of a thread of ours; only what is touched becomes memory.
const OURS: usize = 16 << 20;

/// Runs `f` with enough stack: on this thread if it has that much left, else on one of its own.
///
/// # Errors
/// `f`'s, or no thread could be started.
pub fn with_stack<R: Send>(f: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let marker = 0_u8;
    let here = std::ptr::from_ref(&marker) as usize;
    if here.saturating_sub(limit()) >= NEEDED {
        return f();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("xlaffi-lapack".to_owned())
            .stack_size(OURS)
            .spawn_scoped(scope, f)
            .map_err(Error::NoThread)?;
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The lowest address that this thread's stack may grow to; 0, "far away", where the system does
/// not tell or its LAPACK is not OpenBLAS by custom.
#[cfg(not(target_os = "linux"))]
fn limit() -> usize {
    0
}

#[cfg(target_os = "linux")]
fn limit() -> usize {
    // On a process's first thread the C library reads a file to answer.
    thread_local!(static LIMIT: usize = linux::stack_limit());
    LIMIT.try_with(|&limit| limit).unwrap_or(0)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;

    /// The lowest address of this thread's stack, 0 if the C library does not tell.
    pub(super) fn stack_limit() -> usize {
        let mut attributes = MaybeUninit::uninit();
        let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
        // SAFETY: the calling thread is alive, `attributes` is read and destroyed only after the C
        // library filled it, and the outputs are ours.
        unsafe {
            if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
                return 0;
            }
            let attributes = attributes.as_mut_ptr();
            let failed = libc::pthread_attr_getstack(attributes, &mut lowest, &mut size) != 0;
            libc::pthread_attr_destroy(attributes);
            if failed {
                return 0;
            }
        }
        lowest as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::{current, Builder};

    /// Runs `f` on a thread with that much stack, or more: the C library may reuse a larger one.
    fn on_stack_of<R: Send + 'static>(bytes: usize, f: fn() -> R) -> std::thread::Result<R> {
        let thread = Builder::new().stack_size(bytes).spawn(f);
        thread.expect("a thread can be started").join()
    }

    #[test]
    fn a_large_stack_is_used_as_it_is() {
        let stayed = on_stack_of(8 << 20, || {
            let outer = current().id();
            with_stack(|| Ok(current().id() == outer))
        });
        assert!(matches!(stayed.expect("no panic"), Ok(true)));
    }

    /// Writes to `depth` frames of 16 KiB.
    #[cfg(target_os = "linux")]
    fn dig(depth: usize) -> usize {
        let frame = std::hint::black_box([depth as u8; 16 << 10]);
        let below = if depth == 0 { 0 } else { dig(depth - 1) };
        below + usize::from(frame[depth] == depth as u8)
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn on_a_small_stack_there_is_room_all_the_same() {
        let depth = NEEDED / (16 << 10) - 32;
        let dug = on_stack_of(256 << 10, || {
            with_stack(|| Ok(dig(NEEDED / (16 << 10) - 32)))
        });
        assert_eq!(dug.expect("no panic").expect("room"), depth + 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_panic_comes_back_to_the_caller() {
        let outcome = on_stack_of(256 << 10, || with_stack::<()>(|| panic!("on purpose")));
        let panic = outcome.expect_err("a panic");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
    }
}
