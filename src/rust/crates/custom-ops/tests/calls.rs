//! Ops of one's own, called as XLA calls them. Bodies are what a C compiler would make.

// Each body relies on its signature, which stands beside it.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;

use custom_ops::abi::Call as Body;
use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, Body as Code, CustomOp, Instance, Options, Threads};
use xla_ffi::registry::Registry;
use xla_ffi::testing::{Call, Frame};
use xla_ffi::{sys, DataType, HandlerFn};

type C = unsafe extern "C" fn(*const Body) -> i32;

/// An op of one body for each choice of dtypes, and what XLA calls.
fn op_of(name: &str, text: &str, bodies: &[(&[DataType], C)], options: Options) -> Arc<CustomOp> {
    let signature = Signature::parse(text).unwrap();
    let mut sets = vec![Vec::new(); signature.dtypes.len()];
    for (dtypes, _) in bodies {
        for (set, &dtype) in sets.iter_mut().zip(*dtypes) {
            if !set.contains(&dtype) {
                set.push(dtype);
            }
        }
    }
    let named: Vec<_> = signature
        .dtypes
        .iter()
        .map(String::as_str)
        .zip(sets.iter().map(Vec::as_slice))
        .collect();
    let sets = Sets::new(&signature, &named).unwrap();
    let instances = bodies
        .iter()
        .map(|&(dtypes, body)| Instance::new(dtypes.to_vec(), Code::C(body)))
        .collect();
    // SAFETY: functions of this file, as their signatures say.
    unsafe { CustomOp::new(name, signature, sets, instances, options) }.unwrap()
}

fn handler(op: &Arc<CustomOp>) -> HandlerFn {
    register(op, None).unwrap().trampoline
}

fn simple(name: &str, text: &str, body: C) -> HandlerFn {
    handler(&op_of(name, text, &[(&[], body)], Options::default()))
}

fn failure(frame: &mut Frame, handler: HandlerFn) -> String {
    frame.call(handler).unwrap_err().to_string()
}

/// `x: T[n], y: T[] -> z: T[n]`
unsafe extern "C" fn times<T: Copy + std::ops::Mul<Output = T>>(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let (x, y, z) = (
            (*call.buffers).cast::<T>(),
            (*call.buffers.add(1)).cast::<T>(),
            (*call.buffers.add(2)).cast::<T>(),
        );
        for i in 0..*call.dims as usize {
            *z.add(i) = *x.add(i) * *y;
        }
    }
    0
}

const TIMES: &str = "x: T[n], y: T[] -> z: T[n]";

#[test]
fn a_body_is_called_for_each_choice_of_dtypes() {
    let bodies: &[(&[DataType], C)] = &[
        (&[DataType::F32], times::<f32>),
        (&[DataType::F64], times::<f64>),
    ];
    let handler = handler(&op_of("times", TIMES, bodies, Options::default()));
    let mut frame = Call::new()
        .arg(&[3], &[1.0, 2.0, 3.0])
        .arg(&[], &[2.0])
        .ret::<f64>(&[3])
        .build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0), [2.0, 4.0, 6.0]);
    let mut frame = Call::new()
        .arg(&[2], &[1f32, 2.0])
        .arg(&[], &[0.5f32])
        .ret::<f32>(&[2])
        .build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f32>(0), [0.5, 1.0]);
}

/// `x: f64[..., n], w: f64[n], c: f64[...] -> y: f64[..., n]`: `x * w + c`
unsafe extern "C" fn affine(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let at = |i: usize| (*call.buffers.add(i)).cast::<f64>();
        for i in 0..*call.dims as usize {
            *at(3).add(i) = *at(0).add(i) * *at(1).add(i) + *at(2);
        }
    }
    0
}

const AFFINE: &str = "x: f64[..., n], w: f64[n], c: f64[...] -> y: f64[..., n]";

