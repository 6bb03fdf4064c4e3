//! Calls of a program that keeps what their first one was like: they do what others do, and nothing
//! that has changed since is overlooked.

// Each body relies on its signature, which stands beside it.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use custom_ops::abi::Call as Body;
use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, Body as Code, BoundCall, CustomOp, Instance, Options};
use xla_ffi::registry::Registry;
use xla_ffi::testing::{Call, Frame};
use xla_ffi::{sys, DataType, HandlerFn};

fn op(name: &str, text: &str, instances: Vec<Instance>, whole: bool) -> Arc<CustomOp> {
    let signature = Signature::parse(text).unwrap();
    let dtypes = [DataType::F32, DataType::F64];
    let sets: Vec<_> = signature
        .dtypes
        .iter()
        .map(|name| (name.as_str(), &dtypes[..]))
        .collect();
    let sets = Sets::new(&signature, &sets).unwrap();
    let options = Options {
        whole,
        ..Options::default()
    };
    // SAFETY: functions of this file, as their signatures say.
    let op = unsafe { CustomOp::new(name, signature, sets, instances, options) }.unwrap();
    register(&op, None).unwrap();
    op
}

/// What XLA calls.
fn handler(op: &CustomOp) -> HandlerFn {
    Registry::global().lookup(op.name(), "host").unwrap()
}

/// The call in a program that keeps its op.
fn kept(call: Call, handler: HandlerFn) -> Frame {
    let mut frame = call.stage(sys::XLA_FFI_ExecutionStage_INSTANTIATE).build();
    frame.call(handler).unwrap();
    frame.set_stage(sys::XLA_FFI_ExecutionStage_EXECUTE);
    frame
}

/// `x: T[n], y: T[] -> z: T[n]`
unsafe extern "C" fn times<T: Copy + std::ops::Mul<Output = T>>(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let array = |i: usize| (*call.buffers.add(i)).cast::<T>();
        for i in 0..*call.dims as usize {
            *array(2).add(i) = *array(0).add(i) * *array(1);
        }
    }
    0
}

fn times_op(name: &str) -> Arc<CustomOp> {
    let instances = vec![
        Instance::new(vec![DataType::F32], Code::C(times::<f32>)),
        Instance::new(vec![DataType::F64], Code::C(times::<f64>)),
    ];
    op(name, "x: T[n], y: T[] -> z: T[n]", instances, false)
}

fn product() -> Call {
    Call::new()
        .arg(&[2], &[1.0, 2.0])
        .arg(&[], &[3.0])
        .ret::<f64>(&[2])
}

/// Writes something that depends on all that it is given.
fn all_of_it(call: &mut BoundCall<'_>) -> xla_ffi::Result<()> {
    let mut sum = call.element() as u64;
    let mut add = |what: u64| sum = sum.wrapping_mul(31).wrapping_add(what);
    for at in 0..call.operands() {
        match call.operand(at) {
            None => add(1),
            Some(array) => {
                array.dims.iter().for_each(|&dim| add(dim as u64));
                array.bytes.iter().for_each(|&byte| add(byte.into()));
            }
        }
    }
    for at in 0..call.signature().attributes.len() {
        call.attribute(at)
            .bytes
            .iter()
            .for_each(|&byte| add(byte.into()));
    }
    call.dims().iter().for_each(|&dim| add(dim as u64));
    for at in 0..call.results() {
        for (place, bytes) in call.result(at).bytes.chunks_exact_mut(8).enumerate() {
            let told = (sum.wrapping_add((at * 100 + place) as u64) % 100_003) as f64;
            bytes.copy_from_slice(&told.to_ne_bytes());
        }
    }
    Ok(())
}

