//! What XLA offers during a call: stream, ids, scratch memory, threads.

use std::collections::HashSet;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use xla_ffi::testing::{Call, Failure};
use xla_ffi::{
    handler, io, Attr, Code, Context, Cx, Error, Host, Kernel, Op, Platform, Result, Ret, Untyped,
};

/// Like [`Host`], but scratch memory comes from XLA, as on a device.
struct Device;

// SAFETY: it claims no host memory.
unsafe impl Platform for Device {
    const NAME: &'static str = "device";
    const HOST_MEMORY: bool = false;

    fn new(_context: &Context<'_>) -> Result<Self> {
        Ok(Device)
    }
}

io! {
    struct AskIo<'f> { what: Attr<&'f str> }
}

/// Runs the one of [`BODIES`] that is asked for with the context of a call.
struct Ask;

impl Op for Ask {
    const TARGET: &'static str = "ask";
    type Dtypes = Untyped;
}

impl<P: Platform> Kernel<P> for Ask {
    type Io<'f> = AskIo<'f>;

    fn run(io: AskIo<'_>, cx: &Cx<'_, P>) -> Result<()> {
        let body = BODIES.iter().find(|(name, _)| name == &*io.what);
        body.expect("one of them").1(cx)
    }
}

type Body = fn(&Context<'_>) -> Result<()>;

macro_rules! bodies {
    ($($body:ident)*) => { [$((stringify!($body), $body as Body)),*] };
}

const BODIES: [(&str, Body); 10] = bodies! {
    ids scratch too_much_scratch every_index_once every_item_once uses_the_pool panics_come_through
    busy_pool schedules subnormals
};

fn ask(what: &str) -> Call {
    Call::new().attr("what", what)
}

fn on_host(call: Call) -> Result<(), Failure> {
    call.run(handler::<Ask, Host>)
}

fn ids(cx: &Context<'_>) -> Result<()> {
    assert_eq!((cx.device_ordinal()?, cx.run_id()?), (3, -4));
    let stream = cx.stream()?;
    Err(Error::new(
        Code::Aborted,
        format!("stream {}", stream as usize),
    ))
}

#[test]
fn stream_and_ids() {
    let failure = on_host(ask("ids").context(0xabc, 3, -4)).expect_err("tells the stream");
    assert_eq!(failure.message, "ask: stream 2748");
    let failure = on_host(ask("ids").context(0, 3, -4)).expect_err("no stream");
    assert_eq!(failure.code, Code::Unimplemented);
    assert_eq!(failure.message, "ask: XLA_FFI_Stream_Get failed: no stream");
}

fn scratch(cx: &Context<'_>) -> Result<()> {
    let (a, b, none) = (cx.scratch(100, 16)?, cx.scratch(1, 1)?, cx.scratch(0, 64)?);
    assert_eq!((a.len(), b.len(), none.is_empty()), (100, 1, true));
    assert_eq!(a.as_ptr() as usize % 16, 0);
    drop(a);
    cx.scratch(8, 3)
        .map(drop)
        .expect_err("3 is no power of two");
    panic!("the rest is given back all the same");
}

fn too_much_scratch(cx: &Context<'_>) -> Result<()> {
    let _some = cx.scratch(600, 8)?;
    cx.scratch(600, 8).map(drop)
}

#[test]
fn scratch_memory_is_given_back() {
    let mut frame = ask("scratch").build();
    frame.call(handler::<Ask, Device>).expect_err("panics");
    assert_eq!(
        frame.scratch(),
        (0, 2),
        "all back; nobody asked for no bytes"
    );
    frame.call(handler::<Ask, Host>).expect_err("panics");
    assert_eq!(
        frame.scratch(),
        (0, 2),
        "the CPU needs no allocator of XLA's"
    );
    let mut frame = ask("too_much_scratch").scratch_limit(1000).build();
    let failure = frame
        .call(handler::<Ask, Device>)
        .expect_err("out of memory");
    assert_eq!(
        failure.message,
        "ask: XLA_FFI_DeviceMemory_Allocate failed: no memory left"
    );
    assert_eq!(frame.scratch(), (0, 2));
}

fn every_index_once(cx: &Context<'_>) -> Result<()> {
    const LARGE: usize = if cfg!(miri) { 20 } else { 1000 };
    for count in [0, 1, 2, LARGE - 1, LARGE] {
        for chunk in [0, 1, 7, 1000, usize::MAX] {
            let seen: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            cx.parallel_for(count, chunk, |range| {
                assert!(range.len() <= chunk.max(1) && !range.is_empty());
                for i in range {
                    seen[i].fetch_add(1, Ordering::Relaxed);
                }
            });
            assert!(
                seen.iter().all(|n| n.load(Ordering::Relaxed) == 1),
                "{count} by {chunk}"
            );
        }
    }
    Ok(())
}

fn every_item_once(cx: &Context<'_>) -> Result<()> {
    const LARGE: usize = if cfg!(miri) { 20 } else { 1000 };
    let (mut a, mut b) = (vec![0usize; LARGE], vec![0usize; LARGE / 2]);
    let pairs = a.chunks_exact_mut(2).zip(&mut b).enumerate();
    cx.parallel_for_each(pairs, |(i, (a, b))| {
        a.fill(i);
        *b = i;
    });
    assert!(a.iter().enumerate().all(|(i, &a)| a == i / 2));
    assert!(b.iter().enumerate().all(|(i, &b)| b == i));
    Ok(())
}

#[test]
fn every_part_runs_once() {
    for threads in [0, 1, 2, 8] {
        on_host(ask("every_index_once").threads(threads)).expect("indices");
        on_host(ask("every_item_once").threads(threads)).expect("items");
    }
}

fn uses_the_pool(cx: &Context<'_>) -> Result<()> {
    assert_eq!(cx.num_threads(), 4);
    // All four must be inside at once for any to leave.
    let (all, ids) = (Barrier::new(4), Mutex::new(HashSet::new()));
    cx.parallel_for(4, 1, |_| {
        all.wait();
        ids.lock()
            .expect("no panics here")
            .insert(std::thread::current().id());
    });
    let ids = ids.into_inner().expect("no panics here");
    assert_eq!(ids.len(), 4);
    assert!(
        ids.contains(&std::thread::current().id()),
        "the caller works, too"
    );
    Ok(())
}

#[test]
fn work_is_spread_over_the_pool() {
    on_host(ask("uses_the_pool").threads(4)).expect("four threads");
}

fn panics_come_through(cx: &Context<'_>) -> Result<()> {
    let done = AtomicUsize::new(0);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cx.parallel_for_each(0..100, |i| {
            assert_ne!(i, 50, "number fifty");
            done.fetch_add(1, Ordering::Relaxed);
        });
    }));
    assert!(outcome.is_err());
    assert!(
        done.load(Ordering::Relaxed) >= 50,
        "those before it were done"
    );
    cx.parallel_for(8, 1, |_| panic!("all of them"));
    unreachable!("the panic goes on");
}

