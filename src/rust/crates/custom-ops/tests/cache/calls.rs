//! Calls that are like the first one, and calls that are not.

use super::common::*;
use custom_ops::{Body as Code, Instance};
use xla_ffi::testing::{Call, Frame};
use xla_ffi::{sys, DataType};

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

/// Buffers in place of one that was found, and what the refusal says.
fn other_buffers(
    found: sys::XLA_FFI_Buffer,
    spare: *mut f64,
    [three, negative]: [*mut i64; 2],
) -> [(sys::XLA_FFI_Buffer, &'static str); 6] {
    [
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
    ]
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
            let tries = other_buffers(found, spare, [three, negative]);
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
