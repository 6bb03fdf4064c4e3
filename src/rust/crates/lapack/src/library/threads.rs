//! The library's own threads: none of them while the calls come from threads of ours, all of them for
//! a large matrix. Otherwise each thread of a pool would have as many as there are cores, and what is
//! computed would depend on who else computes.

use super::conventions::Convention;
use super::loaded::Loaded;
use super::lock::lock;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::{Condvar, Mutex, PoisonError};

type Get = unsafe extern "C" fn() -> c_int;
type Set = unsafe extern "C" fn(c_int);
type Exchange = unsafe extern "C" fn(c_int) -> c_int;

/// How the number of a library's threads is set.
#[derive(Clone, Copy, Debug)]
pub(super) enum Control {
    /// It has none, or does not let itself be told.
    None,
    /// For the whole process (OpenBLAS with threads of its own; what it calls `local` is no other).
    Process { get: Get, set: Set },
    /// For the calling thread (OpenMP).
    Thread { get: Get, set: Set },
    /// For the calling thread, 0 for as before; it answers what was before (MKL).
    Exchange { get: Get, exchange: Exchange },
}

impl Control {
    pub(super) fn of(loaded: &Loaded, convention: Convention) -> Self {
        /// What `openblas_get_parallel` says of OpenMP.
        const OPENMP: c_int = 2;
        let openblas = |name: &str| format!("{}openblas_{name}", convention.prefix);
        // SAFETY: these are the prototypes of MKL, OpenBLAS and OpenMP, whose functions may be called
        // at any time.
        unsafe {
            let mkl = loaded.function("MKL_Get_Max_Threads");
            if let (Some(get), Some(exchange)) = (mkl, loaded.function("MKL_Set_Num_Threads_Local"))
            {
                return Control::Exchange { get, exchange };
            }
            let parallel: Option<Get> = loaded.function(&openblas("get_parallel"));
            let (get, set) = if parallel.is_some_and(|parallel| parallel() == OPENMP) {
                let get = loaded.function("omp_get_max_threads");
                (get, loaded.function("omp_set_num_threads"))
            } else {
                let get = loaded.function(&openblas("get_num_threads"));
                (get, loaded.function(&openblas("set_num_threads")))
            };
            match (get, set, parallel.map(|parallel| parallel())) {
                (Some(get), Some(set), Some(OPENMP)) => Control::Thread { get, set },
                (Some(get), Some(set), Some(_)) => Control::Process { get, set },
                _ => Control::None,
            }
        }
    }

    /// The library's threads, as they are outside of turns.
    pub(super) fn count(self) -> Option<i32> {
        match self {
            Control::None => None,
            Control::Process { get, .. } => {
                let gate = lock(&GATE);
                // SAFETY: it only tells.
                let now = unsafe { get() };
                Some(if gate.holds(now) { gate.before } else { now })
            }
            Control::Thread { get, .. } | Control::Exchange { get, .. } => {
                // SAFETY: it only tells.
                Some(unsafe { get() })
            }
        }
    }
}

/// Whose threads work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Ours: the library gets one thread.
    Ours,
    /// The library's.
    Library,
}

/// Those who are in the library, where its threads are the whole process's affair.
struct Gate {
    /// Calls on threads of ours.
    ours: usize,
    /// Whether the library's threads work for one.
    library: bool,
    /// Those who wait for the library's threads; who comes later lets them go first.
    waiting: usize,
    /// The library's threads before the first of ours came.
    before: c_int,
}

impl Gate {
    /// Whether the library's number of threads is the one that a turn of ours has set: the user may
    /// have set another one since.
    fn holds(&self, now: c_int) -> bool {
        self.ours > 0 && now == OURS
    }
}

/// The library's threads during a turn of ours.
const OURS: c_int = 1;

static GATE: Mutex<Gate> = Mutex::new(Gate {
    ours: 0,
    library: false,
    waiting: 0,
    before: 1,
});
static CHANGED: Condvar = Condvar::new();

