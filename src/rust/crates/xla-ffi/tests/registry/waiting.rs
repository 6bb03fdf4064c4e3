//! Who withdraws a handler waits for the calls and tasks that are in it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use xla_ffi::registry::{Handlers, Registry};
use xla_ffi::testing::Call;
use xla_ffi::{handler, io, sys, Cx, Host, Kernel, Op, Platform, Result, Ret, Untyped};

use crate::{register, said, ONE, TWO};

/// A handler that stays in its call until it is told to leave.
struct Slow {
    inside: AtomicUsize,
    leave: AtomicBool,
}

impl Slow {
    const fn new() -> Self {
        Slow {
            inside: AtomicUsize::new(0),
            leave: AtomicBool::new(false),
        }
    }

    fn stay(&self) -> *mut sys::XLA_FFI_Error {
        self.inside.fetch_add(1, Ordering::SeqCst);
        while !self.leave.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        self.inside.fetch_sub(1, Ordering::SeqCst);
        std::ptr::null_mut()
    }

    fn wait_for_a_call(&self) {
        while self.inside.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
    }
}

macro_rules! slow {
    ($state:ident, $handler:ident) => {
        static $state: Slow = Slow::new();
        unsafe extern "C" fn $handler(
            frame: *mut sys::XLA_FFI_CallFrame,
        ) -> *mut sys::XLA_FFI_Error {
            // SAFETY: the harness's frame.
            if unsafe { !(*frame).extension_start.is_null() } {
                return std::ptr::null_mut();
            }
            $state.stay()
        }
    };
}

slow!(WITHDRAWN, withdrawn);
slow!(REPLACED, replaced);
slow!(OWNED, owned);

/// Long enough for whatever should not happen.
const SHORT: Duration = Duration::from_millis(50);

#[test]
fn withdrawing_waits_for_calls_that_run() {
    let registry = Registry::global();
    let trampoline = register("slow", "host", withdrawn, None)
        .expect("a free slot")
        .trampoline;
    std::thread::scope(|scope| {
        scope.spawn(move || Call::new().run(trampoline).expect("no error"));
        WITHDRAWN.wait_for_a_call();
        let withdrawn = registry.withdraw("slow", "host");
        assert_eq!((withdrawn.count(), withdrawn.running()), (1, 1));
        // A new call is refused rather than let in, or held up.
        let refused = Call::new()
            .run(trampoline)
            .expect_err("no handler any more");
        assert!(refused.message.contains("was unregistered"), "{refused}");
        assert!(!withdrawn.wait_timeout(SHORT), "it is running");
        let again = registry.withdraw("slow", "host");
        assert_eq!((again.count(), again.running()), (0, 1), "it still is");
        WITHDRAWN.leave.store(true, Ordering::SeqCst);
        withdrawn.wait();
        assert_eq!(WITHDRAWN.inside.load(Ordering::SeqCst), 0);
        assert_eq!((withdrawn.running(), again.running()), (0, 0));
    });
}

