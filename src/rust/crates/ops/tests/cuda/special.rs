//! `special`. The stand-in for the driver has a few of the kernels, by the C library.

use super::common::{handler, start};
use xla_ffi::testing::Frame;
use xla_ffi::Scalar;

fn call<T: Scalar>(function: &str, arguments: &[&[T]], on_cuda: bool) -> Frame {
    let dims = [arguments[0].len() as i64];
    let mut call = start();
    for argument in arguments {
        call = call.arg(&dims, argument);
    }
    let mut frame = call.ret::<T>(&dims).attr("function", function).build();
    let host = ops::find("special", "host").expect("special on the host");
    let handler = if on_cuda { handler("special") } else { host };
    frame.call(handler).expect(function);
    frame
}

const A: [f64; 5] = [0.3, 1.0, 2.5, 7.0, 40.0];
const B: [f64; 5] = [2.0, 0.7, 1.5, 3.0, 12.5];
const X: [f64; 5] = [0.1, 0.5, 0.25, 0.9, 0.75];

#[test]
fn special_functions_are_what_they_are_on_the_cpu() {
    let long = |x: &[f64]| x.iter().copied().cycle().take(1003).collect::<Vec<_>>();
    let (a, b, x) = (long(&A), long(&B), long(&X));
    let single = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
    let (a32, b32, x32) = (single(&a), single(&b), single(&x));
    for (function, count) in [("lgamma", 1), ("lbeta", 2), ("log_beta_density", 3)] {
        let double = &[&a[..], &b, &x][..count];
        let (got, want) = (call(function, double, true), call(function, double, false));
        for (got, want) in got.ret::<f64>(0).iter().zip(want.ret::<f64>(0)) {
            assert!(
                (got - want).abs() <= 1e-13 * want.abs().max(1.0),
                "{function}: {got}, {want}"
            );
        }
        let single = &[&a32[..], &b32, &x32][..count];
        let (got, want) = (call(function, single, true), call(function, single, false));
        for (got, want) in got.ret::<f32>(0).iter().zip(want.ret::<f32>(0)) {
            assert!(
                (got - want).abs() <= 1e-6 * want.abs().max(1.0),
                "{function}: {got}, {want}"
            );
        }
    }
}

#[test]
fn special_functions_work_in_place_and_of_nothing() {
    let want = call("lbeta", &[&A[..], &B], true);
    for first in [0, 1] {
        let dims = [5];
        let call = start().arg(&dims, &A).arg(&dims, &B);
        let mut frame = call.ret_aliasing(first).attr("function", "lbeta").build();
        frame.call(handler("special")).expect("in place");
        assert_eq!(frame.ret::<f64>(0), want.ret::<f64>(0));
    }
    assert!(call::<f64>("lgamma", &[&[]], true).ret::<f64>(0).is_empty());
}

#[test]
fn special_functions_are_refused_by_name_and_number_of_arguments() {
    let refused = |function: &str, count: usize| {
        let mut call = start();
        for _ in 0..count {
            call = call.arg(&[5], &A);
        }
        let mut frame = call.ret::<f64>(&[5]).attr("function", function).build();
        let error = frame.call(handler("special")).expect_err(function);
        error.to_string()
    };
    assert!(refused("no_such", 1).contains("special: attribute `function`"));
    assert!(refused("lgamma", 2).contains("have 2 arguments"));
}