#[test]
fn batches_broadcast() {
    let handler = simple("affine", AFFINE, affine);
    let x: Vec<f64> = (0..2 * 3 * 4).map(f64::from).collect();
    for (shape, c) in [
        (&[2i64, 3][..], (1..7).map(f64::from).collect::<Vec<_>>()),
        (&[3], vec![1.0, 2.0, 3.0]),
        (&[2, 1], vec![1.0, 2.0]),
        (&[], vec![5.0]),
    ] {
        let mut frame = Call::new()
            .arg(&[2, 3, 4], &x)
            .arg(&[4], &[1.0, 10.0, 100.0, 1000.0])
            .arg(shape, &c)
            .ret::<f64>(&[2, 3, 4])
            .build();
        frame.call(handler).unwrap();
        for (i, &got) in frame.ret::<f64>(0).iter().enumerate() {
            let (a, b) = (i / 12, i / 4 % 3);
            let c = match shape.len() {
                2 if shape[1] == 1 => c[a],
                2 => c[a * 3 + b],
                1 => c[b],
                _ => c[0],
            };
            assert_eq!(
                got,
                x[i] * [1.0, 10.0, 100.0, 1000.0][i % 4] + c,
                "{shape:?} at {i}"
            );
        }
    }
}

#[test]
fn axes_in_front_are_those_of_a_batch() {
    let handler = simple("affine in front", AFFINE, affine);
    // Two of x, with one w each, and one c for both.
    let mut frame = Call::new()
        .arg(&[2, 3, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .arg(&[2, 1], &[10.0, 100.0])
        .arg(&[1, 3], &[1.0, 2.0, 3.0])
        .ret::<f64>(&[2, 3, 1])
        .attr("xlaffi.batch", 1i64)
        .build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0), [11.0, 22.0, 33.0, 401.0, 502.0, 603.0]);
    let mut frame = Call::new()
        .arg(&[2, 1], &[1.0, 2.0])
        .arg(&[3, 1], &[1.0; 3])
        .arg(&[1], &[1.0])
        .ret::<f64>(&[2, 1])
        .attr("xlaffi.batch", 1i64)
        .build();
    expect_part(
        &failure(&mut frame, handler),
        "axis 1 of the batch must have one length, got 2 and 3",
    );
}

fn expect_part(text: &str, part: &str) {
    assert!(text.contains(part), "{text}");
}

/// `x: f64[n] -> x: f64[n]`: cumulative sums.
unsafe extern "C" fn sums(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let x = (*call.buffers).cast::<f64>();
        assert_eq!(*call.buffers, *call.buffers.add(1));
        for i in 1..*call.dims as usize {
            *x.add(i) += *x.add(i - 1);
        }
    }
    0
}

