//! The registry: replace, withdraw, from many threads. Names differ by test, because there is one
//! registry.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use xla_ffi::registry::{canonical_platform, Handlers, Registered, Registry};
use xla_ffi::testing::{metadata, Call};
use xla_ffi::{
    handler, io, sys, Code, Cx, HandlerFn, Host, Kernel, Op, Platform, Result, Ret, Traits, Untyped,
};

io! {
    struct SayIo<'f> { out: Ret<'f, i32> }
}

struct Say<const N: i32>;

impl<const N: i32> Op for Say<N> {
    const TARGET: &'static str = "say";
    const TRAITS: Traits = Traits::from_bits((N != 3) as u32);
    type Dtypes = Untyped;
}

impl<const N: i32, P: Platform> Kernel<P> for Say<N> {
    type Io<'f> = SayIo<'f>;

    fn run(mut io: SayIo<'_>, _cx: &Cx<'_, P>) -> Result<()> {
        io.out.as_mut_slice()?[0] = N;
        Ok(())
    }
}

/// The handlers of this file stay where they are.
fn register(
    target: &str,
    platform: &str,
    handler: HandlerFn,
    owner: Option<&str>,
) -> Result<Registered> {
    // SAFETY: a handler, and of this program.
    unsafe { Registry::global().register(target, platform, handler, owner) }
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
    let first = register("replace", "cpu", ONE, Some("pkg a")).expect("a free slot");
    assert_eq!(first.replaced, None);
    assert_eq!(said(first.trampoline), Ok(1));
    assert_eq!(
        metadata(first.trampoline).map(|answer| answer.traits.bits()),
        Some(1)
    );

    let second = register("replace", "Host", TWO, None).expect("the same slot");
    let replaced = second.replaced.expect("there was one");
    assert_eq!(replaced.owner.as_deref(), Some("pkg a"));
    assert_eq!(second.trampoline as usize, first.trampoline as usize);
    assert_eq!(said(first.trampoline), Ok(2));
    assert_eq!(
        metadata(first.trampoline).map(|answer| answer.traits.bits()),
        Some(1)
    );
    assert_eq!(
        registry.lookup("replace", "CPU").map(|f| f as usize),
        Some(first.trampoline as usize)
    );

    // Another platform is another name.
    let other = register("replace", "gpu", ONE, None).expect("a free slot");
    assert_ne!(other.trampoline as usize, first.trampoline as usize);
    assert_eq!(said(first.trampoline), Ok(2));
}

#[test]
fn a_withdrawn_handler_gives_a_clear_error() {
    let registry = Registry::global();
    let trampoline = register("gone", "host", ONE, Some("pkg b"))
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
        (answer.version, answer.traits.bits()),
        (xla_ffi::REPORTED_VERSION, 1)
    );

    let again = register("gone", "host", TWO, None).expect("the same slot");
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
        register(target, "host", ONE, Some(owner)).expect("a free slot");
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
    let failure = register("", "host", ONE, None).expect_err("no name");
    assert_eq!(failure.code(), Code::InvalidArgument);
    assert_eq!(failure.to_string(), "a custom call needs a target name");
    let failure = register("t", "", ONE, None).expect_err("no platform");
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

/// A handler in another language: its errors do not say whose they are.
unsafe extern "C" fn foreign(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    let message = c"no root of a negative number";
    let mut args = sys::XLA_FFI_Error_Create_Args {
        struct_size: size_of::<sys::XLA_FFI_Error_Create_Args>(),
        extension_start: std::ptr::null_mut(),
        message: message.as_ptr(),
        errc: sys::XLA_FFI_Error_Code_OUT_OF_RANGE,
    };
    // SAFETY: the harness's frame and table.
    unsafe {
        if !(*frame).extension_start.is_null() {
            return std::ptr::null_mut();
        }
        ((*(*frame).api).XLA_FFI_Error_Create.expect("it is there"))(&mut args)
    }
}