#[test]
fn calls_of_all_kinds_come_out_as_without_a_program() {
    let x = || Call::new().arg(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    type Case<'a> = (&'a str, &'a [&'a dyn Fn() -> Call]);
    let cases: &[Case<'_>] = &[
        ("x: f64[m, n], y: f64[] -> z: f64[n, m]", &[&|| x().arg(&[], &[1.0]).ret::<f64>(&[3, 2])]),
        (
            "x: f64[..., n], y: f64[...] -> z: f64[..., n]; work: f64[2 * n]",
            &[
                &|| x().arg(&[2], &[1.0, 2.0]).ret::<f64>(&[2, 3]),
                &|| x().arg(&[], &[1.0]).ret::<f64>(&[2, 3]),
                &|| Call::new().arg(&[0, 3], &[0.0; 0]).arg(&[1], &[1.0]).ret::<f64>(&[0, 3]),
                &|| {
                    let x = x().arg(&[2, 1], &[1.0, 2.0]);
                    x.ret::<f64>(&[2, 2, 3]).attr("xlaffi.batch", 0i64)
                },
            ],
        ),
        (
            "x: f64[n] -> x: f64[n], y: f64[n]",
            &[
                &|| Call::new().arg(&[3], &[1.0, 2.0, 3.0]).ret_aliasing(0).ret::<f64>(&[3]),
                &|| Call::new().arg(&[3], &[1.0, 2.0, 3.0]).ret::<f64>(&[3]).ret::<f64>(&[3]),
                &|| x().ret::<f64>(&[2, 3]).ret::<f64>(&[2, 3]).attr("xlaffi.batch", 1i64),
            ],
        ),
        (
            "xs: f64[n]*k, w: f64[n] -> xs: f64[n]*k, y: f64[]",
            &[
                &|| Call::new().arg(&[1], &[1.0]).ret::<f64>(&[]),
                &|| {
                    let two = Call::new().arg(&[1], &[1.0]).arg(&[1], &[2.0]).arg(&[1], &[3.0]);
                    two.ret::<f64>(&[1]).ret_aliasing(1).ret::<f64>(&[])
                },
            ],
        ),
        (
            "x: f64[], w: f64[]?; k: i32 = 3, mode: str = \"fast\", lags: i64[p] = [] -> y: f64[p + 1]",
            &[
                &|| Call::new().arg(&[], &[1.0]).ret::<f64>(&[1]),
                &|| Call::new().arg(&[], &[1.0]).arg(&[], &[2.0]).ret::<f64>(&[1]).attr("mode", ""),
                &|| {
                    let call = Call::new().arg(&[], &[1.0]).ret::<f64>(&[3]);
                    call.attr("lags", &[5i64, 6][..]).attr("k", 4i32).attr("mode", "slow")
                },
            ],
        ),
    ];
    for (at, (text, calls)) in cases.iter().enumerate() {
        for whole in [false, true] {
            let instances = vec![Instance::new(Vec::new(), Code::Host(Box::new(all_of_it)))];
            let op = op(&format!("all of it {at} {whole}"), text, instances, whole);
            for (which, call) in calls.iter().enumerate() {
                let call = || call().attr("xlaffi.op", op.digest());
                let handler = handler(&op);
                let (mut one, mut other) = (call().build(), kept(call(), handler));
                let results = one.as_raw().rets.size as usize;
                // In place each call begins with what the one before has left.
                for round in 0..4 {
                    one.call(handler).unwrap();
                    other.call(handler).unwrap();
                    for result in 0..results {
                        let what = format!("`{text}`, call {which}, round {round}");
                        assert_eq!(one.ret::<f64>(result), other.ret::<f64>(result), "{what}");
                    }
                }
            }
        }
    }
}

/// The descriptor of an array: operands first, then results.
fn buffer(frame: &mut Frame, at: usize) -> &mut sys::XLA_FFI_Buffer {
    let raw = frame.as_raw();
    let args = raw.args.size as usize;
    unsafe {
        let pointer = match at.checked_sub(args) {
            None => *raw.args.args.add(at),
            Some(at) => *raw.rets.rets.add(at),
        };
        &mut *pointer.cast()
    }
}

