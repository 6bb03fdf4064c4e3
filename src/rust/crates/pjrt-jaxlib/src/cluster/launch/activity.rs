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

    /// In what the kernel tells times of.
    const TICK: Duration = Duration::from_millis(10);

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
        time_if_waiting(&stat, fs::read_to_string(task.join("schedstat")).ok())
    }

    /// A kernel may keep no `schedstat`, or only zeros there: `stat` has the same, less finely.
    fn time_if_waiting(stat: &str, schedstat: Option<String>) -> Option<Duration> {
        // Behind the name, in parentheses: the state, ten other fields, and the time as user and in the kernel.
        let mut fields = stat.rsplit(')').next()?.split_ascii_whitespace();
        if fields.next()? != "S" {
            return None;
        }
        let mut times = fields
            .skip(10)
            .map(|ticks| Some(TICK * ticks.parse::<u32>().ok()?));
        let ticks = times.next()?? + times.next()??;
        let nanoseconds = schedstat.and_then(|times| times.split(' ').next()?.parse().ok());
        Some(ticks.max(Duration::from_nanos(nanoseconds.unwrap_or(0))))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn times_of_waiting_threads_are_read() {
            let stat = |state| format!("7 (a) b) {state} 1 7 7 0 -1 64 0 0 0 0 12 3 0 0 20 0 9");
            let of = |state, schedstat: Option<&str>| {
                time_if_waiting(&stat(state), schedstat.map(str::to_owned))
            };
            let ticks = Some(Duration::from_millis(150));
            assert_eq!(
                of("S", Some("153000000 7 1\n")),
                Some(Duration::from_millis(153))
            );
            assert_eq!(of("S", Some("0 0 0\n")), ticks);
            assert_eq!(of("S", None), ticks);
            assert_eq!(of("R", None), None);
            assert_eq!(time_if_waiting("7 (a) S 1", Some("5 0 0".to_owned())), None);
        }

        #[test]
        fn the_kernel_tells_of_this_thread() {
            let tell =
                |file| fs::read_to_string(Path::new("/proc/thread-self").join(file)).unwrap();
            let stat = tell("stat").replace(") R ", ") S ");
            assert!(time_if_waiting(&stat, None).is_some());
        }
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

#[cfg(windows)]
mod platform {
    use std::ffi::c_void;
    use std::mem::MaybeUninit;
    use std::time::Duration;

    /// What the rest of the process may use, of the time that goes by.
    pub const OTHERS: f64 = 0.02;

    /// `FILETIME`: units of 100 ns, the lower half first.
    #[repr(C)]
    struct FileTime([u32; 2]);

    impl FileTime {
        fn duration(&self) -> Duration {
            let units = u64::from(self.0[1]) << 32 | u64::from(self.0[0]);
            Duration::from_nanos(units.saturating_mul(100))
        }
    }

    #[link(name = "kernel32")]
    extern "system" {
        fn GetCurrentProcess() -> *mut c_void;
        fn GetProcessTimes(
            process: *mut c_void,
            creation: *mut FileTime,
            exit: *mut FileTime,
            kernel: *mut FileTime,
            user: *mut FileTime,
        ) -> i32;
    }

    pub fn used() -> Option<Duration> {
        let mut times = [const { MaybeUninit::<FileTime>::zeroed() }; 4];
        let [creation, exit, kernel, user] = times.each_mut().map(MaybeUninit::as_mut_ptr);
        // SAFETY: the handle of this process needs no closing; the four structs are the function's to fill in, and all
        // zeros is one.
        let [_, _, kernel, user] = unsafe {
            (GetProcessTimes(GetCurrentProcess(), creation, exit, kernel, user) != 0)
                .then(|| times.map(|time| time.assume_init()))?
        };
        Some(kernel.duration() + user.duration())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_time_goes_up_while_something_computes() {
            let before = used().unwrap();
            while used().unwrap() < before + Duration::from_millis(50) {
                std::hint::black_box((0..10_000).sum::<u64>());
            }
        }
    }
}
