//! Element types and batches.

use super::common::*;
use custom_ops::abi::Call as Body;
use custom_ops::{Options, Threads};
use std::sync::atomic::{AtomicI64, Ordering};
use xla_ffi::testing::Call;
use xla_ffi::DataType;

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
