//! Ops, bodies and calls that several tests use.

use custom_ops::abi::Call as Body;
use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, Body as Code, CustomOp, Instance, Options};
use std::sync::Arc;
use xla_ffi::testing::Frame;
use xla_ffi::{DataType, HandlerFn};

pub type C = unsafe extern "C" fn(*const Body) -> i32;

/// An op of one body for each choice of dtypes, and what XLA calls.
pub fn op_of(
    name: &str,
    text: &str,
    bodies: &[(&[DataType], C)],
    options: Options,
) -> Arc<CustomOp> {
    let signature = Signature::parse(text).unwrap();
    let mut sets = vec![Vec::new(); signature.dtypes.len()];
    for (dtypes, _) in bodies {
        for (set, &dtype) in sets.iter_mut().zip(*dtypes) {
            if !set.contains(&dtype) {
                set.push(dtype);
            }
        }
    }
    let named: Vec<_> = signature
        .dtypes
        .iter()
        .map(String::as_str)
        .zip(sets.iter().map(Vec::as_slice))
        .collect();
    let sets = Sets::new(&signature, &named).unwrap();
    let instances = bodies
        .iter()
        .map(|&(dtypes, body)| Instance::new(dtypes.to_vec(), Code::C(body)))
        .collect();
    // SAFETY: functions of this file, as their signatures say.
    unsafe { CustomOp::new(name, signature, sets, instances, options) }.unwrap()
}

pub fn handler(op: &Arc<CustomOp>) -> HandlerFn {
    register(op, None).unwrap().trampoline
}

pub fn simple(name: &str, text: &str, body: C) -> HandlerFn {
    handler(&op_of(name, text, &[(&[], body)], Options::default()))
}

pub fn failure(frame: &mut Frame, handler: HandlerFn) -> String {
    frame.call(handler).unwrap_err().to_string()
}

/// `x: T[n], y: T[] -> z: T[n]`
pub unsafe extern "C" fn times<T: Copy + std::ops::Mul<Output = T>>(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let (x, y, z) = (
            (*call.buffers).cast::<T>(),
            (*call.buffers.add(1)).cast::<T>(),
            (*call.buffers.add(2)).cast::<T>(),
        );
        for i in 0..*call.dims as usize {
            *z.add(i) = *x.add(i) * *y;
        }
    }
    0
}

pub const TIMES: &str = "x: T[n], y: T[] -> z: T[n]";

/// `x: f64[..., n], w: f64[n], c: f64[...] -> y: f64[..., n]`: `x * w + c`
pub unsafe extern "C" fn affine(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let at = |i: usize| (*call.buffers.add(i)).cast::<f64>();
        for i in 0..*call.dims as usize {
            *at(3).add(i) = *at(0).add(i) * *at(1).add(i) + *at(2);
        }
    }
    0
}

pub const AFFINE: &str = "x: f64[..., n], w: f64[n], c: f64[...] -> y: f64[..., n]";

pub fn expect_part(text: &str, part: &str) {
    assert!(text.contains(part), "{text}");
}

pub fn registered(name: &str) -> i64 {
    custom_ops::registered(name).unwrap().digest()
}