#[test]
fn a_panic_on_another_thread_reaches_the_caller() {
    for threads in [0, 4] {
        let failure = on_host(ask("panics_come_through").threads(threads)).expect_err("panics");
        assert_eq!(failure.message, "ask: panicked: all of them");
    }
}

fn busy_pool(cx: &Context<'_>) -> Result<()> {
    // The only thread of the pool is held up until the caller is through without it.
    let (release, hold) = std::sync::mpsc::channel::<()>();
    cx.schedule(move || hold.recv().unwrap_or(()))?;
    let done = AtomicUsize::new(0);
    cx.parallel_for(10, 1, |_| {
        done.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(done.into_inner(), 10);
    drop(release);
    Ok(())
}

#[test]
fn a_busy_pool_does_not_block_the_caller() {
    // Helpers that start after the call is over must find nothing to do.
    for _ in 0..20 {
        on_host(ask("busy_pool").threads(2)).expect("the caller does it all");
    }
}

fn schedules(cx: &Context<'_>) -> Result<()> {
    let (done, wait) = std::sync::mpsc::channel();
    cx.schedule(|| panic!("nobody hears this"))?;
    cx.schedule(move || done.send(7).expect("somebody waits"))?;
    let got = wait.recv_timeout(Duration::from_secs(60));
    assert_eq!(got, Ok(7));
    Ok(())
}

#[test]
fn scheduled_tasks_run_and_their_panics_end_with_them() {
    on_host(ask("schedules").threads(1)).expect("a pool");
    let failure = on_host(ask("schedules")).expect_err("no pool");
    assert_eq!(
        failure.message,
        "ask: XLA_FFI_ThreadPool_Schedule failed: no thread pool"
    );
}

fn subnormals(cx: &Context<'_>) -> Result<()> {
    let halved = || black_box(f64::MIN_POSITIVE) / black_box(2.0) > 0.0;
    assert!(halved(), "on the caller's thread");
    let all = Barrier::new(3);
    cx.parallel_for(3, 1, |_| {
        all.wait();
        assert!(halved(), "on the pool's");
    });
    let (done, wait) = std::sync::mpsc::channel();
    cx.schedule(move || done.send(halved()).expect("somebody waits"))?;
    assert_eq!(wait.recv_timeout(Duration::from_secs(60)), Ok(true));
    Ok(())
}

#[test]
fn underflow_is_gradual_on_every_thread() {
    // The harness flushes subnormals to zero, as XLA does, and sees that it stays so outside.
    on_host(ask("subnormals").threads(3)).expect("a pool");
}

io! {
    struct OrdinalIo<'f> { out: Ret<'f, i32> }
}

struct Ordinal;

impl Op for Ordinal {
    const TARGET: &'static str = "ordinal";
    type Dtypes = Untyped;
}

/// A platform that cannot be had.
struct Broken;

// SAFETY: it claims no host memory.
unsafe impl Platform for Broken {
    const NAME: &'static str = "broken";
    const HOST_MEMORY: bool = false;

    fn new(_context: &Context<'_>) -> Result<Self> {
        Err(Error::new(Code::Unavailable, "the library is missing"))
    }
}

impl<P: Platform> Kernel<P> for Ordinal {
    type Io<'f> = OrdinalIo<'f>;

    fn run(mut io: OrdinalIo<'_>, cx: &Cx<'_, P>) -> Result<()> {
        io.out.as_mut_slice()?[0] = cx.device_ordinal()?;
        Ok(())
    }
}

#[test]
fn a_platform_may_refuse() {
    let call = || Call::new().ret::<i32>(&[]).context(0, 5, 0);
    let failure = call().run(handler::<Ordinal, Broken>).expect_err("missing");
    assert_eq!(
        failure.to_string(),
        "UNAVAILABLE: ordinal: the library is missing"
    );
    let mut frame = call().build();
    frame.call(handler::<Ordinal, Host>).expect("a device");
    assert_eq!(frame.ret::<i32>(0), [5]);
}