#[test]
fn operands_are_worked_on_in_place() {
    let handler = simple("sums", "x: f64[..., n] -> x: f64[..., n]", sums);
    let call = || Call::new().arg(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let mut apart = call().ret::<f64>(&[2, 3]).build();
    apart.call(handler).unwrap();
    assert_eq!(apart.ret::<f64>(0), [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    assert_eq!(
        apart.arg::<f64>(0),
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "the operand is not touched"
    );
    let mut aliased = call().ret_aliasing(0).build();
    aliased.call(handler).unwrap();
    assert_eq!(aliased.ret::<f64>(0), [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    // One operand for all of a batch.
    let mut one = Call::new()
        .arg(&[1, 3], &[1.0, 2.0, 3.0])
        .ret::<f64>(&[2, 3])
        .attr("xlaffi.batch", 1i64)
        .build();
    one.call(handler).unwrap();
    assert_eq!(one.ret::<f64>(0), [1.0, 3.0, 6.0, 1.0, 3.0, 6.0]);
}

#[test]
fn calls_that_are_not_like_the_last_are_checked_anew() {
    let sums = simple("sums anew", "x: f64[..., n] -> x: f64[..., n]", sums);
    let affine = simple("affine anew", AFFINE, affine);
    // Twice in turn, so that each follows each, and itself.
    for step in 0..24 {
        let kind = step % 3 + step / 12;
        let rows = 1 + step % 4 / 2;
        let call = Call::new().arg(&[rows, 2], &[1.0, 2.0, 3.0, 4.0][..2 * rows as usize]);
        let mut frame = match kind {
            0 => call.ret_aliasing(0).build(),
            1 => call.ret::<f64>(&[rows, 2]).build(),
            _ => call
                .arg(&[2], &[1.0, 10.0])
                .arg(&[1], &[0.5])
                .ret::<f64>(&[rows, 2])
                .build(),
        };
        for _ in 0..2 {
            frame.call(if kind < 2 { sums } else { affine }).unwrap();
            let expected: &[f64] = match kind {
                0 => break,
                1 => &[1.0, 3.0, 3.0, 7.0],
                _ => &[1.5, 20.5, 3.5, 40.5],
            };
            let expected = &expected[..2 * rows as usize];
            assert_eq!(frame.ret::<f64>(0), expected, "step {step}");
        }
        if kind == 0 {
            let expected = &[1.0, 3.0, 3.0, 7.0][..2 * rows as usize];
            assert_eq!(frame.ret::<f64>(0), expected, "step {step}");
        }
        // What does not fit is refused after what did.
        let mut wrong = Call::new()
            .arg(&[rows, 2], &[1.0; 4][..2 * rows as usize])
            .ret::<f64>(&[rows, 1])
            .build();
        expect_part(&failure(&mut wrong, sums), "must have shape");
    }
}

#[test]
fn memory_is_looked_at_in_each_call() {
    let handler = simple("affine shared", AFFINE, affine);
    let call = || {
        Call::new()
            .arg(&[1], &[1.0])
            .arg(&[1], &[2.0])
            .arg(&[], &[3.0])
    };
    for _ in 0..3 {
        let mut apart = call().ret::<f64>(&[1]).build();
        apart.call(handler).unwrap();
        assert_eq!(apart.ret::<f64>(0), [5.0]);
        let mut shared = call().ret_aliasing(0).build();
        expect_part(
            &failure(&mut shared, handler),
            "array 1 of the operands shares",
        );
    }
}

#[test]
fn axes_and_attributes_are_told_apart_from_call_to_call() {
    let handler = simple("affine told apart", AFFINE, affine);
    // The same arrays: without an axis in front `w` would be a matrix.
    let call = || {
        Call::new()
            .arg(&[2, 1], &[1.0, 2.0])
            .arg(&[2, 1], &[10.0, 100.0])
            .arg(&[1], &[1.0])
            .ret::<f64>(&[2, 1])
    };
    let repeat = simple("repeat", "x: f64[]; k: i64 -> y: f64[k]", repeated);
    for _ in 0..2 {
        let mut in_front = call().attr("xlaffi.batch", 1i64).build();
        in_front.call(handler).unwrap();
        assert_eq!(in_front.ret::<f64>(0), [11.0, 201.0]);
        expect_part(
            &failure(&mut call().build(), handler),
            "`w` must have shape",
        );
        for k in [3i64, 2] {
            let call = || Call::new().arg(&[], &[7.0]).ret::<f64>(&[3]);
            let mut frame = call().attr("k", k).build();
            match k {
                3 => {
                    frame.call(repeat).unwrap();
                    assert_eq!(frame.ret::<f64>(0), [7.0; 3]);
                }
                _ => expect_part(&failure(&mut frame, repeat), "must have shape"),
            }
        }
    }
}

/// `x: f64[]; k: i64 -> y: f64[k]`
unsafe extern "C" fn repeated(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let k = *(*call.attributes).data.cast::<i64>();
        let (x, y) = (*call.buffers, *call.buffers.add(1));
        for i in 0..k as usize {
            *y.cast::<f64>().add(i) = *x.cast::<f64>();
        }
    }
    0
}

#[test]
fn several_threads_may_call_for_the_first_time() {
    let handler = simple("affine at once", AFFINE, affine);
    let start = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for thread in 0..4i64 {
            let start = &start;
            scope.spawn(move || {
                let n = 1 + thread % 2;
                let x = vec![thread as f64; 3 * n as usize];
                let mut frame = Call::new()
                    .arg(&[3, n], &x)
                    .arg(&[n], &[2.0, 2.0][..n as usize])
                    .arg(&[], &[1.0])
                    .ret::<f64>(&[3, n])
                    .build();
                start.wait();
                for _ in 0..20 {
                    frame.call(handler).unwrap();
                    let expected = vec![2.0 * thread as f64 + 1.0; x.len()];
                    assert_eq!(frame.ret::<f64>(0), expected);
                }
            });
        }
    });
}

fn registered(name: &str) -> i64 {
    custom_ops::registered(name).unwrap().digest()
}

#[test]
fn memory_that_is_shared_against_the_signature_is_refused() {
    let handler = simple("affine alone", AFFINE, affine);
    let mut frame = Call::new()
        .arg(&[1], &[1.0])
        .arg(&[1], &[1.0])
        .arg(&[], &[1.0])
        .ret_aliasing(0)
        .build();
    expect_part(
        &failure(&mut frame, handler),
        "FAILED_PRECONDITION: affine alone: array 1 of the operands shares",
    );
}

/// `; alpha: f64 = 2, lags: i64[p] = [1, 2], mode: str = "fast", k: i32 = 3 -> y: f64[5 + p + k]`
unsafe extern "C" fn told(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let attribute = |i: usize| &*call.attributes.add(i);
        let y = (*call.buffers).cast::<f64>();
        *y = *attribute(0).data.cast::<f64>();
        *y.add(1) = attribute(1).length as f64;
        let lags = std::slice::from_raw_parts(attribute(1).data.cast::<i64>(), attribute(1).length);
        *y.add(2) = lags.iter().sum::<i64>() as f64;
        let mode = std::slice::from_raw_parts(attribute(2).data.cast::<u8>(), attribute(2).length);
        *y.add(3) = f64::from(u8::from(mode == b"fast"));
        *y.add(4) = f64::from(*attribute(3).data.cast::<i32>());
        *y.add(5) = *call.dims as f64;
    }
    0
}

#[test]
fn attributes_have_defaults() {
    let text = "; alpha: f64 = 2, lags: i64[p] = [1, 2], mode: str = \"fast\", k: i32 = 3 -> y: f64[5 + p + k]";
    let handler = simple("told", text, told);
    let mut frame = Call::new().ret::<f64>(&[10]).build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0)[..6], [2.0, 2.0, 3.0, 1.0, 3.0, 2.0]);
    let mut frame = Call::new()
        .ret::<f64>(&[8])
        .attr("alpha", 0.5)
        .attr("k", 2i32)
        .attr("lags", &[7i64][..])
        .attr("mode", "slow")
        .attr("xlaffi.op", registered("told"))
        .build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0)[..6], [0.5, 1.0, 7.0, 0.0, 2.0, 1.0]);
    let mut frame = Call::new().ret::<f64>(&[10]).attr("alpha", 1f32).build();
    let text = failure(&mut frame, handler);
    assert_eq!(
        text,
        "INVALID_ARGUMENT: told: attribute `alpha` must be a scalar f64, got a scalar f32"
    );
    let mut frame = Call::new().ret::<f64>(&[10]).attr("beta", 1f32).build();
    let text = failure(&mut frame, handler);
    assert_eq!(
        text,
        "INVALID_ARGUMENT: told: there is no attribute `beta`: there are `alpha`, `lags`, `mode`, `k`"
    );
    let mut frame = Call::new().ret::<f64>(&[9]).build();
    let text = failure(&mut frame, handler);
    assert_eq!(
        text,
        "INVALID_ARGUMENT: told: result `y` must have shape (10), got (9)"
    );
}