/// A stay in the library, of all threads that work on one call. Nobody who has one takes another.
#[derive(Debug)]
pub struct Turn {
    work: Work,
    control: Control,
}

impl Turn {
    /// Waits until nobody is there who wants another number of threads.
    pub(super) fn of(work: Work, control: Control) -> Self {
        if let Control::Process { get, set } = control {
            let mut gate = lock(&GATE);
            if work == Work::Library {
                gate.waiting += 1;
                while gate.library || gate.ours > 0 {
                    gate = CHANGED.wait(gate).unwrap_or_else(PoisonError::into_inner);
                }
                gate.waiting -= 1;
                gate.library = true;
            } else {
                while gate.library || gate.waiting > 0 {
                    gate = CHANGED.wait(gate).unwrap_or_else(PoisonError::into_inner);
                }
                if gate.ours == 0 {
                    // SAFETY: nobody computes; other users of the library may see another number.
                    unsafe {
                        gate.before = get();
                        set(OURS);
                    }
                }
                gate.ours += 1;
            }
        }
        Turn { work, control }
    }

    /// On each thread that works, as long as it does.
    #[must_use]
    pub fn enter(&self) -> Entered<'_> {
        let before = match (self.work, self.control) {
            (Work::Ours, Control::Thread { get, set }) => {
                // SAFETY: of this thread alone, and undone by the same.
                unsafe {
                    let before = get();
                    set(OURS);
                    before
                }
            }
            // SAFETY: as above.
            (Work::Ours, Control::Exchange { exchange, .. }) => unsafe { exchange(OURS) },
            _ => 0,
        };
        Entered {
            turn: self,
            before,
            thread: PhantomData,
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Control::Process { get, set } = self.control else {
            return;
        };
        let mut gate = lock(&GATE);
        if self.work == Work::Library {
            gate.library = false;
        } else {
            // SAFETY: as when it was set.
            unsafe {
                if gate.ours == 1 && gate.holds(get()) {
                    set(gate.before);
                }
            }
            gate.ours -= 1;
        }
        drop(gate);
        CHANGED.notify_all();
    }
}

/// A thread's part of a [`Turn`].
#[derive(Debug)]
pub struct Entered<'a> {
    turn: &'a Turn,
    before: c_int,
    /// It ends where it began.
    thread: PhantomData<*const ()>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if self.turn.work == Work::Library {
            return;
        }
        match self.turn.control {
            // SAFETY: as when it was set, on the same thread.
            Control::Thread { set, .. } => unsafe { set(self.before) },
            // SAFETY: as above.
            Control::Exchange { exchange, .. } => drop(unsafe { exchange(self.before) }),
            Control::None | Control::Process { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI32, Ordering};

    static THREADS: AtomicI32 = AtomicI32::new(8);

    unsafe extern "C" fn get() -> c_int {
        THREADS.load(Ordering::SeqCst)
    }

    unsafe extern "C" fn set(threads: c_int) {
        THREADS.store(threads, Ordering::SeqCst);
    }

    #[test]
    fn the_number_outside_of_turns_is_reported_and_the_users_change_stays() {
        let control = Control::Process { get, set };
        // SAFETY: functions of this test.
        let now = || unsafe { get() };
        let first = Turn::of(Work::Ours, control);
        let second = Turn::of(Work::Ours, control);
        assert_eq!((now(), control.count()), (1, Some(8)));
        drop(first);
        assert_eq!((now(), control.count()), (1, Some(8)));
        drop(second);
        assert_eq!((now(), control.count()), (8, Some(8)));

        let turn = Turn::of(Work::Ours, control);
        // SAFETY: as above.
        unsafe { set(3) };
        assert_eq!(control.count(), Some(3));
        drop(turn);
        assert_eq!((now(), control.count()), (3, Some(3)));
    }
}
