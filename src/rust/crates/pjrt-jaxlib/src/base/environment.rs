//! Environment variables for what XLA takes from nowhere else, while other threads may read them.
//!
//! `setenv` writes into the list that a reader may be walking through, and may free it. So the list
//! is left as it is: a longer one takes its place by one store, and stays where it is for ever, since
//! nobody knows who still reads it. That costs some kilobytes for each client that is made with a
//! number of threads, and as many when jaxlib is imported.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Variables that are set for as long as this lives.
pub(crate) struct Variables {
    // Given up in this order: the last one first, and the lock last.
    sets: Vec<platform::Set>,
    _only_one: MutexGuard<'static, ()>,
}

impl Variables {
    /// Sets variables.
    ///
    /// # Panics
    /// For a value with a zero in it.
    pub fn set(values: &[(&'static str, &str)]) -> Self {
        static ONLY_ONE: Mutex<()> = Mutex::new(());
        let only_one = ONLY_ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let values = values.iter();
        Self {
            sets: values
                .map(|(name, value)| platform::Set::new(name, value))
                .collect(),
            _only_one: only_one,
        }
    }
}

/// XLA's variable for how much it logs.
pub(crate) const LOG_LEVEL: &str = "TF_CPP_MIN_LOG_LEVEL";

/// Has XLA not report at start what nobody asked for; a level that the user chose stays.
pub fn quietly<R>(start: impl FnOnce() -> R) -> R {
    let quiet = std::env::var_os(LOG_LEVEL).is_none();
    let _set = quiet.then(|| Variables::set(&[(LOG_LEVEL, "1")]));
    start()
}

impl Drop for Variables {
    fn drop(&mut self) {
        while let Some(set) = self.sets.pop() {
            drop(set);
        }
    }
}

#[cfg(unix)]
mod platform {
    use std::ffi::{c_char, CStr, CString, OsString};
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicPtr, Ordering};

    type List = *mut *mut c_char;

    /// The pointer of the C library to its list, which `getenv` reads at each call.
    fn current() -> &'static AtomicPtr<*mut c_char> {
        // SAFETY: the C library's own variable, which lives as long as the process; `getenv` and
        // `setenv` read and write it whole.
        unsafe { AtomicPtr::from_ptr(address()) }
    }

    #[cfg(not(target_vendor = "apple"))]
    // Rust before 1.82 wants the block.
    #[allow(unused_unsafe)]
    fn address() -> *mut List {
        extern "C" {
            static mut environ: List;
        }
        // SAFETY: only its address is taken.
        unsafe { std::ptr::addr_of_mut!(environ) }
    }

    #[cfg(target_vendor = "apple")]
    fn address() -> *mut List {
        // SAFETY: it may be called at any time.
        unsafe { libc::_NSGetEnviron() }
    }

    pub struct Set {
        name: &'static str,
        value_before: Option<OsString>,
        before: List,
        now: List,
        /// What the list in `now` has, where nobody changes it.
        as_made: Vec<*mut c_char>,
    }

    impl Set {
        pub fn new(name: &'static str, value: &str) -> Self {
            let entry = CString::new(format!("{name}={value}"));
            let entry = entry.expect("neither names nor numbers have zeros in them");
            let value_before = std::env::var_os(name);
            let before = current().load(Ordering::Acquire);
            let mut as_made = vec![entry.into_raw()];
            as_made.extend(entries(before).filter(|&entry| !names(entry, name)));
            // The end of the list is NULL.
            let list: Vec<_> = as_made.iter().copied().chain([null_mut()]).collect();
            let now = Vec::leak(list).as_mut_ptr();
            current().store(now, Ordering::Release);
            Self {
                name,
                value_before,
                before,
                now,
                as_made,
            }
        }

        /// Puts the list back that was there before, unless somebody has changed the environment
        /// meanwhile: that one may be gone, and does not have the change.
        fn put_back(&self) -> bool {
            let (order, otherwise) = (Ordering::AcqRel, Ordering::Acquire);
            entries(self.now).eq(self.as_made.iter().copied())
                && current()
                    .compare_exchange(self.now, self.before, order, otherwise)
                    .is_ok()
        }
    }

    impl Drop for Set {
        fn drop(&mut self) {
            if !self.put_back() {
                // As those do it who have changed it.
                match self.value_before.take() {
                    Some(value) => std::env::set_var(self.name, value),
                    None => std::env::remove_var(self.name),
                }
            }
        }
    }

