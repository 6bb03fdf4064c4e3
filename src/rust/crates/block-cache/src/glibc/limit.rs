//! How much may be kept.

use std::fs::read_to_string;

/// The part of what this process may have.
const PART: u64 = 8;

/// Bytes that may be kept: what `XLAFFI_KEEP_MEMORY` says, in megabytes (what is no number is none), or else an eighth of
/// the memory of the machine, or of what the process or its container is allowed.
pub fn limit() -> usize {
    let bytes = match std::env::var("XLAFFI_KEEP_MEMORY") {
        Ok(text) => text.trim().parse().unwrap_or(0u64).saturating_mul(1 << 20),
        Err(_) => allowed() / PART,
    };
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn allowed() -> u64 {
    let mut limits = vec![of_machine(), of_process()];
    // Of a container, as it sees it itself; "max" is no limit.
    for file in [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ] {
        limits.extend(
            read_to_string(file)
                .ok()
                .and_then(|text| text.trim().parse::<u64>().ok()),
        );
    }
    limits.into_iter().min().unwrap_or(0)
}

fn of_machine() -> u64 {
    // SAFETY: a question with an answer for each name; -1 where there is none.
    let (pages, size) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    (pages.max(0) as u64).saturating_mul(size.max(0) as u64)
}

fn of_process() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: it fills in the struct, or leaves it as it is: then nothing is kept.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    limit.rlim_cur
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_allowed_is_no_more_than_the_machine_has() {
        assert!(super::allowed() > 0);
        assert!(super::allowed() <= super::of_machine());
    }
}
