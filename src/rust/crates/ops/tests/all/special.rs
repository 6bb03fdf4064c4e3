//! `special`: the functions of their crate, element by element.

use crate::common::{handler, run, start};
use xla_ffi::testing::Call;

const COUNT: usize = 1300;

fn numbers(step: f64) -> Vec<f64> {
    (0..COUNT).map(|i| 0.01 + step * i as f64).collect()
}

fn gammainc(threads: usize) -> Call {
    let dims = [COUNT as i64];
    start()
        .threads(threads)
        .arg(&dims, &numbers(0.01))
        .arg(&dims, &numbers(0.02))
        .attr("function", "gammainc_p")
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let special::Function::Two(f) = special::function("gammainc_p").expect("it") else {
        panic!("two arguments");
    };
    let (a, x) = (numbers(0.01), numbers(0.02));
    let want: Vec<f64> = a.iter().zip(&x).map(|(&a, &x)| f(a, x)).collect();
    for threads in [1, 2, 5] {
        let frame = gammainc(threads).ret::<f64>(&[COUNT as i64]).build();
        assert_eq!(run(frame, "special").ret::<f64>(0), want);
    }
    for arg in 0..2 {
        let frame = gammainc(2).ret_aliasing(arg).build();
        assert_eq!(
            run(frame, "special").ret::<f64>(0),
            want,
            "in place of {arg}"
        );
    }
}

#[test]
fn single_precision_is_rounded_once() {
    let x = [0.1f32, 1.0, 7.5, f32::NAN, -0.5];
    let call = start()
        .arg(&[5], &x)
        .ret::<f32>(&[5])
        .attr("function", "lgamma");
    let got = run(call.build(), "special").ret::<f32>(0).to_vec();
    for (x, got) in x.into_iter().zip(got) {
        assert_eq!(
            got.to_bits(),
            (special::lgamma(x.into()) as f32).to_bits(),
            "{x}"
        );
    }
}

#[test]
fn bad_calls_are_named() {
    let message = |call: Call| {
        let failure = call.build().call(handler("special"));
        failure.expect_err("an error").message
    };
    let dims = [COUNT as i64];
    let unknown = start()
        .arg(&[1], &[1.0f64])
        .ret::<f64>(&[1])
        .attr("function", "lgama");
    assert!(message(unknown).contains("`function` must name a special function"));
    let one = start()
        .arg(&[1], &[1.0f64])
        .ret::<f64>(&[1])
        .attr("function", "beta");
    assert!(message(one).contains("\"beta\", which has 2"));
    let short = gammainc(1).ret::<f64>(&[3]);
    assert!(message(short).contains("must have shape"));
    let other = start()
        .arg(&dims, &numbers(1.0))
        .arg(&[1], &[1.0f64])
        .ret::<f64>(&dims)
        .attr("function", "beta");
    assert!(message(other).contains("more"));
}
