//! The files of the crates `xla-ffi` and `pjrt-jaxlib` in which threads meet, on loom's atomics and locks.
#![cfg(test)]
#![allow(dead_code)]

#[path = "../../../src/rust/crates/xla-ffi/src/fork_join.rs"]
mod fork_join;
#[path = "../../../src/rust/crates/xla-ffi/src/registry/slot.rs"]
mod slot;
#[path = "../../../src/rust/crates/pjrt-jaxlib/src/cluster/launch/turn.rs"]
mod turn;

mod sync {
    pub(crate) use loom::sync::atomic;
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
}

mod base {
    pub(crate) use crate::sync;
}

use std::ptr;
use std::sync::atomic::{AtomicBool as PlainBool, Ordering::SeqCst};

use fork_join::ForkJoin;
use loom::sync::atomic::AtomicUsize;
use loom::sync::Arc;
use loom::thread;
use slot::{Functions, Installed, Running, Slot};
use turn::Turns;

/// A library that handlers are in: calls must not find it unloaded.
struct Library {
    loaded: AtomicUsize,
}

/// A function is, here, the number of its library.
fn functions(library: usize) -> Functions {
    [ptr::null_mut::<()>().wrapping_byte_add(library); 4]
}

fn slot() -> &'static Slot {
    Box::leak(Box::new(Slot {
        current: sync::atomic::AtomicPtr::new(ptr::null_mut()),
    }))
}

fn installed(library: usize) -> &'static Installed {
    let installed: &Installed = Box::leak(Box::new(Installed::new()));
    installed.reuse(0, functions(library), ptr::null_mut(), ptr::null_mut());
    installed
}

fn libraries(count: usize) -> Arc<Vec<Library>> {
    Arc::new(
        (0..count)
            .map(|_| Library {
                loaded: AtomicUsize::new(1),
            })
            .collect(),
    )
}

/// What a call does: looks at its function, and is in its library for as long as it is counted.
fn call(running: &Running, libraries: &[Library]) -> usize {
    let library = running.installed().function(3) as usize;
    assert_eq!(
        libraries[library].loaded.load(SeqCst),
        1,
        "library {library} was unloaded under a call"
    );
    library
}

#[test]
fn a_withdrawn_handler_is_in_no_call_when_its_library_goes() {
    loom::model(|| {
        let (slot, first, all) = (slot(), installed(0), libraries(1));
        slot.set(Some(first));
        let calls = [all.clone(), all.clone()].map(|all| {
            thread::spawn(move || {
                if let Some(running) = slot.enter() {
                    call(&running, &all);
                }
            })
        });
        slot.set(None);
        if first.running() == 0 {
            all[0].loaded.store(0, SeqCst);
        }
        for call in calls {
            call.join().unwrap();
        }
        assert_eq!(first.running(), 0);
    });
}

#[test]
fn a_replaced_handler_is_used_again_only_when_it_is_in_no_call() {
    loom::model(|| {
        let (slot, first, second, all) = (slot(), installed(0), installed(1), libraries(3));
        slot.set(Some(first));
        let caller = {
            let all = all.clone();
            thread::spawn(move || {
                let running = slot.enter().expect("there always is one");
                call(&running, &all)
            })
        };
        slot.set(Some(second));
        // As the registry does: a library goes, and its place is taken, when nobody is in.
        if first.running() == 0 {
            all[0].loaded.store(0, SeqCst);
            first.reuse(0, functions(2), ptr::null_mut(), ptr::null_mut());
            slot.set(Some(first));
            if second.running() == 0 {
                all[1].loaded.store(0, SeqCst);
            }
        }
        assert!(caller.join().unwrap() <= 2);
        assert_eq!((first.running(), second.running()), (0, 0));
    });
}

#[test]
fn a_task_counts_from_when_its_call_scheduled_it() {
    loom::model(|| {
        let (slot, first, all) = (slot(), installed(0), libraries(1));
        slot.set(Some(first));
        let caller = {
            let all = all.clone();
            thread::spawn(move || {
                let running = slot.enter()?;
                let task = running.installed().count_in();
                Some(thread::spawn(move || call(&task, &all)))
            })
        };
        slot.set(None);
        if first.running() == 0 {
            all[0].loaded.store(0, SeqCst);
        }
        if let Some(task) = caller.join().unwrap() {
            task.join().unwrap();
        }
        assert_eq!(first.running(), 0);
    });
}

#[test]
fn nobody_works_when_the_caller_has_left() {
    loom::model(|| {
        let done = AtomicUsize::new(0);
        let gone = Arc::new(PlainBool::new(false));
        let seen = gone.clone();
        let work = move || {
            assert!(!seen.load(SeqCst), "the caller has left");
            done.fetch_add(1, SeqCst);
        };
        let shared: &(dyn Fn() + Sync) = &work;
        // SAFETY: only the lifetime changes; `work` lives until the end, and that is longer.
        let shared = unsafe {
            std::mem::transmute::<*const (dyn Fn() + Sync + '_), *const (dyn Fn() + Sync)>(shared)
        };
        // SAFETY: as above.
        let fork_join = Arc::new(unsafe { ForkJoin::new(shared) });
        let helpers = [fork_join.clone(), fork_join.clone()].map(|fork_join| {
            thread::spawn(move || {
                assert!(fork_join.help().is_none());
            })
        });
        work();
        assert!(fork_join.close_and_wait().is_none());
        gone.store(true, SeqCst);
        for helper in helpers {
            helper.join().unwrap();
        }
    });
}

#[test]
fn turns_come_in_order_and_one_at_a_time_also_past_a_ticket_given_up() {
    loom::model(|| {
        let turns: &'static Turns = Box::leak(Box::new(Turns::default()));
        let turn = Arc::new(AtomicUsize::new(0));
        let [first, given_up, last] = [(); 3].map(|()| turns.ticket());
        let threads = [(first, 0), (last, 1)].map(|(ticket, place)| {
            let turn = turn.clone();
            thread::spawn(move || {
                ticket.wait();
                assert_eq!(turn.fetch_add(1, SeqCst), place);
            })
        });
        drop(given_up);
        for thread in threads {
            thread.join().unwrap();
        }
        turns.ticket().wait();
    });
}
