//! Large blocks of memory that a library has freed, kept a moment for its next allocations.
//!
//! XLA takes memory for results and temporaries from the C library by `posix_memalign()`, at each run of a program, and
//! gives it back afterwards. glibc returns large blocks to the system, which gives them out again a page at a time, filled
//! with zeros: a program over long vectors waits for that as long as it computes. XLA has no option for another
//! allocator. So the entries for `posix_memalign()` and `free()` in the library's global offset table are replaced
//! ([`attach`]), as a linker does where a program brings an allocator of its own.
//!
//! What is kept are blocks of the C library as they are, so it does not matter who frees them. They go back to the system
//! after two seconds in which nobody took them, where memory is short ([`give_back`]), and beyond an eighth of what this
//! process may have. The variable `XLAFFI_KEEP_MEMORY` of the environment says how many megabytes they may be; 0: none.
//!
//! On Linux with glibc; elsewhere nothing is kept.

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#[path = "glibc/mod.rs"]
mod platform;

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
mod platform {
    /// Nothing is kept on this system.
    pub fn attach(_is_meant: impl Fn(&str) -> bool) {}

    /// Nothing is kept on this system.
    pub fn give_back() -> bool {
        false
    }
}

pub use platform::{attach, give_back};
