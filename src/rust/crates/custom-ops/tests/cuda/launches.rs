//! Element types, batches and grids.

use super::common::*;
use xla_ffi::half::{bf16, f16};

#[test]
fn there_is_a_kernel_for_each_element_type() {
    let plain = "z[i] = x[i] * *y;";
    twice("times_f32", plain, &[1f32, 2.0, 3.0], 2.0, &[2.0, 4.0, 6.0]);
    twice("times_f64", plain, &[1f64, 2.0, 3.0], 2.0, &[2.0, 4.0, 6.0]);
    twice("times_i8", plain, &[1i8, -2], 3, &[3, -6]);
    twice("times_i16", plain, &[1i16, -2], 3, &[3, -6]);
    twice("times_i32", plain, &[1i32, -2], 3, &[3, -6]);
    twice("times_i64", plain, &[1i64 << 40, -2], 3, &[3 << 40, -6]);
    twice("times_u8", plain, &[1u8, 200], 2, &[2, 144]);
    twice("times_u16", plain, &[1u16, 2], 3, &[3, 6]);
    twice("times_u32", plain, &[1u32, 2], 3, &[3, 6]);
    twice("times_u64", plain, &[1u64 << 63, 2], 3, &[1 << 63, 6]);
    let and = "z[i] = x[i] && *y;";
    let [no, yes] = [xla_ffi::Pred(0), xla_ffi::Pred(1)];
    twice("times_pred", and, &[yes, no], yes, &[yes, no]);
    let half = "z[i] = xlaffi_to_f16(xlaffi_from_f16(x[i]) * xlaffi_from_f16(*y));";
    let f = f16::from_f64;
    twice(
        "times_f16",
        half,
        &[f(1.5), f(-2.0)],
        f(2.0),
        &[f(3.0), f(-4.0)],
    );
    let half = half.replace("f16", "bf16");
    let b = bf16::from_f64;
    twice(
        "times_bf16",
        &half,
        &[b(1.5), b(-2.0)],
        b(2.0),
        &[b(3.0), b(-4.0)],
    );
    let complex = "T p = {x[i].x * y->x - x[i].y * y->y, x[i].x * y->y + x[i].y * y->x}; z[i] = p;";
    let c = xla_ffi::Complex::<f32>::new;
    twice(
        "times_c64",
        complex,
        &[c(1.0, 2.0)],
        c(0.0, 1.0),
        &[c(-2.0, 1.0)],
    );
    let c = xla_ffi::Complex::<f64>::new;
    twice(
        "times_c128",
        complex,
        &[c(1.0, 2.0)],
        c(0.0, 1.0),
        &[c(-2.0, 1.0)],
    );
}

/// More threads than a block has, and more than the blocks have.
#[test]
fn every_element_is_reached() {
    let handler = kernel(
        "count_all",
        "x: i32[n] -> y: i32[n]",
        &code("y[i] = x[i] + 1;"),
    );
    for n in [0_i64, 1, 31, 257, 70_001] {
        let x: Vec<i32> = (0..n as i32).collect();
        let frame = run(start().arg(&[n], &x).ret::<i32>(&[n]), handler);
        let expected: Vec<i32> = (1..=n as i32).collect();
        assert!(frame.ret::<i32>(0) == expected, "{n}");
    }
}

#[test]
fn batches_broadcast_in_one_launch() {
    let text = "x: f64[..., n], w: f64[n], c: f64[...] -> y: f64[..., n]";
    let handler = kernel("cuda_affine", text, &code("y[i] = x[i] * w[i] + *c;"));
    let x: Vec<f64> = (0..2 * 3 * 4).map(f64::from).collect();
    let w = [1.0, 10.0, 100.0, 1000.0];
    for (shape, c) in [
        (&[2i64, 3][..], (1..7).map(f64::from).collect::<Vec<_>>()),
        (&[3], vec![1.0, 2.0, 3.0]),
        (&[2, 1], vec![1.0, 2.0]),
        (&[], vec![5.0]),
    ] {
        let before = crate::fake::calls("xlaffi_kernel");
        let call = start().arg(&[2, 3, 4], &x).arg(&[4], &w).arg(shape, &c);
        let frame = run(call.ret::<f64>(&[2, 3, 4]), handler);
        assert_eq!(crate::fake::calls("xlaffi_kernel") - before, 1);
        for (i, &got) in frame.ret::<f64>(0).iter().enumerate() {
            let (a, b) = (i / 12, i / 4 % 3);
            let c = match shape.len() {
                2 if shape[1] == 1 => c[a],
                2 => c[a * 3 + b],
                1 => c[b],
                _ => c[0],
            };
            assert_eq!(got, x[i] * w[i % 4] + c, "{shape:?} at {i}");
        }
    }
    let none = start()
        .arg(&[0, 4], &[0.0; 0])
        .arg(&[4], &w)
        .arg(&[], &[1.0]);
    run(none.ret::<f64>(&[0, 4]), handler);
}

