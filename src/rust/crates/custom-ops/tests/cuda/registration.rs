//! Ops with and without kernels under one name.

use super::common::*;
use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, CustomOp, Kernels, Options};
use std::sync::Arc;
use xla_ffi::registry::Registry;
use xla_ffi::testing::Call;
use xla_ffi::HandlerFn;

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
    let text = failure(call(), on_cuda("cuda_none"));
    assert_eq!(text, without.replace("it_is", "cuda_none"));
    assert!(!custom_ops::runs("cuda_none", "cuda"));

    // A redefinition without a kernel takes the place of one with a kernel.
    define("cuda_only");
    assert!(!runs("cuda") && runs("host"));
    let text = failure(call(), on_cuda("cuda_only"));
    assert_eq!(text, without.replace("it_is", "cuda_only"));
}

/// What has a handler on the CPU alone says so on CUDA; a handler for CUDA stays.
#[test]
fn targets_for_the_cpu_are_refused_by_name() {
    custom_ops::refuse_target_on_cuda("lapack_dgesdd_ffi", Some("xlaffi")).expect("registration");
    let call = start().arg(&[1], &[3.0]).ret::<f64>(&[1]);
    assert_eq!(
        failure(call, on_cuda("lapack_dgesdd_ffi")),
        "UNIMPLEMENTED: lapack_dgesdd_ffi: it is for the CPU: there is no handler for CUDA"
    );
    // Who registered it stays its owner.
    custom_ops::refuse_target_on_cuda("lapack_dgesdd_ffi", None).expect("nothing to do");
    let entries = Registry::global().list();
    let mut found = entries
        .iter()
        .filter(|entry| entry.target == "lapack_dgesdd_ffi");
    assert!(found.all(|entry| entry.owner.as_deref() == Some("xlaffi")));
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
    crate::fake::load();
    foreign_on("cuda_foreign", "cuda");
    register(&with_body("cuda_foreign", None), None).expect("registration");
    let owner = owner_of("cuda_foreign", "cuda");
    assert_eq!(owner, Some(Some("other".to_owned())));
}

/// XLA may hold on to other stages of the name on the CPU than an own op has.
#[test]
fn a_registration_that_fails_changes_nothing() {
    crate::fake::load();
    let text = |name: &str| {
        let answer = xla_ffi::testing::metadata(foreign_on(name, "host"));
        assert!(answer.is_some());
    };
    let refused = |op: &Arc<CustomOp>| {
        let error = register(op, None).expect_err("a refusal").to_string();
        assert!(error.contains("its stages are not those"), "{error}");
    };
    let with_kernel = |name: &str| with_body(name, Some("y[i] = x[i];"));

    text("cuda_half");
    refused(&with_kernel("cuda_half"));
    assert!(Registry::global().lookup("cuda_half", "cuda").is_none());
    let owner = owner_of("cuda_half", "host");
    assert_eq!(owner, Some(Some("other".to_owned())));

    // What CUDA had comes back, with its owner.
    let first = with_kernel("cuda_again");
    register(&first, Some("first")).expect("registration");
    assert!(Registry::global().unregister("cuda_again", "host"));
    text("cuda_again");
    refused(&with_kernel("cuda_again"));
    let now = Registry::global().data::<CustomOp>("cuda_again", "cuda");
    assert!(Arc::ptr_eq(&now.expect("the first"), &first));
    let owner = owner_of("cuda_again", "cuda");
    assert_eq!(owner, Some(Some("first".to_owned())));
}
