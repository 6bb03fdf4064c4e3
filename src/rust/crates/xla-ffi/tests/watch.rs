//! Calls under check and in a profile, by handlers that do one thing wrong each.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use xla_ffi::half::{bf16, f16};
use xla_ffi::registry::{Checks, Debug, Finding, Kind, Profile, Registry};
use xla_ffi::testing::{Call, Failure, Frame};
use xla_ffi::{
    handler, io, sys, Arg, Code, Complex, Cx, Error, HandlerFn, Host, Kernel, Op, OperandKind,
    Pending, Result, Ret, Scalar, Untyped,
};

/// What is watched is the process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The elements of an operand, and how many there are.
unsafe fn buffer<T>(pointers: *mut *mut c_void, index: usize) -> (*mut T, usize) {
    // SAFETY: a frame of this file, with an operand there.
    unsafe {
        let raw = *(*pointers.add(index)).cast::<sys::XLA_FFI_Buffer>();
        let dims = match raw.rank {
            0 => &[],
            rank => std::slice::from_raw_parts(raw.dims, rank as usize),
        };
        (raw.data.cast(), dims.iter().product::<i64>() as usize)
    }
}

unsafe fn copy<T>(from: *const T, to: *mut T, count: usize) {
    // Of none there may be no address, which Rust 1.81 refuses.
    if count > 0 {
        // SAFETY: elements of operands; the two may be one.
        unsafe { std::ptr::copy(from, to, count) };
    }
}

/// Handlers that see raw memory: the operand `x`, the result `z`, and the number of elements.
macro_rules! handlers {
    ($(fn $name:ident($x:ident: $ty:ty, $z:ident, $n:ident) $body:block)*) => {$(
        unsafe extern "C" fn $name(
            frame: *mut sys::XLA_FFI_CallFrame,
        ) -> *mut sys::XLA_FFI_Error {
            // SAFETY: frames of this file; what a body does wrong stays within the zones.
            unsafe {
                if xla_ffi::raw::answer_metadata(frame, 0) {
                    return std::ptr::null_mut();
                }
                let ($x, $n) = buffer::<$ty>((*frame).args.args, 0);
                let ($z, _) = buffer::<$ty>((*frame).rets.rets, 0);
                $body
            }
            std::ptr::null_mut()
        }
    )*};
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

handlers! {
    fn good(x: f64, z, n) { copy(x, z, n); }
    fn good_c64(x: Complex<f32>, z, n) { copy(x, z, n); }
    fn writes_behind(x: f64, z, n) { copy(x, z, n); z.add(n + 1).write(7.0); }
    fn writes_before(x: f32, z, n) { copy(x, z, n); z.sub(1).write(3.0); }
    fn writes_behind_operand(x: i32, z, n) { copy(x, z, n); x.add(n).write(5); }
    fn leaves_holes(x: f64, z, n) { (0..n).step_by(2).for_each(|i| z.add(i).write(*x.add(i))); }
    fn leaves_imaginary_part(x: Complex<f32>, z, n) {
        let last = z.add(n - 1).cast::<f32>().add(1);
        let before = last.read();
        copy(x, z, n);
        last.write(before);
    }
    fn changes_operand(x: f64, z, n) { copy(x, z, n); x.add(3).write(-1.0); }
    fn counts(x: f64, z, n) {
        copy(x, z, n);
        z.add(n - 1).write(CALLS.fetch_add(1, Ordering::Relaxed) as f64);
    }
    fn accumulates(x: f64, z, n) { (0..n).for_each(|i| *z.add(i) += *x.add(i)); }
    fn reads_behind(x: f64, z, n) { (0..n).for_each(|i| z.add(i).write(*x.add(i) + *x.add(i + 1))); }
    fn shifts(x: f64, z, n) { copy(x.add(1), z, n); }
    fn shifts_back(x: f64, z, n) { copy(x.sub(1), z, n); }
    fn copies_too_many(x: f64, z, n) { copy(x, z, n + 1); }
    fn copies_from_before(x: f64, z, n) { copy(x.sub(1), z.sub(1), n + 1); }
    fn sees_alignment(x: f64, z, n) { copy(x, z, n); z.write((x as usize % 64) as f64); }
    fn needs_alias(_x: f64, z, n) { (0..n).for_each(|i| *z.add(i) *= 2.0); }
    fn divides(x: f64, z, n) { (0..n).for_each(|i| z.add(i).write(1.0 / *x.add(i))); }
    fn overflows_f16(x: f16, z, n) {
        (0..n).for_each(|i| z.add(i).write(f16::from_f32((*x.add(i)).to_f32() * 1e5)));
    }
    fn nan_of_its_own(_x: Complex<f64>, z, n) {
        let payload = CALLS.fetch_add(1, Ordering::Relaxed) as u64;
        let nan = f64::from_bits(f64::NAN.to_bits() | payload);
        (0..n).for_each(|i| z.add(i).write(Complex::new(nan, 1.0)));
    }
    fn nan_bf16(_x: bf16, z, n) { (0..n).for_each(|i| z.add(i).write(bf16::NAN)); }
}

unsafe extern "C" fn fails_the_second_time(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: frames of this file.
    unsafe {
        if xla_ffi::raw::answer_metadata(frame, 0) {
            return std::ptr::null_mut();
        }
        let (x, n) = buffer::<f64>((*frame).args.args, 0);
        let (z, _) = buffer::<f64>((*frame).rets.rets, 0);
        copy(x, z, n);
        if CALLS.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
            return xla_ffi::raw::report(frame, &Error::new(Code::Aborted, "once is enough"));
        }
    }
    std::ptr::null_mut()
}

