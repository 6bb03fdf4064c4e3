//! Kernels that fail, or cannot be compiled.

use super::common::*;
use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, CustomOp, KernelCode, Kernels, Options};

#[test]
fn a_kernel_fails_with_a_text_and_a_call_waits_only_for_such() {
    let waits = || crate::fake::calls("cuStreamSynchronize");
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
    let message = failure(call(-2.0), handler);
    assert_eq!(message, "INVALID_ARGUMENT: cuda_need: bad 0");
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
    let message = failure(start().arg(&[1], &[2.0]).ret::<f64>(&[1]), handler);
    let expected = "FAIL comes from a header or a flag";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_program_is_compiled_once_and_code_that_is_there_is_taken() {
    let count = || crate::fake::calls("nvrtcCompileProgram");
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
fn a_source_that_does_not_compile_is_reported_by_the_call() {
    let handler = kernel(
        "cuda_broken",
        "x: f64[n] -> y: f64[n]",
        &code("\ny[i] = offset;"),
    );
    let call = || start().arg(&[1], &[3.0]).ret::<f64>(&[1]);
    let message = failure(call(), handler);
    let expected = "INVALID_ARGUMENT: cuda_broken: its kernel does not compile for this device: ";
    assert!(
        message.starts_with(expected) && message.contains("body.cu:2:"),
        "{message}"
    );
}

#[test]
fn what_kernels_cannot_do_is_reported_when_they_are_made() {
    let message = |text: &str, code: &KernelCode| {
        let signature = Signature::parse(text).expect("a signature");
        let sets = Sets::new(&signature, &[]).expect("sets");
        let fault = Kernels::new(&signature, &sets, code).expect_err("a fault");
        format!("{}: {}", fault.part, fault.message)
    };
    assert_eq!(
        message("xs: f64[n]*k -> y: f64[n]", &code("")),
        "signature: `xs` may come several times, which a kernel cannot take"
    );
    assert_eq!(
        message("x: f64[i] -> y: f64[i]", &code("")),
        "signature: `i` counts what a kernel does, and cannot be a name in the signature"
    );
    assert_eq!(
        message("x: f64[n] -> y: f64[n]", &over("", "n * q")),
        "over: `q` is no dimension of the signature\n  n * q\n      ^"
    );
    assert_eq!(
        message(
            "x: f64[n]; a: f64 -> y: f64[n]",
            &grid("", &["n", "a"], &["1"], None)
        ),
        "grid: `a` is not one whole number\n  a\n  ^"
    );
    assert_eq!(
        message(
            "x: f64[n] -> y: f64[n]",
            &grid("", &["n", "1", "1"], &["1"], None)
        ),
        "grid: it has 1 to 2 axes, got 3"
    );
    assert_eq!(
        message("x: f64[n] -> ", &code("")),
        "over: there is no result whose elements could be counted"
    );
}
