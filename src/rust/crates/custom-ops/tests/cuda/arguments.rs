//! What kernels are given: attributes, operands in place, scratch memory.

use super::common::*;
use custom_ops::KernelCode;

#[test]
fn attributes_reach_the_device() {
    let text = "x: f64[n]; h: f64[p], skip: i64 = 0, flag: pred = false, mode: str = \"ab\", \
                small: f32 = 0.5 -> y: f64[n]";
    let body = "
        y[i] = x[i] + skip + small + (flag ? 1000 : 0) + mode_length;
        for (int64_t j = 0; j < p; j++) y[i] += h[j];
        for (int64_t j = 0; j < mode_length; j++) y[i] += mode[j] == 'q' ? 0.25 : 0;";
    let handler = kernel("cuda_attributes", text, &code(body));
    let call = || start().arg(&[2], &[1.0, 2.0]).ret::<f64>(&[2]);
    let frame = run(call().attr("h", [100.0, 200.0].as_slice()), handler);
    assert_eq!(frame.ret::<f64>(0), [303.5, 304.5]);
    let frame = run(
        call()
            .attr("h", [0.0; 0].as_slice())
            .attr("skip", -1i64)
            .attr("flag", true)
            .attr("mode", "qxq")
            .attr("small", 0.25f32),
        handler,
    );
    assert_eq!(frame.ret::<f64>(0), [1003.75, 1004.75]);
}

#[test]
fn operands_in_place_are_copied_where_they_are_elsewhere() {
    let text = "x: f64[..., n], y: f64[...] -> x: f64[..., n]";
    let handler = kernel("cuda_in_place", text, &code("x[i] += *y;"));
    let x = [1.0, 2.0, 3.0, 4.0];
    let call = start().arg(&[2, 2], &x).arg(&[2], &[10.0, 20.0]);
    let frame = run(call.ret::<f64>(&[2, 2]), handler);
    assert_eq!(frame.ret::<f64>(0), [11.0, 12.0, 23.0, 24.0]);
    let call = start().arg(&[2, 2], &x).arg(&[2], &[10.0, 20.0]);
    let frame = run(call.ret_aliasing(0), handler);
    assert_eq!(frame.ret::<f64>(0), [11.0, 12.0, 23.0, 24.0]);
    // One row for all elements of the batch.
    let call = start().arg(&[1, 2], &x[..2]).arg(&[3], &[10.0, 20.0, 30.0]);
    let call = call.ret::<f64>(&[3, 2]).attr("xlaffi.batch", 1i64);
    let frame = run(call, handler);
    assert_eq!(frame.ret::<f64>(0), [11.0, 12.0, 21.0, 22.0, 31.0, 32.0]);
}

#[test]
fn each_element_of_a_batch_has_scratch_memory() {
    let text = "x: i32[..., n] -> y: i32[..., n] ; old: i32[n], more: i8[3]";
    let body = "
        for (int64_t i = 0; i < n; i++) old[i] = x[n - 1 - i];
        more[0] = 1, more[2] = 2;
        for (int64_t i = 0; i < n; i++) y[i] = old[i] * more[2] + more[0];";
    let handler = kernel("cuda_scratch", text, &grid(body, &["1"], &["1"], None));
    let x: Vec<i32> = (0..70_000 * 3).collect();
    let before = crate::fake::calls("xlaffi_kernel");
    let frame = run(
        start().arg(&[70_000, 3], &x).ret::<i32>(&[70_000, 3]),
        handler,
    );
    // The third axis of a grid ends at 65,535.
    assert_eq!(crate::fake::calls("xlaffi_kernel") - before, 2);
    let rows = x.chunks(3).zip(frame.ret::<i32>(0).chunks(3));
    for (x, y) in rows {
        assert_eq!(y, [x[2] * 2 + 1, x[1] * 2 + 1, x[0] * 2 + 1]);
    }
    let call = start().arg(&[2, 3], &x[..6]).ret::<i32>(&[2, 3]);
    let failed = failure(call.scratch_limit(16), handler);
    assert!(
        failed.starts_with("RESOURCE_EXHAUSTED: cuda_scratch: "),
        "{failed}"
    );
}

#[test]
fn what_is_left_out_is_null() {
    let text = "x: f64[n], w: f64[n]? -> y: f64[n]";
    let handler = kernel(
        "cuda_optional",
        text,
        &code("y[i] = w ? x[i] * w[i] : -x[i];"),
    );
    let frame = run(start().arg(&[1], &[2.0]).ret::<f64>(&[1]), handler);
    assert_eq!(frame.ret::<f64>(0), [-2.0]);
    let call = start().arg(&[1], &[2.0]).arg(&[1], &[3.0]);
    assert_eq!(run(call.ret::<f64>(&[1]), handler).ret::<f64>(0), [6.0]);
}

#[test]
fn support_code_knows_the_element_type() {
    let code = KernelCode {
        support: "static T half_of(T x) { return x / 2; }".to_owned(),
        ..code("y[i] = half_of(x[i]);")
    };
    let handler = kernel("cuda_support", "x: T[n] -> y: T[n]", &code);
    let frame = run(start().arg(&[1], &[3f32]).ret::<f32>(&[1]), handler);
    assert_eq!(frame.ret::<f32>(0), [1.5]);
}

/// What `ffi_elementwise()` makes of an expression; a test of R compares the file with its own.
#[test]
fn elementwise_kernels_compute_what_their_expression_says() {
    let file = include_str!("../../../../../../tools/gpu/elementwise.cu");
    let (head, rest) = file.split_once('\n').expect("a signature");
    let (support, body) = rest.split_once("// kernel\n").expect("two parts");
    let code = KernelCode {
        support: support.to_owned(),
        ..code(body)
    };
    let handler = kernel("cuda_distance", head.trim_start_matches("// "), &code);
    let x: Vec<f64> = (0..6).map(|i| f64::from(i) * 0.7 - 2.0).collect();
    let y = [0.25, -1.0];
    let frame = run(
        start().arg(&[2, 3], &x).arg(&[2], &y).ret::<f64>(&[2, 3]),
        handler,
    );
    for (at, (&x, &z)) in x.iter().zip(frame.ret::<f64>(0)).enumerate() {
        let (y, d) = (y[at / 3], x - y[at / 3]);
        let huber = if d.abs() < 1.0 {
            d * d / 2.0
        } else {
            d.abs() - 0.5
        };
        let expected = huber + (-x.min(1.0)).exp() + y.signum();
        assert!((z - expected).abs() < 1e-14, "{at}: {z} and {expected}");
    }
}