/// As `xla_vmap()` writes them.
#[test]
fn axes_in_front_are_of_a_batch() {
    let handler = kernel("cuda_front", TIMES, &code("z[i] = x[i] * *y;"));
    let call = start().arg(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let call = call.arg(&[2], &[10.0, 100.0]).ret::<f64>(&[2, 3]);
    let frame = run(call.attr("xlaffi.batch", 1i64), handler);
    assert_eq!(frame.ret::<f64>(0), [10.0, 20.0, 30.0, 400.0, 500.0, 600.0]);
}

#[test]
fn blocks_share_memory_and_meet() {
    let body = "
        extern __shared__ double part[];
        double sum = 0;
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += x[i] * x[i];
        part[threadIdx.x] = sum;
        __syncthreads();
        for (int left = blockDim.x / 2; left > 0; left /= 2) {
          if (threadIdx.x < left) part[threadIdx.x] += part[threadIdx.x + left];
          __syncthreads();
        }
        const double scale = 1 / sqrt(part[0] / n + eps);
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] * scale;";
    let text = "x: T[..., n]; eps: f64 = 0 -> y: T[..., n]";
    let code = grid(body, &["1"], &["8"], Some("8*8"));
    let handler = kernel("cuda_rms", text, &code);
    let rows = 5;
    let x: Vec<f64> = (0..rows * 11).map(|i| f64::from(i * 7 % 13)).collect();
    let frame = run(start().arg(&[5, 11], &x).ret::<f64>(&[5, 11]), handler);
    for (x, y) in x.chunks(11).zip(frame.ret::<f64>(0).chunks(11)) {
        let scale = (x.iter().map(|x| x * x).sum::<f64>() / 11.0).sqrt();
        for (x, y) in x.iter().zip(y) {
            assert!((y - x / scale).abs() < 1e-14);
        }
    }
}

#[test]
fn sizes_of_a_grid_follow_from_dimensions() {
    let body = "
        const int64_t row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
        if (column >= n) return;
        y[column * m + row] = x[row * n + column] + by * gridDim.y;";
    let text = "x: i32[m, n]; by: i32 = 0 -> y: i32[n, m]";
    let code = grid(body, &["(n + 3)/4", "m"], &["4"], None);
    let handler = kernel("cuda_transpose", text, &code);
    let x: Vec<i32> = (0..2 * 5).collect();
    let call = start().arg(&[2, 5], &x).ret::<i32>(&[5, 2]);
    let frame = run(call.attr("by", 100i32), handler);
    assert_eq!(
        frame.ret::<i32>(0),
        [200, 205, 201, 206, 202, 207, 203, 208, 204, 209]
    );
    // Nothing to do.
    run(
        start().arg(&[0, 5], &[0i32; 0]).ret::<i32>(&[5, 0]),
        handler,
    );
}

#[test]
fn sizes_that_cuda_cannot_launch_are_reported() {
    let text = "x: i32[n] -> y: i32[n]";
    let call = |n: i64| start().arg(&[n], &vec![1i32; n as usize]).ret::<i32>(&[n]);
    let handler = kernel("cuda_few", text, &grid("", &["n/32"], &["32"], None));
    assert_eq!(
        failure(call(5), handler),
        "INVALID_ARGUMENT: cuda_few: `grid` must be from 1 to 2147483647, but n/32 is 0"
    );
    let handler = kernel("cuda_wide", text, &grid("", &["1"], &["n", "2"], None));
    assert_eq!(
        failure(call(600), handler),
        "INVALID_ARGUMENT: cuda_wide: `block` must have at most 1024 threads, got 1200"
    );
    let shared = grid("", &["1"], &["1"], Some("n*1000"));
    let handler = kernel("cuda_shared", text, &shared);
    assert!(failure(call(300), handler).starts_with("INTERNAL: cuda_shared: cuFuncSetAttribute"));
    run(call(100), handler);
    let handler = kernel("cuda_over", text, &over("", "n - 10"));
    assert_eq!(
        failure(call(5), handler),
        "INVALID_ARGUMENT: cuda_over: `over` must not be negative, but is -5"
    );
}
