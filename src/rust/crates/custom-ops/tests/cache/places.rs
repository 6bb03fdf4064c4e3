//! What places in programs share, on several threads.

use super::common::*;
use custom_ops::{Body as Code, BoundCall, CustomOp, Instance};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use xla_ffi::sys;
use xla_ffi::testing::Call;

/// A frame that threads copy.
struct Shared(*const sys::XLA_FFI_CallFrame);

unsafe impl Sync for Shared {}

#[test]
fn several_threads_may_make_the_first_call() {
    let op = times_op("at once");
    let handler = handler(&op);
    let done = AtomicUsize::new(0);
    for _ in 0..if cfg!(miri) { 2 } else { 50 } {
        let mut frame = kept(product(), handler);
        let raw = Shared(frame.as_raw());
        let raw = &raw;
        let start = std::sync::Barrier::new(3);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    // Frames of their own, of one place in the program.
                    let mut result = [0.0f64; 2];
                    let mut frame = unsafe { std::ptr::read(raw.0) };
                    let mut buffer: sys::XLA_FFI_Buffer = unsafe { *(*frame.rets.rets).cast() };
                    buffer.data = result.as_mut_ptr().cast();
                    let mut rets = [std::ptr::from_mut(&mut buffer).cast()];
                    frame.rets.rets = rets.as_mut_ptr();
                    start.wait();
                    for _ in 0..2 {
                        assert!(unsafe { handler(&mut frame) }.is_null());
                        assert_eq!(result, [3.0, 6.0]);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
    }
    assert!(done.load(Ordering::Relaxed) % 6 == 0);
}

/// Of `x: f64[n]; k: i64 = 1 -> z: f64[n]`.
fn shifted(n: usize, k: i64, op: &CustomOp) -> Call {
    let x: Vec<_> = (0..n).map(|i| i as f64).collect();
    let call = Call::new().arg(&[n as i64], &x).ret::<f64>(&[n as i64]);
    call.attr("k", k).attr("xlaffi.op", op.digest())
}

fn shift(call: &mut BoundCall<'_>) -> xla_ffi::Result<()> {
    let k = i64::from_ne_bytes(call.attribute(0).bytes.try_into().expect("an i64"));
    let operand: Vec<u8> = call.operand(0).map_or_else(Vec::new, |x| x.bytes.to_vec());
    let result = call.result(0).bytes.chunks_exact_mut(8);
    for (x, z) in operand.chunks_exact(8).zip(result) {
        let x = f64::from_ne_bytes(x.try_into().expect("an f64"));
        z.copy_from_slice(&(x + k as f64).to_ne_bytes());
    }
    Ok(())
}

fn shift_op(name: &str) -> Arc<CustomOp> {
    let instances = vec![Instance::new(Vec::new(), Code::Host(Box::new(shift)))];
    op(name, "x: f64[n]; k: i64 = 1 -> z: f64[n]", instances, false)
}

#[test]
fn places_that_are_alike_share_what_is_kept() {
    let op = shift_op("shared");
    let handler = handler(&op);
    let free = Arc::strong_count(&op);
    let kept_by = || Arc::strong_count(&op) - free;
    let place = |n, k| kept(shifted(n, k, &op), handler);
    let mut places = [
        place(2, 1),
        place(2, 1),
        place(3, 1),
        place(2, 5),
        place(3, 5),
    ];
    assert_eq!(kept_by(), 2, "one for each attribute");
    let expected: [&[f64]; 5] = [
        &[1.0, 2.0],
        &[1.0, 2.0],
        &[1.0, 2.0, 3.0],
        &[5.0, 6.0],
        &[5.0, 6.0, 7.0],
    ];
    for round in 0..3 {
        for (frame, expected) in places.iter_mut().zip(expected) {
            frame.call(handler).unwrap();
            assert_eq!(frame.ret::<f64>(0), expected, "round {round}");
        }
    }
    let [first, mut second, third, fourth, fifth] = places;
    drop((first, third, fourth));
    assert_eq!(kept_by(), 2);
    second.call(handler).unwrap();
    assert_eq!(second.ret::<f64>(0), [1.0, 2.0]);
    drop(fifth);
    assert_eq!(kept_by(), 1);
    drop(second);
    assert_eq!(kept_by(), 0);
    // What was kept for nobody any more is made anew.
    let mut again = place(2, 5);
    again.call(handler).unwrap();
    assert_eq!(again.ret::<f64>(0), [5.0, 6.0]);
    assert_eq!(kept_by(), 1);
}

#[test]
fn places_of_many_shapes_are_told_apart() {
    let op = shift_op("many shapes");
    let handler = handler(&op);
    let shapes = if cfg!(miri) { 20 } else { 400 };
    let free = Arc::strong_count(&op);
    let mut places: Vec<_> = (0..shapes)
        .map(|n| kept(shifted(n, 1, &op), handler))
        .collect();
    assert_eq!(Arc::strong_count(&op), free + 1);
    for round in 0..3 {
        for (n, frame) in places.iter_mut().enumerate() {
            frame.call(handler).unwrap();
            let expected: Vec<_> = (1..=n).map(|i| i as f64).collect();
            assert_eq!(frame.ret::<f64>(0), expected, "{n}, round {round}");
        }
    }
    // Places that come now do not join so many.
    let mut one = kept(shifted(3, 1, &op), handler);
    one.call(handler).unwrap();
    assert_eq!(one.ret::<f64>(0), [1.0, 2.0, 3.0]);
    assert_eq!(
        Arc::strong_count(&op),
        free + if cfg!(miri) { 1 } else { 2 }
    );
    drop(places);
    one.call(handler).unwrap();
    let mut other = kept(shifted(2, 1, &op), handler);
    other.call(handler).unwrap();
    assert_eq!(other.ret::<f64>(0), [1.0, 2.0]);
    assert_eq!(Arc::strong_count(&op), free + 1, "the two share theirs");
}

#[test]
fn programs_may_come_and_go_on_several_threads() {
    let op = shift_op("come and go");
    let handler = handler(&op);
    let free = Arc::strong_count(&op);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let op = &op;
            scope.spawn(move || {
                for round in 0..if cfg!(miri) { 3 } else { 300 } {
                    let n = 1 + (thread + round) % 3;
                    let mut frame = kept(shifted(n, 2, op), handler);
                    for _ in 0..2 {
                        frame.call(handler).unwrap();
                        assert_eq!(frame.ret::<f64>(0)[n - 1], n as f64 + 1.0);
                    }
                }
            });
        }
    });
    assert_eq!(Arc::strong_count(&op), free);
}