#[test]
fn an_attribute_without_default_must_be_there() {
    let handler = simple("needs", "; alpha: f64 -> y: f64[]", told);
    let text = failure(&mut Call::new().ret::<f64>(&[]).build(), handler);
    assert_eq!(
        text,
        "INVALID_ARGUMENT: needs: attribute `alpha` must be a scalar f64, got none"
    );
}

/// Fails for the third element, with a text.
unsafe extern "C" fn fails(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        if (*call.buffers).cast::<f64>().read() < 0.0 {
            let text = c"x is negative";
            let text = text.to_bytes_with_nul();
            assert!(text.len() <= call.message_size);
            std::ptr::copy_nonoverlapping(text.as_ptr(), call.message.cast(), text.len());
            return 11;
        }
        (*call.buffers.add(1)).cast::<f64>().write(1.0);
    }
    0
}

#[test]
fn errors_of_bodies_have_code_and_text_and_element() {
    let handler = simple("fails", "x: f64[...] -> y: f64[...]", fails);
    let mut frame = Call::new().arg(&[], &[-1.0]).ret::<f64>(&[]).build();
    assert_eq!(
        failure(&mut frame, handler),
        "OUT_OF_RANGE: fails: x is negative"
    );
    for threads in [1, 4] {
        let mut x = vec![1.0; 1000];
        x[7] = -1.0;
        x[900] = -1.0;
        let mut frame = Call::new()
            .arg(&[1000], &x)
            .ret::<f64>(&[1000])
            .threads(threads)
            .build();
        let text = failure(&mut frame, handler);
        assert_eq!(
            text,
            "OUT_OF_RANGE: fails: x is negative (element 8 of the batch of 1000)"
        );
    }
}

