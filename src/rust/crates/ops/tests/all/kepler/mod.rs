//! The op `kepler`, as XLA calls it. Its numbers are tested in `src/kepler/tests.rs`.

use ops::kepler::Point;
use xla_ffi::testing::{Call, Frame};
use xla_ffi::{Code, HandlerFn};

fn kepler() -> HandlerFn {
    ops::find("kepler", "host").expect("kepler")
}

/// `count` points, M in ±1000, e in [0, 1).
fn points<T: Point>(count: usize, of: fn(f64) -> T) -> (Vec<T>, Vec<T>) {
    let mut state = 1u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    (0..count)
        .map(|_| (of(next() * 2000.0 - 1000.0), of(next())))
        .unzip()
}

fn frame<T: Point>(dims: &[i64], m: &[T], e: &[T], threads: usize) -> Frame {
    Call::new()
        .arg(dims, m)
        .arg(dims, e)
        .ret::<T>(dims)
        .ret::<T>(dims)
        .threads(threads)
        .build()
}

fn solve<T: Point + PartialEq>(dims: &[i64], m: &[T], e: &[T], threads: usize) -> (Vec<T>, Vec<T>) {
    let mut frame = frame(dims, m, e, threads);
    frame.call(kepler()).expect("kepler of good operands");
    assert!(
        frame.arg::<T>(0) == m && frame.arg::<T>(1) == e,
        "the input was written"
    );
    (frame.ret::<T>(0).to_vec(), frame.ret::<T>(1).to_vec())
}

fn invariants<T: Point + PartialEq + Into<f64>>(of: fn(f64) -> T, close: f64) {
    let (m, e) = points::<T>(3000, of);
    let (sin, cos) = solve(&[3000], &m, &e, 2);
    for i in 0..m.len() {
        let (m, e): (f64, f64) = (m[i].into(), e[i].into());
        let (s, c): (f64, f64) = (sin[i].into(), cos[i].into());
        assert!(
            (s * s + c * c - 1.0).abs() < close,
            "M = {m}, e = {e}: {s}, {c}"
        );
        // E - e sin E - M is a multiple of 2π; compared on the circle.
        let off = (s.atan2(c) - e * s - m).sin();
        assert!(off.abs() < close, "M = {m}, e = {e}: {off}");
    }
}

#[test]
fn f64_solves_the_equation() {
    invariants::<f64>(|x| x, 2e-13);
}

#[test]
fn f32_solves_the_equation() {
    invariants::<f32>(|x| x as f32, 1e-6);
}

#[test]
fn a_circle_has_the_mean_anomaly() {
    let m: Vec<f64> = (-20..20).map(|i| f64::from(i) / 7.0).collect();
    let (sin, cos) = solve(&[40], &m, &[0.0; 40], 1);
    for (i, m) in m.iter().enumerate() {
        assert!((sin[i] - m.sin()).abs() <= 2.3e-16 && (cos[i] - m.cos()).abs() <= 2.3e-16);
    }
}

#[test]
fn signs_and_ends() {
    let (m, e) = (
        [0.0, -0.0, 1e-12, -1e-12, 1e-300],
        [0.9, 0.9, 0.5, 0.5, 0.5],
    );
    let (sin, cos) = solve::<f64>(&[5], &m, &e, 1);
    assert_eq!(sin[0].to_bits(), 0.0f64.to_bits());
    assert_eq!(sin[1].to_bits(), (-0.0f64).to_bits());
    assert_eq!(sin[2], -sin[3]);
    assert!((sin[2] / 2e-12 - 1.0).abs() < 1e-15);
    assert!((sin[4] / 2e-300 - 1.0).abs() < 1e-15);
    assert_eq!(cos, [1.0; 5]);
}

#[test]
fn every_shape() {
    for (dims, count) in [
        (&[][..], 1),
        (&[0], 0),
        (&[3, 0, 2], 0),
        (&[1], 1),
        (&[127], 127),
        (&[128], 128),
        (&[3, 43], 129),
        (&[5, 1000, 2], 10_000),
    ] {
        let (m, e) = points::<f32>(count, |x| x as f32);
        let (sin, cos) = solve(dims, &m, &e, 3);
        assert!(sin.len() == count && cos.iter().all(|c| !c.is_nan()));
    }
}