    fn entries(list: List) -> impl Iterator<Item = *mut c_char> {
        // SAFETY: the list is NULL or ends with NULL.
        let at = move |i| unsafe { (!list.is_null()).then(|| *list.add(i)) };
        (0..).map_while(at).take_while(|entry| !entry.is_null())
    }

    fn names(entry: *mut c_char, name: &str) -> bool {
        // SAFETY: an entry of the environment.
        let text = unsafe { CStr::from_ptr(entry) }.to_bytes();
        text.strip_prefix(name.as_bytes())
            .is_some_and(|rest| rest.first() == Some(&b'='))
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::base::environment::Variables;

        fn seen() -> Option<String> {
            // SAFETY: a name that ends with zero; nothing changes the value meanwhile.
            unsafe {
                let value = libc::getenv(c"XLAFFI_TEST_VARIABLE".as_ptr());
                (!value.is_null()).then(|| CStr::from_ptr(value).to_string_lossy().into_owned())
            }
        }

        fn addresses(list: List) -> Vec<usize> {
            entries(list).map(|entry| entry as usize).collect()
        }

        /// One test, since there is one environment.
        #[test]
        fn a_list_that_somebody_reads_stays_as_it_is() {
            // A list of the heap, which `setenv` would write into.
            std::env::set_var("XLAFFI_TEST_OTHER", "1");
            let list = current().load(Ordering::Acquire);
            let before = addresses(list);
            for value in ["3", "17"] {
                let set = Variables::set(&[("XLAFFI_TEST_VARIABLE", value)]);
                assert_eq!(seen().as_deref(), Some(value));
                assert_eq!(addresses(list), before);
                drop(set);
                assert_eq!(seen(), None);
                assert_eq!(addresses(list), before);
            }
            assert_eq!(current().load(Ordering::Acquire), list);

            let both = [("XLAFFI_TEST_VARIABLE", "5"), ("XLAFFI_TEST_SECOND", "7")];
            let set = Variables::set(&both);
            assert_eq!(seen().as_deref(), Some("5"));
            assert_eq!(std::env::var("XLAFFI_TEST_SECOND").as_deref(), Ok("7"));
            drop(set);
            assert_eq!(addresses(list), before);
            assert_eq!(current().load(Ordering::Acquire), list);

            // A value that the user has given comes back, also where somebody sets another one.
            std::env::set_var("XLAFFI_TEST_VARIABLE", "user");
            let set = Variables::set(&[("XLAFFI_TEST_VARIABLE", "ours")]);
            assert_eq!(seen().as_deref(), Some("ours"));
            drop(set);
            assert_eq!(seen().as_deref(), Some("user"));
            let set = Variables::set(&[("XLAFFI_TEST_VARIABLE", "ours")]);
            std::env::set_var("XLAFFI_TEST_MORE", "1");
            drop(set);
            assert_eq!(seen().as_deref(), Some("user"));
            assert_eq!(std::env::var("XLAFFI_TEST_MORE").as_deref(), Ok("1"));
            let set = Variables::set(&[("XLAFFI_TEST_VARIABLE", "ours")]);
            std::env::set_var("XLAFFI_TEST_MORE", "2");
            drop(set);
            assert_eq!(seen().as_deref(), Some("user"));
            assert_eq!(std::env::var("XLAFFI_TEST_MORE").as_deref(), Ok("2"));

            // The same without one.
            std::env::remove_var("XLAFFI_TEST_VARIABLE");
            let set = Variables::set(&[("XLAFFI_TEST_VARIABLE", "ours")]);
            std::env::set_var("XLAFFI_TEST_LAST", "1");
            drop(set);
            assert_eq!(seen(), None);
        }
    }
}

/// The system guards its environment itself there.
#[cfg(windows)]
mod platform {
    use std::ffi::OsString;

    pub struct Set {
        name: &'static str,
        before: Option<OsString>,
    }

    impl Set {
        pub fn new(name: &'static str, value: &str) -> Self {
            let before = std::env::var_os(name);
            std::env::set_var(name, value);
            Self { name, before }
        }
    }

    impl Drop for Set {
        fn drop(&mut self) {
            match self.before.take() {
                Some(value) => std::env::set_var(self.name, value),
                None => std::env::remove_var(self.name),
            }
        }
    }
}
