//! Ops, bodies and calls that several tests use.

use custom_ops::abi::Call as Body;
use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, Body as Code, BoundCall, CustomOp, Instance, Options};
use std::sync::Arc;
use xla_ffi::registry::Registry;
use xla_ffi::testing::{Call, Frame};
use xla_ffi::{sys, DataType, HandlerFn};

pub fn op(name: &str, text: &str, instances: Vec<Instance>, whole: bool) -> Arc<CustomOp> {
    let signature = Signature::parse(text).unwrap();
    let dtypes = [DataType::F32, DataType::F64];
    let sets: Vec<_> = signature
        .dtypes
        .iter()
        .map(|name| (name.as_str(), &dtypes[..]))
        .collect();
    let sets = Sets::new(&signature, &sets).unwrap();
    let options = Options {
        whole,
        ..Options::default()
    };
    // SAFETY: functions of this file, as their signatures say.
    let op = unsafe { CustomOp::new(name, signature, sets, instances, options) }.unwrap();
    register(&op, None).unwrap();
    op
}

/// What XLA calls.
pub fn handler(op: &CustomOp) -> HandlerFn {
    Registry::global().lookup(op.name(), "host").unwrap()
}

/// The call in a program that keeps its op.
pub fn kept(call: Call, handler: HandlerFn) -> Frame {
    let mut frame = call.stage(sys::XLA_FFI_ExecutionStage_INSTANTIATE).build();
    frame.call(handler).unwrap();
    frame.set_stage(sys::XLA_FFI_ExecutionStage_EXECUTE);
    frame
}

/// `x: T[n], y: T[] -> z: T[n]`
pub unsafe extern "C" fn times<T: Copy + std::ops::Mul<Output = T>>(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        let array = |i: usize| (*call.buffers.add(i)).cast::<T>();
        for i in 0..*call.dims as usize {
            *array(2).add(i) = *array(0).add(i) * *array(1);
        }
    }
    0
}

pub fn times_op(name: &str) -> Arc<CustomOp> {
    let instances = vec![
        Instance::new(vec![DataType::F32], Code::C(times::<f32>)),
        Instance::new(vec![DataType::F64], Code::C(times::<f64>)),
    ];
    op(name, "x: T[n], y: T[] -> z: T[n]", instances, false)
}

pub fn product() -> Call {
    Call::new()
        .arg(&[2], &[1.0, 2.0])
        .arg(&[], &[3.0])
        .ret::<f64>(&[2])
}

/// Writes something that depends on all that it is given.
pub fn all_of_it(call: &mut BoundCall<'_>) -> xla_ffi::Result<()> {
    let mut sum = call.element() as u64;
    let mut add = |what: u64| sum = sum.wrapping_mul(31).wrapping_add(what);
    for at in 0..call.operands() {
        match call.operand(at) {
            None => add(1),
            Some(array) => {
                array.dims.iter().for_each(|&dim| add(dim as u64));
                array.bytes.iter().for_each(|&byte| add(byte.into()));
            }
        }
    }
    for at in 0..call.signature().attributes.len() {
        call.attribute(at)
            .bytes
            .iter()
            .for_each(|&byte| add(byte.into()));
    }
    call.dims().iter().for_each(|&dim| add(dim as u64));
    for at in 0..call.results() {
        for (place, bytes) in call.result(at).bytes.chunks_exact_mut(8).enumerate() {
            let number = (sum.wrapping_add((at * 100 + place) as u64) % 100_003) as f64;
            bytes.copy_from_slice(&number.to_ne_bytes());
        }
    }
    Ok(())
}
