//! Patterns of sparse matrices that are texts.

use crate::common::handler;
use xla_ffi::testing::Call;

#[test]
fn a_pattern_may_be_two_texts() {
    let colptr = [0_i32, 4, 6, 8, 10, 11, 12, 13];
    let rowind = [0_i32, 1, 3, 4, 1, 2, 2, 3, 3, 4, 4, 5, 6];
    let values: Vec<f64> = (1..=13).map(f64::from).collect();
    let x: Vec<f64> = (1..=7).map(f64::from).collect();
    let call = || {
        let call = Call::new().arg(&[13], &values).arg(&[7, 1], &x);
        let call = call.ret::<f64>(&[7, 1]).attr("nrow", 7_i64);
        call.attr("ncol", 7_i64)
    };
    let product = |call: Call| {
        let mut frame = call.build();
        frame.call(handler("sparse_matmul")).expect("a product");
        frame.ret::<f64>(0).to_vec()
    };
    let long = call()
        .attr("colptr", &colptr[..])
        .attr("rowind", &rowind[..]);
    let short = call()
        .attr("colptr", "AIEEECCC")
        .attr("rowind", "ACECHCACACACC");
    assert_eq!(product(short), product(long));
    let other = call().attr("colptr", "A,").attr("rowind", "A");
    let failure = other.run(handler("sparse_matmul")).expect_err("no numbers");
    assert_eq!(
        failure.to_string(),
        "INVALID_ARGUMENT: sparse_matmul: attribute `colptr` must be an array of i32, or its differences in Base64 VLQ, \
         got another text"
    );
}
