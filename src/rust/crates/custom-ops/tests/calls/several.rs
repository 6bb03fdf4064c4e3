//! Operands that come several times, or not at all; frames that make no sense.

use super::common::*;
use custom_ops::abi::Call as Body;
use xla_ffi::testing::Call;

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
