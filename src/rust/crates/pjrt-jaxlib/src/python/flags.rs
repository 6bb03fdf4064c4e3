//! XLA's flags, which it reads once.

use std::env::VarError;
use std::sync::atomic::{AtomicU64, Ordering};

static COLLECTIVE: AtomicU64 = AtomicU64::new(0);

/// How many seconds collectives shall wait for other processes.
pub(crate) fn set_collective_seconds(seconds: u64) {
    COLLECTIVE.store(seconds, Ordering::Relaxed);
}

/// That number, where it has been told.
pub(crate) fn collective_seconds() -> Option<u64> {
    Some(COLLECTIVE.load(Ordering::Relaxed)).filter(|seconds| *seconds > 0)
}

pub(super) const FLAGS: &str = "XLA_FLAGS";

/// XLA's flags as the user has set them, and three more. Where a device of a program has been waiting for another one for a
/// minute, in a collective, XLA ends the process; that may be a device whose R functions take their time. And how long it
/// waits for another process is what the mesh was made with: XLA looks at that flag only here, not when it compiles.
pub(super) fn flags() -> Option<String> {
    const PATIENCE: &str = "--xla_cpu_collective_call_terminate_timeout_seconds";
    const COLLECTIVE: &str = "--xla_cpu_collective_timeout_seconds";
    let flags = match std::env::var(FLAGS) {
        Ok(flags) => flags,
        Err(VarError::NotPresent) => String::new(),
        Err(VarError::NotUnicode(_)) => return None,
    };
    // Other text is the name of a file with flags.
    if !flags.is_empty() && !flags.starts_with('-') {
        return None;
    }
    // Loops of up to so many bytes a turn are one piece of machine code. A step of a sampler in 100 dimensions takes 1.2 us
    // so, and 3.5 us with 64 kB; one of a logistic regression of 1,000 x 25 8.8 us instead of 13.
    const LOOPS: &str = "xla_cpu_small_while_loop_byte_threshold=1048576";
    let mut more = vec![
        (PATIENCE, "-1".to_owned()),
        ("--xla_backend_extra_options", LOOPS.to_owned()),
    ];
    if let Some(seconds) = collective_seconds() {
        more.push((COLLECTIVE, seconds.to_string()));
    }
    more.retain(|(flag, _)| !flags.contains(flag));
    let more = more.iter().map(|(flag, value)| format!("{flag}={value}"));
    let all: Vec<String> = std::iter::once(flags.clone()).chain(more).collect();
    (all.len() > 1).then(|| all.join(" "))
}