#[test]
fn replacing_waits_for_nobody_and_withdrawing_for_what_was_replaced_too() {
    let registry = Registry::global();
    let trampoline = register("hangs", "host", replaced, None)
        .expect("a free slot")
        .trampoline;
    std::thread::scope(|scope| {
        scope.spawn(move || Call::new().run(trampoline).expect("no error"));
        REPLACED.wait_for_a_call();
        // At once, and more often than there are places.
        for handler in [ONE, TWO, ONE, TWO] {
            register("hangs", "host", handler, None).expect("the same slot");
        }
        assert_eq!(said(trampoline), Ok(2));
        let withdrawn = registry.withdraw("hangs", "host");
        assert_eq!((withdrawn.count(), withdrawn.running()), (1, 1));
        assert!(!withdrawn.wait_timeout(SHORT), "the first is running");
        // It comes back while the first is still running, and is another's business.
        register("hangs", "host", ONE, None).expect("the same slot");
        assert_eq!(said(trampoline), Ok(1));
        REPLACED.leave.store(true, Ordering::SeqCst);
        withdrawn.wait();
        assert_eq!(REPLACED.inside.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn an_owner_waits_for_what_was_its_own() {
    let registry = Registry::global();
    let trampoline = register("taken", "host", owned, Some("first"))
        .expect("a free slot")
        .trampoline;
    std::thread::scope(|scope| {
        scope.spawn(move || Call::new().run(trampoline).expect("no error"));
        OWNED.wait_for_a_call();
        register("taken", "host", ONE, Some("second")).expect("the same slot");
        let second = registry.withdraw_owner("second");
        assert_eq!((second.count(), second.running()), (1, 0));
        let first = registry.withdraw_owner("first");
        assert_eq!((first.count(), first.running()), (0, 1));
        OWNED.leave.store(true, Ordering::SeqCst);
        first.wait();
        assert_eq!(OWNED.inside.load(Ordering::SeqCst), 0);
    });
}

/// Counts when it goes.
struct Kept(&'static AtomicUsize);

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn what_is_kept_goes_when_its_handler_has_gone() {
    static GONE: AtomicUsize = AtomicUsize::new(0);
    let gone = || GONE.load(Ordering::SeqCst);
    let registry = Registry::global();
    let keep = || {
        let handlers = Handlers::from(ONE).keeping(Kept(&GONE));
        // SAFETY: a handler of this program.
        unsafe { registry.register_handlers("keeps", "host", handlers, None) }.expect("a slot")
    };
    // A test that runs beside this one may have taken it out, and drops it on its own thread.
    let are_gone = |wanted: usize| {
        let start = Instant::now();
        while gone() < wanted && start.elapsed() < Duration::from_secs(60) {
            std::thread::yield_now();
        }
        assert_eq!(gone(), wanted);
    };
    keep();
    assert_eq!(gone(), 0);
    keep();
    are_gone(1);
    assert!(registry.unregister("keeps", "host"));
    are_gone(2);
}

io! {
    struct LaterIo<'f> { out: Ret<'f, i32> }
}

/// Leaves a task behind that waits to be let go.
struct Later;

impl Op for Later {
    const TARGET: &'static str = "later";
    type Dtypes = Untyped;
}

static LATER: AtomicBool = AtomicBool::new(false);

impl<P: Platform> Kernel<P> for Later {
    type Io<'f> = LaterIo<'f>;

    fn run(_: LaterIo<'_>, cx: &Cx<'_, P>) -> Result<()> {
        cx.schedule(|| {
            while !LATER.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        })
    }
}

#[test]
fn withdrawing_waits_for_tasks_on_the_pool() {
    let registry = Registry::global();
    let trampoline = register("later", "host", handler::<Later, Host>, None)
        .expect("a free slot")
        .trampoline;
    let mut frame = Call::new().ret::<i32>(&[]).threads(1).build();
    // The second one waits in the queue until the first is through.
    for _ in 0..2 {
        frame.call(trampoline).expect("a pool");
    }
    let withdrawn = registry.withdraw("later", "host");
    assert_eq!((withdrawn.count(), withdrawn.running()), (1, 2));
    assert!(!withdrawn.wait_timeout(SHORT));
    LATER.store(true, Ordering::SeqCst);
    withdrawn.wait();
    assert_eq!(withdrawn.running(), 0);
}

#[test]
fn helpers_that_come_late_are_counted() {
    static HOLD: Mutex<()> = Mutex::new(());
    static SPREAD: AtomicUsize = AtomicUsize::new(0);

    struct Spread;
    impl Op for Spread {
        const TARGET: &'static str = "spread";
        type Dtypes = Untyped;
    }
    impl<P: Platform> Kernel<P> for Spread {
        type Io<'f> = LaterIo<'f>;

        fn run(_: LaterIo<'_>, cx: &Cx<'_, P>) -> Result<()> {
            // The only thread is busy, so the helper comes when the call is over.
            cx.schedule(|| drop(HOLD.lock()))?;
            cx.parallel_for(2, 1, |_| {
                SPREAD.fetch_add(1, Ordering::SeqCst);
            });
            Ok(())
        }
    }
    let registry = Registry::global();
    let trampoline = register("spread", "host", handler::<Spread, Host>, None)
        .expect("a free slot")
        .trampoline;
    let mut frame = Call::new().ret::<i32>(&[]).threads(2).build();
    let held = HOLD.lock().expect("nobody panics");
    frame.call(trampoline).expect("a pool");
    frame.call(trampoline).expect("a pool");
    assert_eq!(SPREAD.load(Ordering::SeqCst), 4);
    let withdrawn = registry.withdraw("spread", "host");
    assert!(withdrawn.running() >= 2, "{}", withdrawn.running());
    assert!(!withdrawn.wait_timeout(SHORT));
    drop(held);
    withdrawn.wait();
}
