//! Calls that are complete only some time after their handler has returned; data of the host's.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::Duration;

use xla_ffi::registry::Registry;
use xla_ffi::testing::{Call, Frame, API_WITHOUT_FUTURES};
use xla_ffi::{
    handler, io, Arg, Attr, Cx, Error, HandlerFn, Host, Kernel, Op, Pending, Promise, Result, Ret,
    Untyped, UserData,
};

io! {
    struct SlowIo<'f> { x: Arg<'f, i64>, y: Ret<'f, i64>, pending: Pending<'f>, how: Attr<&'f str> }
}

/// Doubles, on the pool, as it is told.
struct Slow;

impl Op for Slow {
    const TARGET: &'static str = "slow";
    type Dtypes = Untyped;
}

impl Kernel<Host> for Slow {
    type Io<'f> = SlowIo<'f>;

    fn run(mut io: SlowIo<'_>, cx: &Cx<'_, Host>) -> Result<()> {
        match *io.how {
            "unused" => {
                io.y.copy_from(&io.x)?;
                return Ok(());
            }
            "no promise" => return io.pending.keep(io.x).map(drop),
            _ => {}
        }
        let how = (*io.how).to_owned();
        let (x, mut y) = (io.pending.keep(io.x)?, io.pending.keep_mut(io.y)?);
        let promise = io.pending.promise();
        let double = move || {
            for (y, x) in y.iter_mut().zip(&*x) {
                *y = 2 * x;
            }
            drop((x, y));
        };
        if how == "at once" {
            double();
            promise.complete(Ok(()));
            return Ok(());
        }
        let choice = how.clone();
        cx.schedule(move || {
            std::thread::sleep(Duration::from_millis(20));
            match choice.as_str() {
                "panic" => panic!("in a task"),
                "drop" => drop(promise),
                "fail" => promise.complete(Err(Error::invalid_argument("is too slow"))),
                // The operands are still there afterwards.
                _ => promise.complete(Ok(())),
            }
            std::thread::sleep(Duration::from_millis(20));
            double();
        })?;
        match how.as_str() {
            "body fails" => Err(Error::internal("the body failed")),
            "body panics" => panic!("in the body"),
            _ => Ok(()),
        }
    }
}

fn call(how: &str) -> Frame {
    Call::new()
        .arg(&[3], &[1i64, 2, 3])
        .ret::<i64>(&[3])
        .attr("how", how)
        .threads(1)
        .build()
}

fn outcome(how: &str, function: HandlerFn) -> Result<Vec<i64>, String> {
    let mut frame = call(how);
    frame
        .call(function)
        .map_err(|failure| failure.to_string())?;
    Ok(frame.ret::<i64>(0).to_vec())
}

const SLOW: HandlerFn = handler::<Slow, Host>;

#[test]
fn a_call_is_complete_when_its_promise_is_kept_and_its_operands_are_gone() {
    assert_eq!(outcome("later", SLOW), Ok(vec![2, 4, 6]));
    assert_eq!(outcome("at once", SLOW), Ok(vec![2, 4, 6]));
    assert_eq!(outcome("unused", SLOW), Ok(vec![1, 2, 3]));
}

#[test]
fn a_call_that_nobody_completes_is_an_error() {
    let error = |how| outcome(how, SLOW).expect_err(how);
    assert_eq!(error("fail"), "INVALID_ARGUMENT: slow: is too slow");
    for how in ["drop", "panic", "no promise"] {
        assert_eq!(error(how), "INTERNAL: slow: nobody completed the call");
    }
}

#[test]
fn what_the_body_says_waits_for_operands_that_are_kept() {
    for (how, text) in [
        ("body fails", "INTERNAL: slow: the body failed"),
        ("body panics", "INTERNAL: slow: panicked: in the body"),
    ] {
        let mut frame = call(how);
        let failure = frame.call(SLOW).expect_err(how);
        assert_eq!(failure.to_string(), text);
        // The task went on, and wrote to memory that was still there.
        assert_eq!(frame.ret::<i64>(0), [2, 4, 6]);
    }
}

