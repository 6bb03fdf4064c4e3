//! Kernels of one's own, without a GPU: on stand-ins for the driver and for NVRTC, which compiles them
//! as C++ (`crates/ops/tests/cuda/fake`).
#![cfg(target_os = "linux")]

#[path = "../../ops/tests/common/fake.rs"]
#[allow(dead_code)]
mod fake;

use std::sync::Arc;

use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, CustomOp, KernelCode, Kernels, Options, Work};
use xla_ffi::half::{bf16, f16};
use xla_ffi::registry::Registry;
use xla_ffi::testing::{Call, Frame};
use xla_ffi::{DataType, HandlerFn, Scalar};

const HEADER: &str = include_str!("../../../../../inst/include/xlaffi.h");

fn code(body: &str) -> KernelCode {
    KernelCode {
        files: ["body.cu".to_owned(), "support.cu".to_owned()],
        body: body.to_owned(),
        header: HEADER.to_owned(),
        ..KernelCode::default()
    }
}

fn over(body: &str, over: &str) -> KernelCode {
    KernelCode {
        work: Work::Each {
            index: "i".to_owned(),
            over: Some(over.to_owned()),
        },
        ..code(body)
    }
}

fn grid(body: &str, blocks: &[&str], threads: &[&str], shared: Option<&str>) -> KernelCode {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    KernelCode {
        work: Work::Grid {
            blocks: owned(blocks),
            threads: owned(threads),
            shared: shared.map(str::to_owned),
        },
        ..code(body)
    }
}

/// An op with a kernel only.
fn op(name: &str, text: &str, sets: &[(&str, &[DataType])], code: &KernelCode) -> Arc<CustomOp> {
    fake::load();
    let signature = Signature::parse(text).expect("a signature");
    let sets = Sets::new(&signature, sets).expect("sets");
    let kernels = Kernels::new(&signature, &sets, code).expect("kernels");
    let options = Options {
        kernels: Some(kernels),
        ..Options::default()
    };
    // SAFETY: the kernels are as their signatures say.
    let op = unsafe { CustomOp::new(name, signature, sets, Vec::new(), options) }.expect("an op");
    register(&op, None).expect("registration");
    op
}

fn on_cuda(name: &str) -> HandlerFn {
    Registry::global().lookup(name, "cuda").expect("on CUDA")
}

fn kernel(name: &str, text: &str, code: &KernelCode) -> HandlerFn {
    op(name, text, &[], code);
    on_cuda(name)
}

/// A call on a stream.
fn start() -> Call {
    Call::new().context(1, 0, 0)
}

fn run(call: Call, handler: HandlerFn) -> Frame {
    let mut frame = call.build();
    frame.call(handler).expect("success");
    assert_eq!(frame.scratch().0, 0, "memory is given back");
    frame
}

fn failure(call: Call, handler: HandlerFn) -> String {
    let failure = call.build().call(handler).expect_err("a failure");
    failure.to_string()
}

const TIMES: &str = "x: T[n], y: T[] -> z: T[n]";

