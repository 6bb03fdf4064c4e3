//! What calls of registered handlers answer, their stages and data, and changes while calls run.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

use xla_ffi::registry::{Handlers, Registry};
use xla_ffi::testing::{metadata, Call};
use xla_ffi::{handler, sys, Code, HandlerFn, Host};

use crate::{register, said, Say, ONE, TWO};

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
    assert_eq!(
        metadata(trampoline).map(|writes_data| writes_data.traits.bits()),
        Some(1)
    );
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

    unsafe extern "C" fn writes_data(
        frame: *mut sys::XLA_FFI_CallFrame,
    ) -> *mut sys::XLA_FFI_Error {
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
        let handlers = Handlers::from(writes_data as HandlerFn).with_data(data);
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