#[test]
fn an_xla_without_futures_is_reported_before_anything_is_done() {
    let call = Call::new()
        .arg(&[1], &[1i64])
        .ret::<i64>(&[1])
        .attr("how", "later")
        .api_size(API_WITHOUT_FUTURES);
    let failure = call.run(SLOW).expect_err("no futures");
    assert_eq!(
        failure.to_string(),
        "UNIMPLEMENTED: slow: this XLA has no XLA_FFI_Future_Create"
    );
}

#[test]
fn a_call_without_a_pool_is_an_error_of_the_body() {
    let call = Call::new()
        .arg(&[1], &[1i64])
        .ret::<i64>(&[1])
        .attr("how", "later");
    let failure = call.run(SLOW).expect_err("no pool");
    assert!(failure.message.contains("ThreadPool_Schedule"), "{failure}");
}

io! {
    struct HeldIo<'f> { pending: Pending<'f> }
}

/// Completed by whoever takes the promise.
struct Held;

impl Op for Held {
    const TARGET: &'static str = "held";
    type Dtypes = Untyped;
}

static PROMISE: Mutex<Option<Promise>> = Mutex::new(None);

impl Kernel<Host> for Held {
    type Io<'f> = HeldIo<'f>;

    fn run(io: HeldIo<'_>, _: &Cx<'_, Host>) -> Result<()> {
        *PROMISE.lock().expect("nobody panics") = Some(io.pending.promise());
        Ok(())
    }
}

#[test]
fn withdrawing_waits_for_calls_that_are_not_complete() {
    let registry = Registry::global();
    // SAFETY: a handler of this program.
    let done = unsafe { registry.register("held", "host", handler::<Held, Host>, None) };
    let trampoline = done.expect("a slot").trampoline;
    for outcome in [Ok(()), Err(Error::internal("held for too long"))] {
        let fails = outcome.is_err();
        // SAFETY: as above.
        let done = unsafe { registry.register("held", "host", handler::<Held, Host>, None) };
        done.expect("the same slot");
        std::thread::scope(|scope| {
            let calling = scope.spawn(move || Call::new().run(trampoline));
            let promise = loop {
                if let Some(promise) = PROMISE.lock().expect("nobody panics").take() {
                    break promise;
                }
                std::thread::yield_now();
            };
            let withdrawn = registry.withdraw("held", "host");
            assert!(!withdrawn.wait_timeout(Duration::from_millis(100)));
            promise.complete(outcome);
            withdrawn.wait();
            let said = calling.join().expect("no panic");
            assert_eq!(said.is_err(), fails);
            if let Err(failure) = said {
                assert_eq!(failure.to_string(), "INTERNAL: held: held for too long");
            }
        });
    }
}

struct Limits {
    calls: AtomicUsize,
}

// SAFETY: only this file's test adds data under this number: a static.
unsafe impl UserData for Limits {
    fn type_id() -> i64 {
        77
    }
}

io! {
    struct CountIo {}
}

/// Counts in what the host added.
struct Count;

impl Op for Count {
    const TARGET: &'static str = "count";
    type Dtypes = Untyped;
}

impl Kernel<Host> for Count {
    type Io<'f> = CountIo;

    fn run(_: CountIo, cx: &Cx<'_, Host>) -> Result<()> {
        cx.user_data::<Limits>()?
            .calls
            .fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn handlers_reach_what_the_host_added() {
    static LIMITS: Limits = Limits {
        calls: AtomicUsize::new(0),
    };
    let mut frame = Call::new().user_data(&LIMITS).build();
    for _ in 0..2 {
        frame.call(handler::<Count, Host>).expect("data");
    }
    assert_eq!(LIMITS.calls.load(Ordering::SeqCst), 2);
    let failure = Call::new().run(handler::<Count, Host>).expect_err("none");
    assert_eq!(
        failure.to_string(),
        "NOT_FOUND: count: XLA_FFI_ExecutionContext_Get failed: no user data of this type"
    );
}