static SLOW: AtomicI64 = AtomicI64::new(0);

unsafe extern "C" fn slow(call: *const Body) -> i32 {
    SLOW.fetch_add(1, Ordering::Relaxed);
    std::thread::sleep(std::time::Duration::from_micros(200));
    unsafe {
        let call = &*call;
        let x = (*call.buffers).cast::<f64>().read();
        (*call.buffers.add(1))
            .cast::<f64>()
            .write(x + call.batch as f64);
    }
    0
}

#[test]
fn long_batches_run_on_threads() {
    for threads in [Threads::Auto, Threads::One] {
        let options = Options {
            threads,
            ..Options::default()
        };
        let handler = handler(&op_of(
            "slow",
            "x: f64[...] -> y: f64[...]",
            &[(&[], slow)],
            options,
        ));
        let before = SLOW.load(Ordering::Relaxed);
        let x: Vec<f64> = (0..40).map(|i| f64::from(i) * 100.0).collect();
        let mut frame = Call::new()
            .arg(&[40], &x)
            .ret::<f64>(&[40])
            .threads(4)
            .build();
        frame.call(handler).unwrap();
        let expected: Vec<f64> = (0..40).map(|i| f64::from(i) * 101.0).collect();
        assert_eq!(frame.ret::<f64>(0), expected);
        assert_eq!(SLOW.load(Ordering::Relaxed) - before, 40);
    }
}

/// `xs: f64[n]*k, w: f64[n] -> ys: f64[n]*k, total: f64[]; work: f64[n], more: f32[3]`
unsafe extern "C" fn several(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let several = |i: usize| *call.buffers.add(i).cast::<*const *mut f64>();
        let one = |i: usize| (*call.buffers.add(i)).cast::<f64>();
        let (n, k) = (*call.dims as usize, *call.dims.add(1) as usize);
        let (xs, w, ys, total, work, more) =
            (several(0), one(1), several(2), one(3), one(4), one(5));
        assert!(work as usize % 64 == 0 && more as usize % 64 == 0 && more != work);
        *total = 0.0;
        for i in 0..n {
            *work.add(i) = *w.add(i) * 2.0;
        }
        for j in 0..k {
            for i in 0..n {
                let y = *(*xs.add(j)).add(i) + *work.add(i);
                *(*ys.add(j)).add(i) = y;
                *total += y;
            }
        }
    }
    0
}

#[test]
fn operands_and_results_come_several_times() {
    let text = "xs: f64[n]*k, w: f64[n] -> ys: f64[n]*k, total: f64[]; work: f64[n], more: f32[3]";
    let handler = simple("several", text, several);
    let mut frame = Call::new()
        .arg(&[2], &[1.0, 2.0])
        .arg(&[2], &[3.0, 4.0])
        .arg(&[2], &[5.0, 6.0])
        .arg(&[2], &[10.0, 20.0])
        .ret::<f64>(&[2])
        .ret::<f64>(&[2])
        .ret::<f64>(&[2])
        .ret::<f64>(&[])
        .build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0), [21.0, 42.0]);
    assert_eq!(frame.ret::<f64>(2), [25.0, 46.0]);
    assert_eq!(frame.ret::<f64>(3), [201.0]);
    // None at all.
    let mut frame = Call::new().arg(&[2], &[10.0, 20.0]).ret::<f64>(&[]).build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0), [0.0]);
}

/// `x: f64[n], w: f64[n]? -> y: f64[]`
unsafe extern "C" fn optional(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let y = (*call.buffers.add(2)).cast::<f64>();
        *y = f64::from(u8::from((*call.buffers.add(1)).is_null()));
    }
    0
}

#[test]
fn an_operand_may_be_left_out() {
    let handler = simple("optional", "x: f64[n], w: f64[n]? -> y: f64[]", optional);
    let call = || Call::new().arg(&[1], &[1.0]);
    let mut without = call().ret::<f64>(&[]).build();
    without.call(handler).unwrap();
    assert_eq!(without.ret::<f64>(0), [1.0]);
    let mut with = call().arg(&[1], &[1.0]).ret::<f64>(&[]).build();
    with.call(handler).unwrap();
    assert_eq!(with.ret::<f64>(0), [0.0]);
}

unsafe extern "C" fn one(call: *const Body) -> i32 {
    unsafe { (*(*call).buffers).cast::<f64>().write(1.0) };
    0
}

