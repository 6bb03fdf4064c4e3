//! Scratch memory of own ops under check.

// Each body relies on its signature, which stands beside it.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use custom_ops::abi::Call as Body;
use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, Body as Code, CustomOp, Instance, Options};
use xla_ffi::registry::{Checks, Debug, Finding, Kind};
use xla_ffi::testing::Call;
use xla_ffi::{DataType, OperandKind};

const SIGNATURE: &str = "x: f64[..., n]; at: i64 -> z: f64[..., n]; a: i32[3], b: f64[2*n+1]";

/// Writes into `b` where `at` says, and copies by way of `a`.
unsafe extern "C" fn body(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let array = |at: usize| (*call.buffers.add(at)).cast::<f64>();
        let (n, at) = (*call.dims, *(*call.attributes).data.cast::<i64>());
        let a = array(2).cast::<i32>();
        let b = array(3);
        assert!(a as usize % 64 == 0 && b as usize % 64 == 0);
        for i in 0..n as usize {
            b.add(i).write(*array(0).add(i));
        }
        b.offset(at as isize).write(9.0);
        a.write(2);
        for i in 0..n as usize {
            *array(1).add(i) = f64::from(*a) * *b.add(i);
        }
    }
    0
}

/// What is found in a call with a batch of three, of which only the results of `at` beyond `n` are
/// the operand's double.
fn found(at: i64, guard_pages: bool) -> Vec<Finding> {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone: MutexGuard<'_, ()> = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let signature = Signature::parse(SIGNATURE).unwrap();
    let sets = Sets::new(&signature, &[]).unwrap();
    let instances = vec![Instance::new(Vec::new(), Code::C(body))];
    // SAFETY: the function above, as the signature says; what it writes outside stays in the zones.
    let op = unsafe { CustomOp::new("scratch", signature, sets, instances, Options::default()) };
    let trampoline = register(&op.unwrap(), None).unwrap().trampoline;
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let call = Call::new().arg(&[3, 2], &x).ret::<f64>(&[3, 2]);
    let mut frame = call.attr("at", at).build();
    let mut checks = Checks::default();
    checks.guard_pages = guard_pages;
    let debug = Debug::start(checks, []);
    frame.call(trampoline).unwrap();
    assert_eq!(frame.ret::<f64>(0), x.map(|x| 2.0 * x));
    debug.findings()
}

#[test]
fn writes_beside_scratch_arrays_are_found() {
    assert_eq!(found(4, false), []);
    for (at, kind, text) in [
        (
            5,
            Kind::WriteBehind,
            "wrote 8 bytes behind `b` (f64 (5)), 9 at element 6",
        ),
        (
            -1,
            Kind::WriteBefore,
            "wrote 8 bytes before `b` (f64 (5)), 9 at element 0",
        ),
    ] {
        let findings = found(at, false);
        let [finding] = &findings[..] else {
            panic!("one finding, not {findings:#?}");
        };
        assert_eq!((finding.kind, finding.dtype), (kind, DataType::F64));
        assert_eq!(finding.operand, Some((OperandKind::Scratch, 1)));
        assert_eq!(finding.text("`b`"), text);
    }
}

#[test]
#[cfg(all(unix, not(miri)))]
fn scratch_arrays_lie_at_guard_pages() {
    assert_eq!(found(4, true), []);
    // Memory behind 40 bytes is free up to 64, where the page begins.
    assert_eq!(found(5, true)[0].kind, Kind::WriteBehind);
}