#[test]
fn errors_say_which_call_failed() {
    let trampoline = |name, handler| {
        register(name, "cpu", handler, None)
            .expect("a slot")
            .trampoline
    };
    let error = |function| Call::new().run(function).expect_err("it fails").to_string();
    let root = trampoline("root", foreign);
    assert_eq!(
        error(root),
        "OUT_OF_RANGE: root (host): no root of a negative number"
    );
    // Ours say it themselves, also under a name of their own.
    let own = "INVALID_ARGUMENT: say: expected 1 result (`out`), got 0";
    assert_eq!(error(trampoline("say", ONE)), own);
    assert_eq!(error(trampoline("private.say", ONE)), own);
    assert_eq!(
        error(trampoline("other", ONE)),
        "INVALID_ARGUMENT: other (host): say: expected 1 result (`out`), got 0"
    );
    // A handler by way of another is named once, by the one that it is in.
    assert_eq!(error(trampoline("outer", root)), error(root));
    // The frame is XLA's again.
    let mut frame = Call::new().build();
    let api = frame.as_raw().api;
    frame.call(root).expect_err("it fails");
    assert_eq!(frame.as_raw().api, api);
}

#[test]
fn xla_keeps_what_it_was_told() {
    const OTHER: HandlerFn = handler::<Say<3>, Host>;
    let trampoline = register("told", "host", OTHER, None)
        .expect("a free slot")
        .trampoline;
    // Nobody has asked yet.
    register("told", "host", ONE, None).expect("the same slot");
    assert_eq!(metadata(trampoline).map(|told| told.traits.bits()), Some(1));
    register("told", "host", TWO, None).expect("the same traits");
    let failure = register("told", "host", OTHER, None).expect_err("other traits");
    assert_eq!(failure.code(), Code::FailedPrecondition);
    assert_eq!(
        failure.to_string(),
        "custom call target `told` (platform host) cannot have this handler: its traits are 0, and \
         XLA, which keeps what it was told first, has 1; register it under another name"
    );
    assert_eq!(said(trampoline), Ok(2), "the one before stays");
    let bundle = sys::XLA_FFI_Handler_Bundle {
        instantiate: Some(ONE),
        prepare: None,
        initialize: None,
        execute: Some(ONE),
    };
    // SAFETY: handlers of this program.
    let failure =
        unsafe { Registry::global().register_handlers("told", "host", bundle.into(), None) };
    let text = failure.expect_err("other stages").to_string();
    assert!(text.contains("its stages are not those"), "{text}");
    // A version that the one who asked does not have.
    unsafe extern "C" fn newer(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
        // SAFETY: the harness's frame.
        unsafe {
            let error = ONE(frame);
            let query = (*frame)
                .extension_start
                .cast::<sys::XLA_FFI_Metadata_Extension>();
            (*(*query).metadata).api_version.minor_version = sys::XLA_FFI_API_MINOR + 1;
            error
        }
    }
    let failure = register("told", "host", newer, None).expect_err("too new");
    let text = format!(
        "it was built for XLA FFI 0.{0}, and XLA has 0.{1}",
        sys::XLA_FFI_API_MINOR + 1,
        sys::XLA_FFI_API_MINOR
    );
    assert!(failure.to_string().contains(&text), "{failure}");
    assert_eq!(said(trampoline), Ok(2));
}

#[test]
fn handlers_do_not_call_each_other_in_a_circle() {
    let trampoline =
        |name, handler| register(name, "host", handler, None).map(|done| done.trampoline);
    let first = trampoline("circle 1", ONE).expect("a slot");
    let second = trampoline("circle 2", first).expect("a slot");
    let third = trampoline("circle 3", second).expect("a slot");
    assert_eq!(said(third), Ok(1));
    for (name, handler) in [
        ("circle 1", third),
        ("circle 1", first),
        ("circle 2", third),
    ] {
        let failure = trampoline(name, handler).expect_err("a circle");
        assert_eq!(
            failure.to_string(),
            format!("the handler of custom call target `{name}` (platform host) calls that target")
        );
    }
    assert_eq!(said(third), Ok(1));
    // Where the circle is open it may be closed elsewhere.
    assert!(Registry::global().unregister("circle 2", "host"));
    trampoline("circle 1", third).expect("it leads to an error");
    trampoline("circle 2", first).expect_err("a circle");
}