fn registered(target: &str, platform: &str, handler: HandlerFn) -> HandlerFn {
    // SAFETY: a handler of this program.
    let done = unsafe { Registry::global().register(target, platform, handler, None) };
    done.expect("a free slot").trampoline
}

/// A call of `handler` under these checks: what comes of it, and the findings.
fn checked(
    target: &str,
    handler: HandlerFn,
    checks: Checks,
    frame: &mut Frame,
) -> (Result<(), Failure>, Vec<Finding>) {
    let _alone = alone();
    CALLS.store(0, Ordering::Relaxed);
    let trampoline = registered(target, "host", handler);
    let debug = Debug::start(checks, []);
    let outcome = frame.call(trampoline);
    assert_eq!(debug.running(), 0);
    (outcome, debug.findings())
}

/// Whether there are pages that cannot be touched; Miri has none.
const PAGES: bool = cfg!(all(unix, not(miri)));

const X: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

fn call() -> Frame {
    Call::new().arg(&[2, 3], &X).ret::<f64>(&[2, 3]).build()
}

/// The one finding, as text, of a handler that makes a copy of `X` otherwise.
fn only(target: &str, handler: HandlerFn, frame: &mut Frame) -> (Kind, String) {
    let (outcome, findings) = checked(target, handler, Checks::default(), frame);
    outcome.expect("no error");
    let [finding] = &findings[..] else {
        panic!("one finding, not {findings:#?}");
    };
    let operand = match finding.operand {
        Some((OperandKind::Argument, index)) => format!("operand {}", index + 1),
        Some((_, index)) => format!("result {}", index + 1),
        None => String::new(),
    };
    assert_eq!((&*finding.target, &*finding.platform), (target, "host"));
    assert_eq!(finding.calls, 1);
    (finding.kind, finding.text(&operand))
}

fn same_bytes<T: Scalar>(a: &[T], b: &[T]) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

#[test]
fn a_good_handler_has_no_findings_and_its_results_arrive() {
    for guard_pages in [false, PAGES] {
        let mut checks = Checks::default();
        checks.guard_pages = guard_pages;
        let mut frame = call();
        let (outcome, findings) = checked("good", good, checks, &mut frame);
        outcome.expect("no error");
        assert_eq!(findings, []);
        assert_eq!((frame.ret::<f64>(0), frame.arg::<f64>(0)), (&X[..], &X[..]));
    }
}

#[test]
fn operands_of_every_size_and_kind_pass() {
    let complex = [Complex::new(1f32, 2.0); 5];
    for n in [0usize, 1, 5] {
        let mut frame = Call::new()
            .arg(&[n as i64], &complex[..n])
            .ret::<Complex<f32>>(&[n as i64])
            .build();
        for guard_pages in [false, PAGES] {
            let mut checks = Checks::default();
            checks.guard_pages = guard_pages;
            let (outcome, findings) = checked("good_c64", good_c64, checks, &mut frame);
            outcome.expect("no error");
            assert_eq!(findings, []);
            assert!(same_bytes(frame.ret::<Complex<f32>>(0), &complex[..n]));
        }
    }
}