#[test]
fn what_is_not_as_in_the_first_call_is_checked_anew() {
    let op = times_op("anew");
    let handler = handler(&op);
    let mut frame = kept(product(), handler);
    let right = |frame: &mut Frame| {
        frame.call(handler).unwrap();
        assert_eq!(frame.ret::<f64>(0), [3.0, 6.0]);
    };
    let refused = |frame: &mut Frame, part: &str| {
        let text = frame.call(handler).unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    };
    let mut spare = [0.0f64; 4];
    let spare = spare.as_mut_ptr();
    let (mut three, mut negative, mut one) = ([3i64], [-2i64], [1i64]);
    let (three, negative) = (three.as_mut_ptr(), negative.as_mut_ptr());
    let one = one.as_mut_ptr();
    for _ in 0..2 {
        right(&mut frame);
        right(&mut frame);
        for at in 0..3 {
            let found = *buffer(&mut frame, at);
            let tries = [
                (
                    sys::XLA_FFI_Buffer {
                        dtype: DataType::S64.0,
                        ..found
                    },
                    "must be",
                ),
                (
                    sys::XLA_FFI_Buffer {
                        data: std::ptr::null_mut(),
                        ..found
                    },
                    "has elements but no memory",
                ),
                (
                    sys::XLA_FFI_Buffer {
                        data: spare.wrapping_byte_add(4).cast(),
                        ..found
                    },
                    "is not aligned to its element type",
                ),
                (
                    sys::XLA_FFI_Buffer {
                        rank: 1 - found.rank,
                        dims: three,
                        ..found
                    },
                    "shape",
                ),
                (
                    sys::XLA_FFI_Buffer {
                        rank: 1,
                        dims: three,
                        ..found
                    },
                    "shape",
                ),
                (
                    sys::XLA_FFI_Buffer {
                        rank: 1,
                        dims: negative,
                        ..found
                    },
                    "",
                ),
            ];
            for (other, part) in tries {
                *buffer(&mut frame, at) = other;
                refused(&mut frame, part);
                *buffer(&mut frame, at) = found;
                right(&mut frame);
            }
        }
        let found = *buffer(&mut frame, 2);
        buffer(&mut frame, 2).data = buffer(&mut frame, 0).data;
        refused(&mut frame, "shares its memory with a result");
        *buffer(&mut frame, 2) = found;
        frame.as_raw().args.size = 1;
        refused(&mut frame, "must have 2 arguments");
        frame.as_raw().args.size = 2;
    }
    // A call of other types that fits runs, and leaves what was kept as it is.
    let mut ones = [1f32; 3];
    let data = ones.as_mut_ptr();
    let found = [0, 1, 2].map(|at| *buffer(&mut frame, at));
    for at in 0..3 {
        let array = buffer(&mut frame, at);
        array.dtype = DataType::F32.0;
        array.data = data.wrapping_add(at).cast();
        array.rank = i64::from(at != 1);
        array.dims = one;
    }
    frame.call(handler).unwrap();
    for (at, found) in found.into_iter().enumerate() {
        *buffer(&mut frame, at) = found;
    }
    right(&mut frame);
}

#[test]
fn operands_may_be_in_place_or_not_from_call_to_call() {
    let instances = vec![Instance::new(Vec::new(), Code::Host(Box::new(all_of_it)))];
    let op = op(
        "in place or not",
        "x: f64[n] -> x: f64[n]",
        instances,
        false,
    );
    let handler = handler(&op);
    let call = || Call::new().arg(&[2], &[1.0, 2.0]).ret::<f64>(&[2]);
    let mut once = call().build();
    once.call(handler).unwrap();
    for first in [false, true] {
        let mut frame = kept(call(), handler);
        let result = buffer(&mut frame, 1).data;
        let operand = buffer(&mut frame, 0).data;
        for step in 0..6 {
            let in_place = (step / 2 % 2 == 0) == first;
            buffer(&mut frame, 1).data = if in_place { operand } else { result };
            unsafe { operand.cast::<[f64; 2]>().write([1.0, 2.0]) };
            frame.call(handler).unwrap();
            let found = match in_place {
                true => frame.arg::<f64>(0),
                false => frame.ret::<f64>(0),
            };
            assert_eq!(found, once.ret::<f64>(0), "step {step}");
        }
    }
}

#[test]
fn a_name_without_a_digest_means_what_is_there_now() {
    let first = times_op("now");
    let mut frame = kept(product(), handler(&first));
    frame.call(handler(&first)).unwrap();
    let second = op(
        "now",
        "x: f64[n], y: f64[] -> z: f64[n]",
        vec![Instance::new(Vec::new(), Code::Host(Box::new(all_of_it)))],
        false,
    );
    let mut expected = product().build();
    expected.call(handler(&second)).unwrap();
    for _ in 0..2 {
        frame.call(handler(&second)).unwrap();
        assert_eq!(frame.ret::<f64>(0), expected.ret::<f64>(0));
    }
}

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
