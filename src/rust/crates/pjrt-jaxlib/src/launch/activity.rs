//! Whether devices do anything. A thread that waits for another device uses no time at all; one that computes does, or stands in
//! line for a processor or for memory, however slow the machine is.

use std::time::Duration;

/// What the threads that may compute for a device have done so far.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Activity {
    used: Option<Duration>,
}

impl Activity {
    pub fn now() -> Self {
        Self {
            used: platform::used(),
        }
    }

    /// Whether nothing was done since then, which is so long ago.
    pub fn is_none_since(&self, before: &Self, ago: Duration) -> bool {
        match (self.used, before.used) {
            (Some(now), Some(then)) => now.saturating_sub(then) <= ago.mul_f64(platform::OTHERS),
            _ => false,
        }
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use super::super::launcher::THREAD;
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    /// How the names of this package's threads begin.
    const OWN: &str = "xlaffi";

    /// What threads of others may use, of the time that goes by.
    pub const OTHERS: f64 = 0.01;

    /// The time that threads have used; `None` where one of them is running, or would if it could. The threads of XLA's on
    /// which devices compute have no name of their own: so all count but the main one and those of this package, of which only
    /// the one that launches calls XLA for several devices.
    pub fn used() -> Option<Duration> {
        let mut used = Duration::ZERO;
        let main = std::process::id().to_string();
        for task in fs::read_dir("/proc/self/task").ok()? {
            let task = task.ok()?;
            // It may have ended meanwhile.
            let Ok(name) = fs::read_to_string(task.path().join("comm")) else {
                continue;
            };
            let is_own = name.starts_with(OWN) && name.trim_end() != THREAD;
            if !is_own && task.file_name() != *main {
                used += of_waiting(&task.path())?;
            }
        }
        Some(used)
    }

    fn of_waiting(task: &Path) -> Option<Duration> {
        let Ok(stat) = fs::read_to_string(task.join("stat")) else {
            return Some(Duration::ZERO);
        };
        // Behind the name, in parentheses.
        let state = stat.rsplit(')').next()?.trim_start();
        if !state.starts_with('S') {
            return None;
        }
        let times = fs::read_to_string(task.join("schedstat")).unwrap_or_default();
        let nanoseconds = times.split(' ').next().and_then(|time| time.parse().ok());
        Some(Duration::from_nanos(nanoseconds.unwrap_or(0)))
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod platform {
    use std::mem::MaybeUninit;
    use std::time::Duration;

    /// What the rest of the process may use, of the time that goes by.
    pub const OTHERS: f64 = 0.02;

    pub fn used() -> Option<Duration> {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the struct that the function fills in.
        let usage = unsafe {
            (libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) == 0)
                .then(|| usage.assume_init())?
        };
        let time = |t: libc::timeval| {
            Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64)
        };
        Some(time(usage.ru_utime) + time(usage.ru_stime))
    }
}

#[cfg(not(unix))]
mod platform {
    use std::time::Duration;

    pub const OTHERS: f64 = 0.0;

    /// Nobody can tell.
    pub fn used() -> Option<Duration> {
        None
    }
}
