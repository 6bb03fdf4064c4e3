//! The registry: replace, withdraw, from many threads. Names differ by test, because there is one
//! registry.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use xla_ffi::registry::{canonical_platform, Registry, Replaced};
use xla_ffi::testing::{metadata, Call};
use xla_ffi::{
    handler, io, sys, Code, Cx, HandlerFn, Host, Kernel, Op, Platform, Result, Ret, Untyped,
};

io! {
    struct SayIo<'f> { out: Ret<'f, i32> }
}

struct Say<const N: i32>;

impl<const N: i32> Op for Say<N> {
    const TARGET: &'static str = "say";
    const TRAITS: sys::XLA_FFI_Handler_Traits = N as u32;
    type Dtypes = Untyped;
}

impl<const N: i32, P: Platform> Kernel<P> for Say<N> {
    type Io<'f> = SayIo<'f>;

    fn run(mut io: SayIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        io.out.as_mut_slice()?[0] = N;
        Ok(())
    }
}

const ONE: HandlerFn = handler::<Say<1>, Host>;
const TWO: HandlerFn = handler::<Say<2>, Host>;

fn said(function: HandlerFn) -> Result<i32, String> {
    let mut frame = Call::new().ret::<i32>(&[]).build();
    frame
        .call(function)
        .map_err(|failure| failure.to_string())?;
    Ok(frame.ret::<i32>(0)[0])
}

#[test]
fn a_name_keeps_its_function_and_changes_its_handler() {
    let registry = Registry::global();
    assert!(registry.lookup("replace", "host").is_none());
    let first = registry
        .register("replace", "cpu", ONE, Some("pkg a"))
        .expect("a free slot");
    assert_eq!(first.replaced, None);
    assert_eq!(said(first.trampoline), Ok(1));
    assert_eq!(
        metadata(first.trampoline).map(|answer| answer.traits),
        Some(1)
    );

    let second = registry
        .register("replace", "Host", TWO, None)
        .expect("the same slot");
    assert_eq!(
        second.replaced,
        Some(Replaced {
            owner: Some("pkg a".to_owned())
        })
    );
    assert_eq!(second.trampoline as usize, first.trampoline as usize);
    assert_eq!(said(first.trampoline), Ok(2));
    assert_eq!(
        metadata(first.trampoline).map(|answer| answer.traits),
        Some(2)
    );
    assert_eq!(
        registry.lookup("replace", "CPU").map(|f| f as usize),
        Some(first.trampoline as usize)
    );

    // Another platform is another name.
    let other = registry
        .register("replace", "gpu", ONE, None)
        .expect("a free slot");
    assert_ne!(other.trampoline as usize, first.trampoline as usize);
    assert_eq!(said(first.trampoline), Ok(2));
}

#[test]
fn a_withdrawn_handler_gives_a_clear_error() {
    let registry = Registry::global();
    let trampoline = registry
        .register("gone", "host", ONE, Some("pkg b"))
        .expect("a free slot")
        .trampoline;
    assert!(registry.unregister("gone", "cpu"));
    assert!(!registry.unregister("gone", "cpu"), "it is gone already");
    assert!(!registry.unregister("never there", "cpu"));
    assert!(registry.lookup("gone", "host").is_none());
    let text = "FAILED_PRECONDITION: custom call target `gone` (platform host) was unregistered \
                (it belonged to pkg b); register it again before running programs that call it";
    assert_eq!(said(trampoline), Err(text.to_owned()));
    // Programs may still be compiled.
    let answer = metadata(trampoline).expect("an answer");
    assert_eq!(
        (answer.version, answer.traits),
        (xla_ffi::REPORTED_VERSION, 0)
    );

    let again = registry
        .register("gone", "host", TWO, None)
        .expect("the same slot");
    assert_eq!(
        (again.trampoline as usize, again.replaced),
        (trampoline as usize, None)
    );
    assert_eq!(said(trampoline), Ok(2));
}

#[test]
fn an_owner_goes_with_all_that_is_its_own() {
    let registry = Registry::global();
    for (target, owner) in [("mine 1", "me"), ("mine 2", "me"), ("yours", "you")] {
        registry
            .register(target, "host", ONE, Some(owner))
            .expect("a free slot");
    }
    assert_eq!(registry.unregister_owner("me"), 2);
    assert_eq!(registry.unregister_owner("me"), 0);
    assert!(registry.lookup("yours", "host").is_some());
    let mine: Vec<_> = registry
        .list()
        .into_iter()
        .filter(|entry| entry.target.starts_with("mine"))
        .collect();
    assert_eq!(mine.len(), 2);
    assert!(mine
        .iter()
        .all(|entry| !entry.active && entry.owner.as_deref() == Some("me")));
}