#[test]
fn writes_outside_are_found() {
    let (kind, text) = only("writes_behind", writes_behind, &mut call());
    assert_eq!(kind, Kind::WriteBehind);
    assert_eq!(
        text,
        "wrote 8 bytes behind result 1 (f64 (2,3)), 7 at element 8"
    );
    let mut frame = Call::new()
        .arg(&[3], &[1f32, 2.0, 3.0])
        .ret::<f32>(&[3])
        .build();
    let (kind, text) = only("writes_before", writes_before, &mut frame);
    assert_eq!(kind, Kind::WriteBefore);
    assert_eq!(
        text,
        "wrote 4 bytes before result 1 (f32 (3)), 3 at element 0"
    );
    let mut frame = Call::new().arg(&[], &[1i32]).ret::<i32>(&[]).build();
    let (_, text) = only("writes_behind_operand", writes_behind_operand, &mut frame);
    assert_eq!(
        text,
        "wrote 4 bytes behind operand 1 (i32 ()), 5 at element 2"
    );
}

/// Takes scratch memory twice, and writes where `X` says.
struct Scratches;

impl Op for Scratches {
    const TARGET: &'static str = "scratches";
    type Dtypes = Untyped;
}

io! {
    struct ScratchesIo<'f> {
        at: Arg<'f, f64>,
        z: Ret<'f, f64>,
    }
}

impl Kernel<Host> for Scratches {
    type Io<'f> = ScratchesIo<'f>;

    fn run(mut io: ScratchesIo<'_>, cx: &Cx<'_, Host>) -> Result<()> {
        let at = io.at.as_slice()?[0] as isize;
        let good = cx.scratch(100, 256)?;
        let bad = cx.scratch(24, 8)?;
        assert_eq!(good.as_ptr() as usize % 256, 0);
        // SAFETY: what is written outside stays within the zones.
        unsafe {
            good.as_ptr().cast::<u8>().add(99).write(1);
            bad.as_ptr().cast::<u8>().offset(at).write(7);
        }
        // SAFETY: it may hold anything.
        let read = unsafe { bad.as_ptr().cast::<u8>().add(5).read() };
        io.z.as_mut_slice()?[0] = f64::from(if (5..7).contains(&at) { read } else { 7 });
        Ok(())
    }
}

#[test]
fn writes_beside_scratch_memory_are_found() {
    let run = |at: f64, checks: Checks| {
        let mut frame = Call::new().arg(&[1], &[at]).ret::<f64>(&[1]).build();
        let handler = handler::<Scratches, Host>;
        let (outcome, findings) = checked("scratches", handler, checks, &mut frame);
        outcome.expect("no error");
        (frame.ret::<f64>(0)[0], findings)
    };
    assert_eq!(run(5.0, Checks::default()), (7.0, Vec::new()));
    assert_eq!(run(30.0, Checks::none()), (7.0, Vec::new()));
    // What it reads was not written.
    let (_, findings) = run(6.0, Checks::default());
    assert_eq!(findings[0].kind, Kind::Uninitialised);
    for (at, kind, text) in [
        (
            30.0,
            Kind::WriteBehind,
            "wrote 1 byte behind it (ui8 (24)), 7 at element 31",
        ),
        (
            -1.0,
            Kind::WriteBefore,
            "wrote 1 byte before it (ui8 (24)), 7 at element 0",
        ),
    ] {
        let (_, findings) = run(at, Checks::default());
        let [finding] = &findings[..] else {
            panic!("one finding, not {findings:#?}");
        };
        assert_eq!(finding.kind, kind);
        assert_eq!(finding.operand, Some((OperandKind::Scratch, 1)));
        assert_eq!(finding.text("it"), text);
    }
}