unsafe extern "C" fn two(call: *const Body) -> i32 {
    unsafe { (*(*call).buffers).cast::<f64>().write(2.0) };
    0
}

#[test]
fn programs_keep_the_op_that_they_mean() {
    let make = |body: C| op_of("which", "-> y: f64[]", &[(&[], body)], Options::default());
    let first = make(one);
    let handler = handler(&first);
    let digest = first.digest();
    let keep = |digest: i64| {
        let mut frame = Call::new()
            .ret::<f64>(&[])
            .attr("xlaffi.op", digest)
            .stage(sys::XLA_FFI_ExecutionStage_INSTANTIATE)
            .build();
        let kept = frame.call(handler);
        frame.set_stage(sys::XLA_FFI_ExecutionStage_EXECUTE);
        kept.map(|()| frame)
    };
    let mut program = keep(digest).unwrap();
    let second = make(two);
    register(&second, None).unwrap();
    assert_ne!(first.digest(), second.digest());
    program.call(handler).unwrap();
    assert_eq!(program.ret::<f64>(0), [1.0], "compiled before");
    // A name without a digest means what is there now; one that was not kept finds the first op for
    // as long as somebody has it.
    let mut now = Call::new().ret::<f64>(&[]).build();
    now.call(handler).unwrap();
    assert_eq!(now.ret::<f64>(0), [2.0]);
    let mut not_kept = Call::new()
        .ret::<f64>(&[])
        .attr("xlaffi.op", digest)
        .build();
    not_kept.call(handler).unwrap();
    assert_eq!(not_kept.ret::<f64>(0), [1.0]);
    let watch = Arc::downgrade(&first);
    drop(first);
    program.call(handler).unwrap();
    assert_eq!(program.ret::<f64>(0), [1.0], "the program keeps it");
    drop(program);
    assert!(watch.upgrade().is_none(), "it goes with the program");
    let text = failure(&mut not_kept, handler);
    assert_eq!(
        text,
        "FAILED_PRECONDITION: which: the program was written for another definition of `which`, \
         which is not there any more"
    );
    expect_part(
        &keep(digest).unwrap_err().to_string(),
        "another definition of `which`",
    );
    drop(second);
    now.call(handler).unwrap();
    assert!(Registry::global().unregister("which", "host"));
    assert!(custom_ops::registered("which").is_none());
    expect_part(
        &failure(&mut now, handler),
        "`which` (platform host) was unregistered",
    );
}

#[test]
fn of_equal_definitions_each_one_that_lives_is_found() {
    let make = || {
        let code = Some("the same".to_owned());
        let options = Options {
            code,
            ..Options::default()
        };
        op_of("equal", "-> y: f64[]", &[(&[], one)], options)
    };
    let (first, second) = (make(), make());
    assert_eq!(first.digest(), second.digest());
    register(&first, None).unwrap();
    register(&second, None).unwrap();
    // The name goes to another definition, so that only the digest leads to these.
    let other = op_of("equal", "-> y: f64[]", &[(&[], two)], Options::default());
    let handler = handler(&other);
    let mut call = Call::new()
        .ret::<f64>(&[])
        .attr("xlaffi.op", first.digest())
        .build();
    drop(second);
    call.call(handler).unwrap();
    assert_eq!(call.ret::<f64>(0), [1.0]);
    drop(first);
    expect_part(&failure(&mut call, handler), "which is not there any more");
}

#[test]
fn redefining_leaves_nothing_behind() {
    let mut watched = Vec::new();
    for _ in 0..if cfg!(miri) { 10 } else { 300 } {
        let op = op_of("again", "-> y: f64[]", &[(&[], one)], Options::default());
        register(&op, None).unwrap();
        watched.push(Arc::downgrade(&op));
    }
    let alive = watched.iter().filter(|op| op.strong_count() > 0).count();
    assert_eq!(alive, 1);
}

static STATES: AtomicI64 = AtomicI64::new(0);

unsafe extern "C" fn init(call: *const Body, state: *mut *mut std::ffi::c_void) -> i32 {
    unsafe {
        let call = &*call;
        let k = *(*call.attributes).data.cast::<f64>();
        if k < 0.0 {
            return 3;
        }
        assert_eq!(*call.dims, -1);
        *state = Box::into_raw(Box::new(k * 2.0)).cast();
    }
    STATES.fetch_add(1, Ordering::SeqCst);
    0
}

