//! Calls under check and in a profile, by handlers that do one thing wrong each.

mod elements;
mod outside;
mod sessions;

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use xla_ffi::half::{bf16, f16};
use xla_ffi::registry::{Checks, Debug, Finding, Kind, Registry};
use xla_ffi::testing::{Call, Failure, Frame};
use xla_ffi::{sys, Code, Complex, Error, HandlerFn, OperandKind, Result, Scalar};

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