#[test]
fn what_is_read_outside_is_told_as_that() {
    use Kind::{ReadBefore, ReadBehind, WriteBefore, WriteBehind};
    let of_x = |kind, note: &str| {
        let side = if kind == ReadBefore {
            "before"
        } else {
            "behind"
        };
        let text = format!("read {side} operand 1 (f64 (2,3)): {note}");
        (kind, (OperandKind::Argument, 0), text)
    };
    let of_z = |kind, text: &str| (kind, (OperandKind::Result, 0), text.to_owned());
    let depends = |at: &str| format!("result 1 depends on what lies there: {at} is ");
    let cases: [(&str, HandlerFn, Vec<_>); 5] = [
        (
            "reads_behind",
            reads_behind,
            vec![of_x(ReadBehind, &depends("[2, 3]"))],
        ),
        ("shifts", shifts, vec![of_x(ReadBehind, &depends("[2, 3]"))]),
        (
            "shifts_back",
            shifts_back,
            vec![of_x(ReadBefore, &depends("[1, 1]"))],
        ),
        (
            "copies_too_many",
            copies_too_many,
            vec![
                of_x(ReadBehind, "what lies there was written behind result 1"),
                of_z(WriteBehind, "wrote 8 bytes behind result 1 (f64 (2,3)), "),
            ],
        ),
        (
            "copies_from_before",
            copies_from_before,
            vec![
                of_x(ReadBefore, "what lies there was written before result 1"),
                of_z(WriteBefore, "wrote 8 bytes before result 1 (f64 (2,3)), "),
            ],
        ),
    ];
    for (target, handler, expected) in cases {
        let (outcome, findings) = checked(target, handler, Checks::default(), &mut call());
        outcome.expect("no error");
        assert_eq!(findings.len(), expected.len(), "{target}: {findings:#?}");
        for (finding, (kind, operand, text)) in findings.iter().zip(expected) {
            assert_eq!(
                (finding.kind, finding.operand),
                (kind, Some(operand)),
                "{target}"
            );
            let name = match operand.0 {
                OperandKind::Result => "result 1",
                _ => "operand 1",
            };
            let told = finding.text(name);
            assert!(told.starts_with(&text), "{target}: {told}");
        }
    }
}

/// Two operands: the second one's neighbour gets into the first result.
#[test]
fn of_several_operands_the_right_one_is_named() {
    unsafe extern "C" fn second(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
        // SAFETY: a frame of this test.
        unsafe {
            if xla_ffi::raw::answer_metadata(frame, 0) {
                return std::ptr::null_mut();
            }
            let (x, n) = buffer::<f32>((*frame).args.args, 1);
            for ret in 0..2 {
                let (z, _) = buffer::<f32>((*frame).rets.rets, ret);
                copy(x.add(1 - ret), z, n);
            }
        }
        std::ptr::null_mut()
    }
    let x = [1f32, 2.0, 3.0];
    let call = Call::new().arg(&[3], &x).arg(&[3], &x);
    let mut frame = call.ret::<f32>(&[3]).ret::<f32>(&[3]).build();
    let (outcome, findings) = checked("second", second, Checks::default(), &mut frame);
    outcome.expect("no error");
    let [finding] = &findings[..] else {
        panic!("one finding, not {findings:#?}");
    };
    assert_eq!(finding.kind, Kind::ReadBehind);
    assert_eq!(finding.operand, Some((OperandKind::Argument, 1)));
    assert_eq!(frame.ret::<f32>(1), x);
}

#[test]
fn what_is_left_unwritten_is_found() {
    let (kind, text) = only("leaves_holes", leaves_holes, &mut call());
    assert_eq!(kind, Kind::Unwritten);
    assert_eq!(
        text,
        "left 3 elements of result 1 (f64 (2,3)) unwritten, the first [1, 2]"
    );
    let mut frame = Call::new().arg(&[0], &[0f64; 0]).ret::<f64>(&[]).build();
    let (_, text) = only("leaves_holes", leaves_holes, &mut frame);
    assert_eq!(text, "left result 1 (f64 ()) unwritten");
    let x = [Complex::new(1f32, 2.0); 3];
    let mut frame = Call::new().arg(&[3], &x).ret::<Complex<f32>>(&[3]).build();
    let (_, text) = only("leaves_imaginary_part", leaves_imaginary_part, &mut frame);
    assert_eq!(
        text,
        "left 1 element of result 1 (c64 (3)) unwritten, the first [3]"
    );
}