/// Twice of `values`, by a kernel for their type.
fn twice<T: Scalar + PartialEq + std::fmt::Debug>(name: &str, body: &str, x: &[T], y: T, z: &[T]) {
    op(name, TIMES, &[("T", &[T::DTYPE])], &code(body));
    let n = [x.len() as i64];
    let frame = run(
        start().arg(&n, x).arg(&[], &[y]).ret::<T>(&n),
        on_cuda(name),
    );
    assert_eq!(frame.ret::<T>(0), z, "{name}");
}

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
        let before = fake::calls("xlaffi_kernel");
        let call = start().arg(&[2, 3, 4], &x).arg(&[4], &w).arg(shape, &c);
        let frame = run(call.ret::<f64>(&[2, 3, 4]), handler);
        assert_eq!(fake::calls("xlaffi_kernel") - before, 1);
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
fn sizes_that_cuda_cannot_launch_are_told() {
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
    let before = fake::calls("xlaffi_kernel");
    let frame = run(
        start().arg(&[70_000, 3], &x).ret::<i32>(&[70_000, 3]),
        handler,
    );
    // The third axis of a grid ends at 65,535.
    assert_eq!(fake::calls("xlaffi_kernel") - before, 2);
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
fn a_kernel_fails_with_a_text_and_a_call_waits_only_for_such() {
    let waits = || fake::calls("cuStreamSynchronize");
    let body = r#"
        if (x[i] < 0) FAIL("x[%lld] is %g", i, x[i]);
        if (x[i] > 100) FAIL_WITH(XLAFFI_OUT_OF_RANGE, "too large");
        y[i] = sqrt(x[i]);"#;
    let text = "x: f64[..., n] -> y: f64[..., n]";
    let handler = kernel("cuda_roots", text, &code(body));
    let call = |x: &[f64]| start().arg(&[2, 2], x).ret::<f64>(&[2, 2]);
    let before = waits();
    let frame = run(call(&[0.0, 1.0, 4.0, 9.0]), handler);
    assert_eq!(frame.ret::<f64>(0), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(waits() - before, 1);
    assert_eq!(
        failure(call(&[0.0, 1.0, 4.0, -9.0]), handler),
        "INVALID_ARGUMENT: cuda_roots: x[1] is -9 (element 2 of the batch of 2)"
    );
    let one = start().arg(&[1], &[101.0]).ret::<f64>(&[1]);
    assert_eq!(failure(one, handler), "OUT_OF_RANGE: cuda_roots: too large");

    let handler = kernel("cuda_silent", text, &code("y[i] = x[i];"));
    let before = waits();
    run(call(&[1.0; 4]), handler);
    assert_eq!(waits(), before);
}

#[test]
fn a_kernel_fails_by_a_macro_of_its_support_code() {
    let text = "x: f64[n] -> y: f64[n]";
    let code = KernelCode {
        support: r#"#define NEED(c) if (!(c)) FAIL("bad %lld", i)"#.to_owned(),
        ..code("NEED(x[i] >= 0); y[i] = x[i];")
    };
    let handler = kernel("cuda_need", text, &code);
    let call = |x| start().arg(&[1], &[x]).ret::<f64>(&[1]);
    assert_eq!(run(call(2.0), handler).ret::<f64>(0), [2.0]);
    let told = failure(call(-2.0), handler);
    assert_eq!(told, "INVALID_ARGUMENT: cuda_need: bad 0");
}

/// Nobody would wait for it.
#[test]
fn a_macro_of_a_header_cannot_fail() {
    let header = "#define NEED(c) if (!(c)) FAIL(\"bad %lld\", i)";
    let code = KernelCode {
        header: format!("{HEADER}\n{header}\n"),
        ..code("NEED(x[i] >= 0); y[i] = x[i];")
    };
    let handler = kernel("cuda_hidden_need", "x: f64[n] -> y: f64[n]", &code);
    let told = failure(start().arg(&[1], &[2.0]).ret::<f64>(&[1]), handler);
    let expected = "FAIL comes from a header or a flag";
    assert!(told.contains(expected), "{told}");
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
    let file = include_str!("../../../../../tools/gpu/elementwise.cu");
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

#[test]
fn a_program_is_compiled_once_and_code_that_is_there_is_taken() {
    let count = || fake::calls("nvrtcCompileProgram");
    let handler = kernel("cuda_once", "x: f64[n] -> y: f64[n]", &code("y[i] = x[i];"));
    let call = || start().arg(&[1], &[3.0]).ret::<f64>(&[1]);
    let before = count();
    run(call(), handler);
    run(call(), handler);
    assert_eq!(count() - before, 1);

    let signature = Signature::parse("x: f64[n] -> y: f64[n]").expect("a signature");
    let sets = Sets::new(&signature, &[]).expect("sets");
    for (architecture, compiled) in [
        ("sm_90", 0),
        ("compute_75", 0),
        ("sm_80", 1),
        ("compute_100", 1),
    ] {
        let mut kernels =
            Kernels::new(&signature, &sets, &code("y[i] = 2 * x[i];")).expect("kernels");
        let image = kernels.units()[0].compile("sm_90").expect("code");
        kernels.units_mut()[0].provide(architecture, image);
        let options = Options {
            kernels: Some(kernels),
            ..Options::default()
        };
        let parts = (signature.clone(), sets.clone());
        // SAFETY: as its signature says.
        let op = unsafe { CustomOp::new("cuda_provided", parts.0, parts.1, Vec::new(), options) };
        register(&op.expect("an op"), None).expect("registration");
        let before = count();
        let frame = run(call(), on_cuda("cuda_provided"));
        assert_eq!(frame.ret::<f64>(0), [6.0]);
        assert_eq!(count() - before, compiled, "{architecture}");
    }
}

#[test]
fn a_source_that_does_not_compile_is_told_by_the_call() {
    let handler = kernel(
        "cuda_broken",
        "x: f64[n] -> y: f64[n]",
        &code("\ny[i] = offset;"),
    );
    let call = || start().arg(&[1], &[3.0]).ret::<f64>(&[1]);
    let told = failure(call(), handler);
    let expected = "INVALID_ARGUMENT: cuda_broken: its kernel does not compile for this device: ";
    assert!(
        told.starts_with(expected) && told.contains("body.cu:2:"),
        "{told}"
    );
}

#[test]
fn an_op_without_a_body_or_a_kernel_says_so() {
    op(
        "cuda_only",
        "x: f64[n] -> y: f64[n]",
        &[],
        &code("y[i] = x[i];"),
    );
    let on_host = Registry::global()
        .lookup("cuda_only", "host")
        .expect("on the CPU");
    let on_cpu = Call::new().arg(&[1], &[3.0]).ret::<f64>(&[1]);
    assert_eq!(
        failure(on_cpu, on_host),
        "UNIMPLEMENTED: cuda_only: it has a kernel for CUDA and no body for the CPU"
    );
    let runs = |platform| custom_ops::runs("cuda_only", platform);
    assert!(runs("cuda") && !runs("host"));

    // One that never had a kernel is told so by plugins for CUDA.
    let define = |name: &str| register(&with_body(name, None), None).expect("registration");
    let without =
        "UNIMPLEMENTED: it_is: it has no kernel for CUDA: `ffi_source(cuda = )` gives it one";
    define("cuda_none");
    assert!(Registry::global().lookup("cuda_none", "cuda").is_none());
    custom_ops::refuse_on_cuda("cuda_none", None).expect("registration");
    let call = || start().arg(&[1], &[3.0]).ret::<f64>(&[1]);
    let told = failure(call(), on_cuda("cuda_none"));
    assert_eq!(told, without.replace("it_is", "cuda_none"));
    assert!(!custom_ops::runs("cuda_none", "cuda"));

    // A redefinition without a kernel takes the place of one with a kernel.
    define("cuda_only");
    assert!(!runs("cuda") && runs("host"));
    let told = failure(call(), on_cuda("cuda_only"));
    assert_eq!(told, without.replace("it_is", "cuda_only"));
}

unsafe extern "C" fn nothing(_: *const custom_ops::abi::Call) -> i32 {
    0
}

/// An op with a body, and with a kernel if there is one.
fn with_body(name: &str, kernel: Option<&str>) -> Arc<CustomOp> {
    let signature = Signature::parse("x: f64[n] -> y: f64[n]").expect("a signature");
    let sets = Sets::new(&signature, &[]).expect("sets");
    let kernels = kernel.map(|body| Kernels::new(&signature, &sets, &code(body)).expect("kernels"));
    let body = custom_ops::Instance::new(Vec::new(), custom_ops::Body::C(nothing));
    let options = Options {
        kernels,
        ..Options::default()
    };
    // SAFETY: the body does nothing, and the kernel is as the signature says.
    unsafe { CustomOp::new(name, signature, sets, vec![body], options) }.expect("an op")
}

/// Registers a handler that is no own op, for the execute stage only.
fn foreign_on(name: &str, platform: &str) -> HandlerFn {
    let donor = kernel(
        &format!("{name}_donor"),
        "x: f64[n] -> y: f64[n]",
        &code("y[i] = x[i];"),
    );
    // SAFETY: a handler, which stays registered.
    let registered = unsafe { Registry::global().register(name, platform, donor, Some("other")) };
    registered.expect("registration").trampoline
}

/// Whose the active handler of that name is.
fn owner_of(name: &str, platform: &str) -> Option<Option<String>> {
    let entries = Registry::global().list().into_iter();
    let mut active = entries.filter(|entry| entry.active);
    let found = active.find(|entry| entry.target == name && entry.platform == platform);
    found.map(|entry| entry.owner)
}

#[test]
fn a_handler_for_cuda_that_is_no_own_op_stays() {
    fake::load();
    foreign_on("cuda_foreign", "cuda");
    register(&with_body("cuda_foreign", None), None).expect("registration");
    let owner = owner_of("cuda_foreign", "cuda");
    assert_eq!(owner, Some(Some("other".to_owned())));
}

/// XLA may hold on to other stages of the name on the CPU than an own op has.
#[test]
fn a_registration_that_fails_changes_nothing() {
    fake::load();
    let told = |name: &str| {
        let answer = xla_ffi::testing::metadata(foreign_on(name, "host"));
        assert!(answer.is_some());
    };
    let refused = |op: &Arc<CustomOp>| {
        let error = register(op, None).expect_err("a refusal").to_string();
        assert!(error.contains("its stages are not those"), "{error}");
    };
    let with_kernel = |name: &str| with_body(name, Some("y[i] = x[i];"));

    told("cuda_half");
    refused(&with_kernel("cuda_half"));
    assert!(Registry::global().lookup("cuda_half", "cuda").is_none());
    let owner = owner_of("cuda_half", "host");
    assert_eq!(owner, Some(Some("other".to_owned())));

    // What CUDA had comes back, with its owner.
    let first = with_kernel("cuda_again");
    register(&first, Some("first")).expect("registration");
    assert!(Registry::global().unregister("cuda_again", "host"));
    told("cuda_again");
    refused(&with_kernel("cuda_again"));
    let now = Registry::global().data::<CustomOp>("cuda_again", "cuda");
    assert!(Arc::ptr_eq(&now.expect("the first"), &first));
    let owner = owner_of("cuda_again", "cuda");
    assert_eq!(owner, Some(Some("first".to_owned())));
}

#[test]
fn what_kernels_cannot_do_is_told_when_they_are_made() {
    let told = |text: &str, code: &KernelCode| {
        let signature = Signature::parse(text).expect("a signature");
        let sets = Sets::new(&signature, &[]).expect("sets");
        let fault = Kernels::new(&signature, &sets, code).expect_err("a fault");
        format!("{}: {}", fault.part, fault.message)
    };
    assert_eq!(
        told("xs: f64[n]*k -> y: f64[n]", &code("")),
        "signature: `xs` may come several times, which a kernel cannot take"
    );
    assert_eq!(
        told("x: f64[i] -> y: f64[i]", &code("")),
        "signature: `i` counts what a kernel does, and cannot be a name in the signature"
    );
    assert_eq!(
        told("x: f64[n] -> y: f64[n]", &over("", "n * q")),
        "over: `q` is no dimension of the signature\n  n * q\n      ^"
    );
    assert_eq!(
        told(
            "x: f64[n]; a: f64 -> y: f64[n]",
            &grid("", &["n", "a"], &["1"], None)
        ),
        "grid: `a` is not one whole number\n  a\n  ^"
    );
    assert_eq!(
        told(
            "x: f64[n] -> y: f64[n]",
            &grid("", &["n", "1", "1"], &["1"], None)
        ),
        "grid: it has 1 to 2 axes, got 3"
    );
    assert_eq!(
        told("x: f64[n] -> ", &code("")),
        "over: there is no result whose elements could be counted"
    );
}
