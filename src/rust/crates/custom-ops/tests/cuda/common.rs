//! Kernels and calls that several tests use.

use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, CustomOp, KernelCode, Kernels, Options, Work};
use std::sync::Arc;
use xla_ffi::registry::Registry;
use xla_ffi::testing::{Call, Frame};
use xla_ffi::{DataType, HandlerFn, Scalar};

pub const HEADER: &str = include_str!("../../../../../../inst/include/xlaffi.h");

pub fn code(body: &str) -> KernelCode {
    KernelCode {
        files: ["body.cu".to_owned(), "support.cu".to_owned()],
        body: body.to_owned(),
        header: HEADER.to_owned(),
        ..KernelCode::default()
    }
}

pub fn over(body: &str, over: &str) -> KernelCode {
    KernelCode {
        work: Work::Each {
            index: "i".to_owned(),
            over: Some(over.to_owned()),
        },
        ..code(body)
    }
}

pub fn grid(body: &str, blocks: &[&str], threads: &[&str], shared: Option<&str>) -> KernelCode {
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
pub fn op(
    name: &str,
    text: &str,
    sets: &[(&str, &[DataType])],
    code: &KernelCode,
) -> Arc<CustomOp> {
    crate::fake::load();
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

pub fn on_cuda(name: &str) -> HandlerFn {
    Registry::global().lookup(name, "cuda").expect("on CUDA")
}

pub fn kernel(name: &str, text: &str, code: &KernelCode) -> HandlerFn {
    op(name, text, &[], code);
    on_cuda(name)
}

/// A call on a stream.
pub fn start() -> Call {
    Call::new().context(1, 0, 0)
}

pub fn run(call: Call, handler: HandlerFn) -> Frame {
    let mut frame = call.build();
    frame.call(handler).expect("success");
    assert_eq!(frame.scratch().0, 0, "memory is given back");
    frame
}

pub fn failure(call: Call, handler: HandlerFn) -> String {
    let failure = call.build().call(handler).expect_err("a failure");
    failure.to_string()
}

pub const TIMES: &str = "x: T[n], y: T[] -> z: T[n]";

/// Twice of `values`, by a kernel for their type.
pub fn twice<T: Scalar + PartialEq + std::fmt::Debug>(
    name: &str,
    body: &str,
    x: &[T],
    y: T,
    z: &[T],
) {
    op(name, TIMES, &[("T", &[T::DTYPE])], &code(body));
    let n = [x.len() as i64];
    let frame = run(
        start().arg(&n, x).arg(&[], &[y]).ret::<T>(&n),
        on_cuda(name),
    );
    assert_eq!(frame.ret::<T>(0), z, "{name}");
}