unsafe extern "C" fn cleanup(state: *mut std::ffi::c_void) {
    drop(unsafe { Box::from_raw(state.cast::<f64>()) });
    STATES.fetch_sub(1, Ordering::SeqCst);
}

unsafe extern "C" fn stateful(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        *(*call.buffers.add(1)).cast::<f64>() = *call.state.cast::<f64>();
    }
    0
}

#[test]
fn programs_have_states() {
    let signature = Signature::parse("x: f64[n]; k: f64 -> y: f64[]").unwrap();
    let instance = Instance {
        init: Some(init),
        cleanup: Some(cleanup),
        ..Instance::new(Vec::new(), Code::C(stateful))
    };
    let sets = Sets::new(&signature, &[]).unwrap();
    // SAFETY: functions of this file.
    let op = unsafe {
        CustomOp::new(
            "stateful",
            signature,
            sets,
            vec![instance],
            Options::default(),
        )
    };
    let op = op.unwrap();
    let handler = handler(&op);
    let call = |k: f64| Call::new().arg(&[1], &[0.0]).ret::<f64>(&[]).attr("k", k);
    let mut program = call(1.0)
        .stage(sys::XLA_FFI_ExecutionStage_INSTANTIATE)
        .build();
    program.call(handler).unwrap();
    assert_eq!(STATES.load(Ordering::SeqCst), 1);
    program.set_stage(sys::XLA_FFI_ExecutionStage_EXECUTE);
    for _ in 0..3 {
        program.call(handler).unwrap();
        assert_eq!(program.ret::<f64>(0), [2.0]);
    }
    drop(program);
    assert_eq!(STATES.load(Ordering::SeqCst), 0);
    // Without the stage: one for each set of attributes, until the op goes.
    for k in [1.0, 2.0, 1.0] {
        let mut frame = call(k).build();
        frame.call(handler).unwrap();
        assert_eq!(frame.ret::<f64>(0), [2.0 * k]);
    }
    assert_eq!(STATES.load(Ordering::SeqCst), 2);
    let text = failure(&mut call(-1.0).build(), handler);
    assert_eq!(
        text,
        "INVALID_ARGUMENT: stateful: the body failed with code 3"
    );
    drop(op);
    assert!(Registry::global().unregister("stateful", "host"));
    assert_eq!(STATES.load(Ordering::SeqCst), 0);
}

#[test]
fn frames_that_make_no_sense_are_refused() {
    let handler = simple("affine strict", AFFINE, affine);
    // SAFETY: a null pointer is what is tried.
    assert!(unsafe { handler(std::ptr::null_mut()) }.is_null());
    for call in [
        Call::new(),
        Call::new().arg(&[1], &[1.0]),
        Call::new()
            .arg(&[1], &[1.0])
            .arg(&[1], &[1.0])
            .arg(&[], &[1.0]),
        Call::new()
            .arg(&[], &[1.0])
            .arg(&[1], &[1.0])
            .arg(&[], &[1.0])
            .ret::<f64>(&[]),
        Call::new()
            .arg(&[1], &[1i32])
            .arg(&[1], &[1.0])
            .arg(&[], &[1.0])
            .ret::<f64>(&[1]),
        Call::new()
            .arg(&[1], &[1.0])
            .arg(&[1], &[1.0])
            .arg(&[], &[1.0])
            .ret::<f32>(&[1]),
        Call::new()
            .arg(&[1], &[1.0])
            .arg(&[1], &[1.0])
            .arg(&[], &[1.0])
            .ret::<f64>(&[1])
            .attr("xlaffi.batch", 1i64),
        Call::new()
            .arg(&[1], &[1.0])
            .arg(&[1], &[1.0])
            .arg(&[], &[1.0])
            .ret::<f64>(&[1])
            .attr("xlaffi.batch", -1i64),
        Call::new()
            .arg(&[1], &[1.0])
            .arg(&[1], &[1.0])
            .arg(&[], &[1.0])
            .ret::<f64>(&[1])
            .attr("xlaffi.op", 1i32),
    ] {
        expect_part(
            &failure(&mut call.build(), handler),
            "INVALID_ARGUMENT: affine strict: ",
        );
    }
}

