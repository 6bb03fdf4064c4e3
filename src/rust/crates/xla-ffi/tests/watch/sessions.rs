//! What a check or a profile has to say: which calls, once or several times, and while calls run.

use std::sync::atomic::{AtomicUsize, Ordering};

use xla_ffi::registry::{Checks, Debug, Profile, Registry};
use xla_ffi::testing::Call;
use xla_ffi::{
    handler, io, Arg, Code, Cx, Error, HandlerFn, Host, Kernel, Op, Pending, Result, Ret, Untyped,
};

use crate::*;

#[test]
fn only_what_is_asked_for_is_reported() {
    let bad: [HandlerFn; 6] = [
        writes_behind,
        leaves_holes,
        changes_operand,
        counts,
        sees_alignment,
        accumulates,
    ];
    for handler in bad {
        let (outcome, findings) = checked("asked", handler, Checks::none(), &mut call());
        outcome.expect("no error");
        assert_eq!(findings, []);
    }
}

#[test]
fn side_effects_happen_once() {
    let call = || Call::new().arg(&[6], &X).ret::<f64>(&[6]).build();
    let runs = |target: &str, once: &[&str]| {
        let _alone = alone();
        let trampoline = registered(target, "host", counts);
        CALLS.store(0, Ordering::Relaxed);
        let debug = Debug::start(Checks::default(), once.iter().map(|&name| name.to_owned()));
        call().call(trampoline).expect("no error");
        assert_eq!((debug.findings(), debug.checked()).1, 1);
        CALLS.load(Ordering::Relaxed)
    };
    assert!(runs("pure", &[]) >= 3);
    assert_eq!(runs("named", &["named"]), 1);
    Registry::global().has_side_effect("marked");
    assert_eq!(runs("marked", &[]), 1);
}

#[test]
fn the_same_finding_is_counted() {
    let _alone = alone();
    let trampoline = registered("often", "host", changes_operand);
    let debug = Debug::start(Checks::default(), []);
    for _ in 0..3 {
        call().call(trampoline).expect("no error");
    }
    let findings = debug.take_findings();
    assert_eq!(
        (findings.len(), findings[0].calls, debug.checked()),
        (1, 3, 3)
    );
    assert_eq!(debug.findings(), []);
    debug.stop();
    call().call(trampoline).expect("no error");
    assert_eq!((debug.findings().len(), debug.checked()), (0, 3));
}

#[test]
fn the_innermost_check_has_the_findings() {
    let _alone = alone();
    let trampoline = registered("nested", "host", changes_operand);
    let outer = Debug::start(Checks::default(), []);
    let inner = Debug::start(Checks::default(), []);
    call().call(trampoline).expect("no error");
    assert_eq!((outer.findings().len(), inner.findings().len()), (0, 1));
    drop(inner);
    call().call(trampoline).expect("no error");
    assert_eq!(outer.findings().len(), 1);
}

#[test]
fn devices_are_not_checked_and_it_is_reported() {
    let _alone = alone();
    let trampoline = registered("on_device", "cuda", changes_operand);
    let debug = Debug::start(Checks::default(), []);
    let mut frame = call();
    frame.call(trampoline).expect("no error");
    let findings = debug.findings();
    assert_eq!(
        findings[0].text(""),
        "not checked: its operands are in the memory of a device"
    );
    assert_ne!(frame.arg::<f64>(0), X);
}

io! {
    struct LaterIo<'f> { x: Arg<'f, f64>, z: Ret<'f, f64>, pending: Pending<'f> }
}

struct CopyLater;

impl Op for CopyLater {
    const TARGET: &'static str = "copy_later";
    type Dtypes = Untyped;
}

impl Kernel<Host> for CopyLater {
    type Io<'f> = LaterIo<'f>;

    fn run(io: LaterIo<'_>, cx: &Cx<'_, Host>) -> Result<()> {
        let (x, mut z) = (io.pending.keep(io.x)?, io.pending.keep_mut(io.z)?);
        let promise = io.pending.promise();
        cx.schedule(move || {
            std::thread::sleep(std::time::Duration::from_millis(5));
            z.copy_from_slice(&x);
            promise.complete(match x[0] < 0.0 {
                true => Err(Error::new(Code::OutOfRange, "negative")),
                false => Ok(()),
            });
        })
    }
}

#[test]
fn what_is_completed_later_is_waited_for() {
    let frame = |x: &[f64; 2]| {
        let call = Call::new().threads(1).arg(&[2], x);
        call.ret::<f64>(&[2]).build()
    };
    let later = handler::<CopyLater, Host>;
    let mut call = frame(&[1.0, 2.0]);
    let (outcome, findings) = checked("copy_later", later, Checks::default(), &mut call);
    outcome.expect("no error");
    assert_eq!(findings, []);
    assert_eq!(call.ret::<f64>(0), [1.0, 2.0]);
    let mut call = frame(&[-1.0, 2.0]);
    let (outcome, findings) = checked("copy_later", later, Checks::default(), &mut call);
    assert_eq!(outcome.expect_err("the promise's").code, Code::OutOfRange);
    assert_eq!(findings, []);
    assert!(Registry::global().unregister("copy_later", "host"));
}

#[test]
fn a_profile_counts_calls_bytes_and_errors() {
    let _alone = alone();
    let (fine, failing) = (
        registered("profiled", "host", good),
        registered("failing", "host", fails_the_second_time),
    );
    CALLS.store(0, Ordering::Relaxed);
    let outer = Profile::start();
    call().call(fine).expect("no error");
    let inner = Profile::start();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..50).for_each(|_| call().call(fine).expect("no error")));
        }
    });
    let failed = (0..4).filter(|_| call().call(failing).is_err()).count();
    assert_eq!(failed, 2);
    let row = |profile: &Profile, target: &str| {
        let rows = profile.rows();
        let row = rows.into_iter().find(|row| row.target == target);
        row.expect("it was called")
    };
    let all = row(&outer, "profiled");
    assert_eq!((all.calls, all.threads, all.errors), (101, 3, 0));
    assert_eq!((all.bytes_in, all.bytes_out), (101 * 48, 101 * 48));
    assert!(all.min <= all.total / 101 && all.total / 101 <= all.max);
    assert_eq!(row(&inner, "profiled").calls, 100);
    assert_eq!(
        (row(&inner, "failing").calls, row(&inner, "failing").errors),
        (4, 2)
    );
    drop(inner);
    drop(outer);
    call().call(fine).expect("no error");
}

#[test]
fn watching_begins_and_ends_while_calls_run() {
    const CALLS: usize = if cfg!(miri) { 3 } else { 2000 };
    let _alone = alone();
    let trampoline = registered("watched now and then", "host", good);
    let all = Profile::start();
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut frame = call();
                for _ in 0..CALLS {
                    frame.call(trampoline).expect("no error");
                    assert_eq!(frame.ret::<f64>(0), X);
                }
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
        while done.load(Ordering::SeqCst) < 3 {
            let (debug, profile) = (Debug::start(Checks::default(), []), Profile::start());
            std::thread::yield_now();
            profile.stop();
            debug.stop();
            while debug.running() > 0 {
                std::thread::yield_now();
            }
            let checked = debug.checked();
            assert_eq!(debug.findings(), []);
            assert_eq!(debug.checked(), checked, "nothing is checked any more");
        }
    });
    let rows = all.rows();
    let row = rows.iter().find(|row| row.target == "watched now and then");
    assert_eq!(row.map(|row| row.calls), Some(3 * CALLS as u64));
}
