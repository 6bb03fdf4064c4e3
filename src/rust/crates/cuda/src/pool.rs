//! Handles of cuSOLVER and cuBLAS: making one takes milliseconds and device memory, and one may be
//! used by one thread at a time. They are kept per context and stream, lent to a call and given
//! back when it ends, however it ends.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};
use xla_ffi::Result;

/// What is lent out again and again. Nothing is ever destroyed: XLA's streams last as long as its
/// client, and the libraries may be gone when the process ends.
pub struct Pool<K, H> {
    idle: Mutex<Option<HashMap<K, Vec<H>>>>,
}

impl<K: Copy + Eq + Hash, H> Pool<K, H> {
    /// Without handles.
    #[must_use]
    pub const fn new() -> Self {
        Pool {
            idle: Mutex::new(None),
        }
    }

    /// An idle handle of that key, or a new one.
    ///
    /// # Errors
    /// None was idle and none could be made.
    pub fn borrow(&self, key: K, make: impl FnOnce() -> Result<H>) -> Result<Lent<'_, K, H>> {
        let idle = self.with(|idle| idle.get_mut(&key).and_then(Vec::pop));
        let handle = idle.map_or_else(make, Ok)?;
        Ok(Lent {
            pool: self,
            key,
            handle: Some(handle),
        })
    }

    fn with<R>(&self, f: impl FnOnce(&mut HashMap<K, Vec<H>>) -> R) -> R {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        f(idle.get_or_insert_with(HashMap::new))
    }
}

impl<K: Copy + Eq + Hash, H> Default for Pool<K, H> {
    fn default() -> Self {
        Self::new()
    }
}

/// A handle for the time of a call.
pub struct Lent<'a, K: Copy + Eq + Hash, H> {
    pool: &'a Pool<K, H>,
    key: K,
    handle: Option<H>,
}

impl<K: Copy + Eq + Hash, H> Deref for Lent<'_, K, H> {
    type Target = H;

    fn deref(&self) -> &H {
        match &self.handle {
            Some(handle) => handle,
            None => unreachable!("the handle leaves when it is given back"),
        }
    }
}

impl<K: Copy + Eq + Hash, H> Drop for Lent<'_, K, H> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            self.pool
                .with(|idle| idle.entry(self.key).or_default().push(handle));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use xla_ffi::Error;

    #[test]
    fn a_handle_is_used_by_one_call_at_a_time_and_kept_for_its_key() {
        let pool = Pool::<u8, usize>::new();
        let made = AtomicUsize::new(0);
        let make = || Ok(made.fetch_add(1, Ordering::Relaxed));
        let first = pool.borrow(0, make).map(|h| (*h, h)).expect("a handle");
        let second = pool.borrow(0, make).expect("another");
        assert_ne!(first.0, *second);
        drop(first);
        assert_eq!(*pool.borrow(0, make).expect("the first again"), 0);
        assert_eq!(*pool.borrow(1, make).expect("another key's"), 2);
    }

    #[test]
    fn threads_never_share_one() {
        let pool = Pool::<(), Box<AtomicUsize>>::new();
        let made = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let handle = pool
                            .borrow((), || {
                                made.fetch_add(1, Ordering::Relaxed);
                                Ok(Box::default())
                            })
                            .expect("a handle");
                        assert_eq!(handle.fetch_add(1, Ordering::AcqRel), 0);
                        thread::yield_now();
                        assert_eq!(handle.fetch_sub(1, Ordering::AcqRel), 1);
                    }
                });
            }
        });
        assert!(made.into_inner() <= 8);
    }

    #[test]
    fn it_comes_back_after_an_error_and_a_panic_and_is_not_made_by_a_failure() {
        let pool = Pool::<(), u8>::new();
        let failed = pool.borrow((), || Err(Error::internal("no handle")));
        assert_eq!(
            failed.err().map(|e| e.to_string()).as_deref(),
            Some("no handle")
        );
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _lent = pool.borrow((), || Ok(7)).expect("a handle");
            panic!("in the middle of a call");
        }));
        assert!(outcome.is_err());
        let again = pool.borrow((), || Err(Error::internal("none is idle")));
        assert_eq!(*again.expect("the one that was given back"), 7);
    }
}
