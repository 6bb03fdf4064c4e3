//! Memory that arrays share, and calls that differ from the last.

use super::common::*;
use custom_ops::abi::Call as Body;
use xla_ffi::testing::Call;

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