#[test]
fn each_stage_has_its_function() {
    static STAGES: Mutex<Vec<i32>> = Mutex::new(Vec::new());
    unsafe extern "C" fn note(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
        // SAFETY: the harness's frame.
        unsafe {
            if (*frame).extension_start.is_null() {
                STAGES.lock().expect("no panics").push((*frame).stage);
            }
        }
        std::ptr::null_mut()
    }
    let bundle = sys::XLA_FFI_Handler_Bundle {
        instantiate: Some(note),
        prepare: None,
        initialize: None,
        execute: Some(note),
    };
    // SAFETY: handlers of this program.
    let done =
        unsafe { Registry::global().register_handlers("staged", "host", bundle.into(), None) };
    let trampoline = done.expect("a slot").trampoline;
    let stage = |stage| Call::new().stage(stage).run(trampoline);
    stage(sys::XLA_FFI_ExecutionStage_INSTANTIATE).expect("a function");
    stage(sys::XLA_FFI_ExecutionStage_EXECUTE).expect("a function");
    let none = stage(sys::XLA_FFI_ExecutionStage_PREPARE).expect_err("no function");
    assert_eq!(
        none.message,
        "staged (host): there is no handler for stage 1"
    );
    assert_eq!(*STAGES.lock().expect("no panics"), [0, 3]);
}

#[test]
fn calls_and_changes_from_many_threads() {
    const NAMES: [&str; 3] = ["busy 0", "busy 1", "busy 2"];
    const ROUNDS: usize = if cfg!(miri) { 6 } else { 300 };
    const CALLS: usize = if cfg!(miri) { 20 } else { 1000 };
    let trampolines = NAMES.map(|name| {
        register(name, "host", ONE, None)
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
                        register(name, "host", function, None).expect("the same slot");
                        if round % 3 == 0 {
                            assert!(Registry::global().unregister(name, "host"));
                        }
                        assert!(Registry::global().list().len() >= NAMES.len());
                    }
                })
            })
            .collect();
        for changer in changers {
            changer.join().expect("no panic");
        }
        while calls.load(Ordering::Relaxed) < CALLS {
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
    });
    // The last round registered `ONE` and was not one of those that withdraw.
    assert_eq!(trampolines.map(said), [const { Ok(1) }; 3]);
}

#[test]
fn handlers_find_what_they_were_registered_with() {
    use std::sync::Arc;

    unsafe extern "C" fn told(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
        // SAFETY: a frame of the harness.
        unsafe {
            if xla_ffi::raw::answer_metadata(frame, 0) {
                return std::ptr::null_mut();
            }
            let data = xla_ffi::registry::registered_with().cast::<f64>();
            let result = *(*frame).rets.rets;
            let result = (*result.cast::<sys::XLA_FFI_Buffer>()).data.cast::<f64>();
            *result = data.as_ref().copied().unwrap_or(-1.0);
        }
        std::ptr::null_mut()
    }

    let registry = Registry::global();
    let mut frame = Call::new().ret::<f64>(&[]).build();
    let mut found = Vec::new();
    let first = Arc::new(1.0);
    for data in [Arc::clone(&first), Arc::new(2.0)] {
        let handlers = Handlers::from(told as HandlerFn).with_data(data);
        // SAFETY: a handler of this program.
        let done = unsafe { registry.register_handlers("with data", "cpu", handlers, None) };
        frame.call(done.unwrap().trampoline).unwrap();
        found.push(frame.ret::<f64>(0)[0]);
    }
    assert_eq!(found, [1.0, 2.0]);
    assert_eq!(
        registry.data::<f64>("with data", "host").as_deref(),
        Some(&2.0)
    );
    assert_eq!(registry.data::<i32>("with data", "host"), None);
    assert_eq!(Arc::strong_count(&first), 1, "what was replaced is let go");
    let bundle = registry.lookup_bundle("with data", "host").unwrap();
    assert!(bundle.execute.is_some() && bundle.instantiate.is_none());
    assert!(registry.unregister("with data", "host"));
    assert!(registry.lookup_bundle("with data", "host").is_none());
    assert_eq!(registry.data::<f64>("with data", "host"), None);
    // Nobody's thread is in a handler here.
    assert!(xla_ffi::registry::registered_with().is_null());
}