#[test]
fn a_changed_operand_is_found_and_does_not_reach_xla() {
    let mut frame = call();
    let (kind, text) = only("changes_operand", changes_operand, &mut frame);
    assert_eq!(kind, Kind::OperandChanged);
    assert_eq!(
        text,
        "changed 1 element of operand 1 (f64 (2,3)): [2, 1] was 8 and is -1"
    );
    assert_eq!(frame.arg::<f64>(0), X);
}

#[test]
fn an_operand_in_place_of_which_the_result_is_may_change() {
    let mut frame = Call::new().arg(&[6], &X).ret_aliasing(0).build();
    let (outcome, findings) = checked("good in place", good, Checks::default(), &mut frame);
    outcome.expect("no error");
    assert_eq!(findings, []);
    let (kind, text) = only("needs_alias", needs_alias, &mut frame);
    assert_eq!(kind, Kind::Aliasing);
    assert!(
        text.starts_with(
            "result 1 (f64 (6)) differs in 6 elements with memory of its own in place of an \
             operand's: [1] is 2 and "
        ),
        "{text}"
    );
    assert_eq!(frame.ret::<f64>(0), X.map(|x| 2.0 * x));
}

#[test]
fn runs_that_differ_are_told_apart_by_why() {
    let (kind, text) = only("counts", counts, &mut call());
    assert_eq!(kind, Kind::Nondeterministic);
    assert!(
        text.starts_with(
            "result 1 (f64 (2,3)) differs in 1 element between runs on the same operands: [2, 3] is "
        ),
        "{text}"
    );
    let (kind, text) = only("accumulates", accumulates, &mut call());
    assert_eq!(kind, Kind::Uninitialised);
    assert!(
        text.starts_with(
            "result 1 (f64 (2,3)) depends in 6 elements on memory that is no input (such as a result or \
             scratch memory before it is written): [1, 1] is "
        ),
        "{text}"
    );
    let (kind, text) = only("sees_alignment", sees_alignment, &mut call());
    assert_eq!(kind, Kind::Alignment);
    assert_eq!(
        text,
        "result 1 (f64 (2,3)) differs in 1 element with operands aligned to 16 bytes, not 64: \
         [1, 1] is 0 and 16"
    );
    let (outcome, findings) = checked(
        "fails_the_second_time",
        fails_the_second_time,
        Checks::default(),
        &mut call(),
    );
    outcome.expect("the first run");
    assert_eq!(
        findings[0].text(""),
        "failed when run again on the same operands: fails_the_second_time (host): once is enough"
    );
}

#[test]
fn what_is_not_finite_is_found_where_operands_are() {
    let frame = |x: &[f64]| Call::new().arg(&[3], x).ret::<f64>(&[3]).build();
    let (kind, text) = only("divides", divides, &mut frame(&[1.0, 0.0, 2.0]));
    assert_eq!(kind, Kind::NotFinite);
    assert_eq!(
        text,
        "result 1 (f64 (3)) is not finite in 1 element, from finite operands: [2] is Inf"
    );
    let mut of_nan = frame(&[1.0, f64::NAN, 0.0]);
    let (_, findings) = checked("divides", divides, Checks::default(), &mut of_nan);
    assert_eq!(findings, []);
    let x = [f16::ONE, f16::ZERO];
    let mut frame = Call::new().arg(&[2], &x).ret::<f16>(&[2]).build();
    let (_, text) = only("overflows_f16", overflows_f16, &mut frame);
    assert!(text.ends_with("[1] is Inf"), "{text}");
    let mut frame = Call::new()
        .arg(&[1], &[bf16::ONE])
        .ret::<bf16>(&[1])
        .build();
    let (_, text) = only("nan_bf16", nan_bf16, &mut frame);
    assert!(text.ends_with("[1] is NaN"), "{text}");
}

#[test]
fn one_nan_is_as_good_as_another() {
    let x = [Complex::new(f64::NAN, 0.0); 2];
    let call = Call::new().arg(&[2], &x).ret::<Complex<f64>>(&[2]);
    let (_, findings) = checked(
        "nan_of_its_own",
        nan_of_its_own,
        Checks::default(),
        &mut call.build(),
    );
    assert_eq!(findings, []);
}

#[test]
fn only_what_is_asked_for_is_told() {
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
fn devices_are_not_checked_and_it_is_told() {
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