fn same_everywhere<T: Point + PartialEq>(of: fn(f64) -> T) {
    let (m, e) = points::<T>(9001, of);
    let whole = solve(&[9001], &m, &e, 1);
    for threads in [2, 5] {
        assert!(
            solve(&[9001], &m, &e, threads) == whole,
            "{threads} threads"
        );
    }
    // Shifted by one, every point is at another place in its vector; the last ones fill no block.
    let (sin, cos) = solve(&[9000], &m[1..], &e[1..], 1);
    assert!(sin == whole.0[1..] && cos == whole.1[1..]);
    for i in [0, 4095, 4096, 9000] {
        let (sin, cos) = solve(&[], &m[i..=i], &e[i..=i], 1);
        assert!(sin[0] == whole.0[i] && cos[0] == whole.1[i], "point {i}");
    }
}

#[test]
fn f64_is_the_same_at_every_place_and_on_any_number_of_threads() {
    same_everywhere::<f64>(|x| x);
}

#[test]
fn f32_is_the_same_at_every_place_and_on_any_number_of_threads() {
    same_everywhere::<f32>(|x| x as f32);
}

#[test]
fn works_in_place() {
    let (m, e) = points::<f64>(5000, |x| x);
    let want = solve(&[5000], &m, &e, 1);
    // Which argument's memory sin and cos have.
    for (sin, cos) in [
        (Some(0), Some(1)),
        (Some(1), Some(0)),
        (Some(0), None),
        (Some(1), None),
        (None, Some(0)),
        (None, Some(1)),
    ] {
        let mut call = Call::new().arg(&[5000], &m).arg(&[5000], &e).threads(2);
        for result in [sin, cos] {
            call = match result {
                Some(arg) => call.ret_aliasing(arg),
                None => call.ret::<f64>(&[5000]),
            };
        }
        let mut frame = call.build();
        frame.call(kepler()).expect("kepler in place");
        let got = (frame.ret::<f64>(0).to_vec(), frame.ret::<f64>(1).to_vec());
        assert!(got == want, "sin in {sin:?}, cos in {cos:?}");
    }
}

fn refusal(call: Call) -> String {
    let failure = call.run(kepler()).expect_err("bad operands");
    assert_eq!(failure.code, Code::InvalidArgument);
    failure.message
}

#[test]
fn bad_operands_are_named() {
    let two = [0.5f64; 2];
    let call = Call::new().arg(&[2], &two).arg(&[1], &two[..1]);
    assert_eq!(
        refusal(call.ret::<f64>(&[2]).ret::<f64>(&[2])),
        "kepler: argument `eccentricity` must have shape (2), got (1)"
    );
    let call = || Call::new().arg(&[2], &two).arg(&[2], &two);
    assert_eq!(
        refusal(call().ret::<f64>(&[1]).ret::<f64>(&[2])),
        "kepler: result `sin` must have shape (2), got (1)"
    );
    assert_eq!(
        refusal(call().ret::<f64>(&[2]).ret::<f64>(&[2, 1])),
        "kepler: result `cos` must have shape (2), got (2,1)"
    );
    assert_eq!(
        refusal(call().ret::<f64>(&[2]).ret::<f32>(&[2])),
        "kepler: result `cos` must be f64, got f32"
    );
    let mixed = Call::new().arg(&[2], &two).arg(&[2], &[0.5f32; 2]);
    assert_eq!(
        refusal(mixed.ret::<f64>(&[2]).ret::<f64>(&[2])),
        "kepler: argument `eccentricity` must be f64, got f32"
    );
    let whole = Call::new().arg(&[2], &[1i32; 2]).arg(&[2], &[0i32; 2]);
    assert_eq!(
        refusal(whole.ret::<i32>(&[2]).ret::<i32>(&[2])),
        "kepler: argument `mean_anomaly` must be f32 or f64, got i32"
    );
    let complex = [xla_ffi::Complex::new(1.0f64, 0.0); 2];
    let call = Call::new().arg(&[2], &complex).arg(&[2], &two);
    assert_eq!(
        refusal(call.ret::<f64>(&[2]).ret::<f64>(&[2])),
        "kepler: argument `mean_anomaly` must be f32 or f64, got c128"
    );
}