#[test]
fn names_must_be_names() {
    let failure = Registry::global()
        .register("", "host", ONE, None)
        .expect_err("no name");
    assert_eq!(failure.code(), Code::InvalidArgument);
    assert_eq!(failure.to_string(), "a custom call needs a target name");
    let failure = Registry::global()
        .register("t", "", ONE, None)
        .expect_err("no platform");
    assert_eq!(failure.to_string(), "a custom call needs a platform name");
}

#[test]
fn platforms_have_one_name() {
    for name in ["cpu", "CPU", "host", "Host"] {
        assert_eq!(canonical_platform(name), "host");
    }
    for name in ["cuda", "CUDA", "gpu"] {
        assert_eq!(canonical_platform(name), "cuda");
    }
    assert_eq!(canonical_platform("ROCM"), "rocm");
}

static INSIDE: AtomicUsize = AtomicUsize::new(0);
static LEAVE: AtomicBool = AtomicBool::new(false);

/// A handler whose first call stays until it is told to leave.
unsafe extern "C" fn slow(_: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    let first = INSIDE.fetch_add(1, Ordering::SeqCst) == 0;
    while first && !LEAVE.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    INSIDE.fetch_sub(1, Ordering::SeqCst);
    std::ptr::null_mut()
}

#[test]
fn withdrawing_waits_for_calls_that_run() {
    let registry = Registry::global();
    let trampoline = registry
        .register("slow", "host", slow, None)
        .expect("a free slot")
        .trampoline;
    std::thread::scope(|scope| {
        scope.spawn(move || Call::new().run(trampoline).expect("no error"));
        while INSIDE.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        let (done, wait) = channel();
        scope.spawn(move || {
            assert!(registry.unregister("slow", "host"));
            done.send(INSIDE.load(Ordering::SeqCst))
                .expect("somebody waits");
        });
        // Once the change is under way a new call is refused rather than let in, or held up.
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut outcome = Call::new().run(trampoline);
        while outcome.is_ok() && Instant::now() < deadline {
            outcome = Call::new().run(trampoline);
        }
        let early = wait.recv_timeout(Duration::from_millis(50));
        LEAVE.store(true, Ordering::SeqCst);
        assert!(early.is_err(), "it returned while a call was running");
        let refused = outcome.expect_err("no handler any more").to_string();
        assert!(refused.contains("was unregistered"), "{refused}");
        assert_eq!(wait.recv_timeout(Duration::from_secs(60)), Ok(0));
    });
}

#[test]
fn calls_and_changes_from_many_threads() {
    const NAMES: [&str; 3] = ["busy 0", "busy 1", "busy 2"];
    const ROUNDS: usize = 300;
    let registry = Registry::global();
    let trampolines = NAMES.map(|name| {
        registry
            .register(name, "host", ONE, None)
            .expect("a free slot")
            .trampoline
    });
    let (stop, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut frame = Call::new().ret::<i32>(&[]).build();
                while !stop.load(Ordering::Relaxed) {
                    for trampoline in trampolines {
                        match frame.call(trampoline) {
                            Ok(()) => assert!(matches!(frame.ret::<i32>(0), [1 | 2])),
                            Err(failure) => assert_eq!(failure.code, Code::FailedPrecondition),
                        }
                        calls.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        let changers: Vec<_> = NAMES
            .into_iter()
            .map(|name| {
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let function = if round % 2 == 0 { TWO } else { ONE };
                        registry
                            .register(name, "host", function, None)
                            .expect("the same slot");
                        if round % 3 == 0 {
                            assert!(registry.unregister(name, "host"));
                        }
                        assert!(registry.list().len() >= NAMES.len());
                    }
                })
            })
            .collect();
        for changer in changers {
            changer.join().expect("no panic");
        }
        while calls.load(Ordering::Relaxed) < 1000 {
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
    });
    // The last round registered `ONE` and was not one of those that withdraw.
    assert_eq!(trampolines.map(said), [const { Ok(1) }; 3]);
}
