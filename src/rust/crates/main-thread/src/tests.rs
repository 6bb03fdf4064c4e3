//! One main thread per process: all of it is one test.

use super::*;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

static RUNG: AtomicU32 = AtomicU32::new(0);

fn serve_until(done: impl Fn() -> bool) {
    let _attending = attend();
    while !done() {
        if !serve() {
            thread::park_timeout(Duration::from_millis(200));
        }
    }
}

/// Errands of many threads at once.
fn many_at_once(main: thread::ThreadId) {
    let done = Arc::new(AtomicUsize::new(0));
    let askers: Vec<_> = (0..8)
        .map(|k| {
            let done = done.clone();
            thread::spawn(move || {
                assert!(!is_here() && !serve());
                for i in 0..100 {
                    let answer = ask(
                        move || {
                            assert!(is_serving());
                            (thread::current().id(), i + k)
                        },
                        &Patience::default(),
                    );
                    assert_eq!(answer, Ok((main, i + k)));
                }
                done.fetch_add(1, Ordering::SeqCst);
                wake();
            })
        })
        .collect();
    serve_until(|| done.load(Ordering::SeqCst) == 8);
    askers
        .into_iter()
        .for_each(|asker| asker.join().expect("fine"));
    assert!(!is_serving() && !is_needed());
}

/// An errand that waits serves others, and those end first.
fn nested() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let (inner, outer) = (order.clone(), order.clone());
    let asker = thread::spawn(move || {
        ask(
            move || {
                let noted = inner.clone();
                let nested = thread::spawn(move || {
                    ask(
                        move || noted.lock().unwrap().push("inner"),
                        &Patience::default(),
                    )
                });
                serve_until(|| nested.is_finished());
                inner.lock().unwrap().push("outer");
            },
            &Patience::default(),
        )
    });
    serve_until(|| outer.lock().unwrap().len() == 2);
    assert_eq!(asker.join().expect("fine"), Ok(()));
    assert_eq!(*order.lock().unwrap(), ["inner", "outer"]);
}

/// One that unwinds tells its asker, and goes on here.
fn unwinding() {
    let asker = thread::spawn(|| ask(|| panic!("away"), &Patience::default()));
    while !has_work() {
        thread::yield_now();
    }
    assert!(catch_unwind(serve).is_err());
    assert_eq!(asker.join().expect("fine"), Err::<(), _>(Refusal::Left));
}

/// `claim()`'s function is called where nobody attends, and when somebody stops with work left.
fn nobody_attends() {
    let rung = RUNG.load(Ordering::SeqCst);
    let cancelled = Arc::new(AtomicBool::new(false));
    let patience = Patience {
        cancelled: Some(cancelled.clone()),
        limit: None,
    };
    let asker = thread::spawn(move || ask(|| (), &patience));
    while !has_work() {
        thread::yield_now();
    }
    assert!(is_needed());
    drop(attend());
    assert!(RUNG.load(Ordering::SeqCst) > rung);
    cancelled.store(true, Ordering::Release);
    wake_askers();
    assert_eq!(asker.join().expect("fine"), Err(Refusal::Cancelled));
    assert!(!has_work());
}

/// What was given up is not done, even where its asker does not know yet.
fn given_up() {
    let cancelled = Arc::new(AtomicBool::new(false));
    let patience = Patience {
        cancelled: Some(cancelled.clone()),
        limit: None,
    };
    let asker = thread::spawn(move || ask(|| panic!("done"), &patience));
    while !has_work() {
        thread::yield_now();
    }
    cancelled.store(true, Ordering::Release);
    assert!(serve());
    assert_eq!(
        asker.join().expect("fine"),
        Err::<(), _>(Refusal::Cancelled)
    );
}

/// Nobody comes.
fn nobody_comes() {
    let limit = Duration::from_millis(1);
    let hurried = Patience {
        cancelled: None,
        limit: Some(limit),
    };
    let asker = thread::spawn(move || ask(|| (), &hurried));
    assert_eq!(asker.join().expect("fine"), Err(Refusal::Alone(limit)));
}

/// The end, and a new beginning.
fn closed_and_open_again() {
    let asker = thread::spawn(|| ask(|| (), &Patience::default()));
    while !has_work() {
        thread::yield_now();
    }
    close(true);
    assert_eq!(asker.join().expect("fine"), Err(Refusal::Closed));
    let late = thread::spawn(|| ask(|| (), &Patience::default()));
    assert_eq!(late.join().expect("fine"), Err(Refusal::Closed));
    close(false);
    let again = thread::spawn(|| ask(|| 2, &Patience::default()));
    serve_until(|| again.is_finished());
    assert_eq!(again.join().expect("fine"), Ok(2));
}

#[test]
fn errands_are_done_by_the_main_thread_only() {
    claim(|| {
        RUNG.fetch_add(1, Ordering::SeqCst);
    });
    let main = thread::current().id();
    let patient = Patience::default();
    assert!(is_here() && !has_work() && !serve());
    assert_eq!(ask(|| 1, &patient), Ok(1), "on the spot");
    many_at_once(main);
    nested();
    unwinding();
    nobody_attends();
    given_up();
    nobody_comes();
    closed_and_open_again();
}