/// `x: f64[...] -> y: f64[...]`: whether half of the smallest normal number is there.
unsafe extern "C" fn halve(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        *(*call.buffers.add(1)).cast::<f64>() = *(*call.buffers).cast::<f64>() / 2.0;
    }
    0
}

#[test]
fn bodies_compute_with_subnormal_numbers() {
    let handler = simple("halve", "x: f64[...] -> y: f64[...]", halve);
    let mut frame = Call::new()
        .arg(&[2], &[f64::MIN_POSITIVE; 2])
        .ret::<f64>(&[2])
        .build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0), [f64::MIN_POSITIVE / 2.0; 2]);
}

/// An op whose body is a closure, given whole batches.
fn host(name: &str, text: &str, body: custom_ops::HostBody) -> HandlerFn {
    let signature = Signature::parse(text).unwrap();
    let sets = Sets::new(&signature, &[]).unwrap();
    let instances = vec![Instance::new(Vec::new(), Code::Host(body))];
    let options = Options {
        whole: true,
        ..Options::default()
    };
    // SAFETY: a closure may be called from any thread.
    handler(&unsafe { CustomOp::new(name, signature, sets, instances, options) }.unwrap())
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    let chunks = bytes.chunks_exact(8);
    chunks
        .map(|chunk| f64::from_ne_bytes(chunk.try_into().unwrap()))
        .collect()
}

#[test]
fn bodies_of_the_host_see_whole_batches() {
    let text = "x: f64[..., n], w: f64[]?; k: i32 = 3 -> x: f64[..., n], y: f64[...]";
    let body = |call: &mut custom_ops::BoundCall<'_>| {
        assert_eq!((call.operands(), call.results()), (2, 2));
        assert_eq!(
            (call.dims(), call.batch_sizes()),
            (&[3i64][..], &[2usize][..])
        );
        assert_eq!((call.batch_rank(0), call.strides(0)), (1, vec![24]));
        let x = call.operand(0).unwrap();
        assert_eq!((x.name, x.dims), ("x", &[2i64, 3][..]));
        let sum: f64 = doubles(x.bytes).iter().sum();
        assert!(call.operand(1).is_none());
        assert_eq!(call.attribute(0).bytes, 3i32.to_ne_bytes());
        let changed = call.result(0);
        assert_eq!(doubles(changed.bytes), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        changed.bytes[..8].copy_from_slice(&sum.to_ne_bytes());
        let y = call.result(1);
        assert_eq!((y.name, y.index, y.dims), ("y", 0, &[2i64][..]));
        y.bytes.fill(0);
        Ok(())
    };
    let handler = host("host", text, Box::new(body));
    let mut frame = Call::new()
        .arg(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .ret::<f64>(&[2, 3])
        .ret::<f64>(&[2])
        .build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0)[..2], [21.0, 2.0]);
}

#[test]
fn bodies_of_the_host_may_answer_later() {
    let body = |call: &mut custom_ops::BoundCall<'_>| {
        let promise = call.pending()?;
        let address = call.result(0).bytes.as_mut_ptr() as usize;
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            // SAFETY: XLA's memory until the promise is answered.
            unsafe { (address as *mut f64).write(7.0) };
            promise.complete(Ok(()));
        });
        Ok(())
    };
    let handler = host("later", "-> y: f64[]", Box::new(body));
    let mut frame = Call::new().ret::<f64>(&[]).build();
    frame.call(handler).unwrap();
    assert_eq!(frame.ret::<f64>(0), [7.0]);
}

#[test]
fn a_call_within_a_call_has_room_of_its_own() {
    let inner = simple("inner", AFFINE, affine);
    let body = move |call: &mut custom_ops::BoundCall<'_>| {
        let mut frame = Call::new()
            .arg(&[2, 1], &[1.0, 2.0])
            .arg(&[1], &[10.0])
            .arg(&[2], &[1.0, 2.0])
            .ret::<f64>(&[2, 1])
            .build();
        frame.call(inner).unwrap();
        let sum: f64 = frame.ret::<f64>(0).iter().sum();
        call.result(0).bytes.copy_from_slice(&sum.to_ne_bytes());
        Ok(())
    };
    let outer = host("outer", "-> y: f64[]", Box::new(body));
    let mut frame = Call::new().ret::<f64>(&[]).build();
    frame.call(outer).unwrap();
    assert_eq!(frame.ret::<f64>(0), [33.0]);
}
