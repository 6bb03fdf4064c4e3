//! What programs keep: the op that they mean, and states.

use super::common::*;
use custom_ops::abi::Call as Body;
use custom_ops::bind::Sets;
use custom_ops::signature::Signature;
use custom_ops::{register, Body as Code, CustomOp, Instance, Options};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Arc;
use xla_ffi::registry::Registry;
use xla_ffi::sys;
use xla_ffi::testing::Call;

unsafe extern "C" fn one(call: *const Body) -> i32 {
    unsafe { (*(*call).buffers).cast::<f64>().write(1.0) };
    0
}

unsafe extern "C" fn two(call: *const Body) -> i32 {
    unsafe { (*(*call).buffers).cast::<f64>().write(2.0) };
    0
}

#[test]
fn programs_keep_the_op_that_they_mean() {
    let make = |body: C| op_of("which", "-> y: f64[]", &[(&[], body)], Options::default());
    let first = make(one);
    let handler = handler(&first);
    let digest = first.digest();
    let keep = |digest: i64| {
        let mut frame = Call::new()
            .ret::<f64>(&[])
            .attr("xlaffi.op", digest)
            .stage(sys::XLA_FFI_ExecutionStage_INSTANTIATE)
            .build();
        let kept = frame.call(handler);
        frame.set_stage(sys::XLA_FFI_ExecutionStage_EXECUTE);
        kept.map(|()| frame)
    };
    let mut program = keep(digest).unwrap();
    let second = make(two);
    register(&second, None).unwrap();
    assert_ne!(first.digest(), second.digest());
    program.call(handler).unwrap();
    assert_eq!(program.ret::<f64>(0), [1.0], "compiled before");
    // A name without a digest means what is there now; one that was not kept finds the first op for
    // as long as somebody has it.
    let mut now = Call::new().ret::<f64>(&[]).build();
    now.call(handler).unwrap();
    assert_eq!(now.ret::<f64>(0), [2.0]);
    let mut not_kept = Call::new()
        .ret::<f64>(&[])
        .attr("xlaffi.op", digest)
        .build();
    not_kept.call(handler).unwrap();
    assert_eq!(not_kept.ret::<f64>(0), [1.0]);
    let watch = Arc::downgrade(&first);
    drop(first);
    program.call(handler).unwrap();
    assert_eq!(program.ret::<f64>(0), [1.0], "the program keeps it");
    drop(program);
    assert!(watch.upgrade().is_none(), "it goes with the program");
    let text = failure(&mut not_kept, handler);
    assert_eq!(
        text,
        "FAILED_PRECONDITION: which: the program was written for another definition of `which`, \
         which is not there any more"
    );
    expect_part(
        &keep(digest).unwrap_err().to_string(),
        "another definition of `which`",
    );
    drop(second);
    now.call(handler).unwrap();
    assert!(Registry::global().unregister("which", "host"));
    assert!(custom_ops::registered("which").is_none());
    expect_part(
        &failure(&mut now, handler),
        "`which` (platform host) was unregistered",
    );
}

#[test]
fn of_equal_definitions_each_one_that_lives_is_found() {
    let make = || {
        let code = Some("the same".to_owned());
        let options = Options {
            code,
            ..Options::default()
        };
        op_of("equal", "-> y: f64[]", &[(&[], one)], options)
    };
    let (first, second) = (make(), make());
    assert_eq!(first.digest(), second.digest());
    register(&first, None).unwrap();
    register(&second, None).unwrap();
    // The name goes to another definition, so that only the digest leads to these.
    let other = op_of("equal", "-> y: f64[]", &[(&[], two)], Options::default());
    let handler = handler(&other);
    let mut call = Call::new()
        .ret::<f64>(&[])
        .attr("xlaffi.op", first.digest())
        .build();
    drop(second);
    call.call(handler).unwrap();
    assert_eq!(call.ret::<f64>(0), [1.0]);
    drop(first);
    expect_part(&failure(&mut call, handler), "which is not there any more");
}

#[test]
fn redefining_leaves_nothing_behind() {
    let mut watched = Vec::new();
    for _ in 0..if cfg!(miri) { 10 } else { 300 } {
        let op = op_of("again", "-> y: f64[]", &[(&[], one)], Options::default());
        register(&op, None).unwrap();
        watched.push(Arc::downgrade(&op));
    }
    let alive = watched.iter().filter(|op| op.strong_count() > 0).count();
    assert_eq!(alive, 1);
}

static STATES: AtomicI64 = AtomicI64::new(0);

unsafe extern "C" fn init(call: *const Body, state: *mut *mut std::ffi::c_void) -> i32 {
    unsafe {
        let call = &*call;
        let k = *(*call.attributes).data.cast::<f64>();
        if k < 0.0 {
            return 3;
        }
        assert_eq!(*call.dims, -1);
        *state = Box::into_raw(Box::new(k * 2.0)).cast();
    }
    STATES.fetch_add(1, Ordering::SeqCst);
    0
}

unsafe extern "C" fn cleanup(state: *mut std::ffi::c_void) {
    drop(unsafe { Box::from_raw(state.cast::<f64>()) });
    STATES.fetch_sub(1, Ordering::SeqCst);
}

unsafe extern "C" fn stateful(call: *const Body) -> i32 {
    unsafe {
        let call = &*call;
        *(*call.buffers.add(1)).cast::<f64>() = *call.state.cast::<f64>();
    }
    0
}

#[test]
fn programs_have_states() {
    let signature = Signature::parse("x: f64[n]; k: f64 -> y: f64[]").unwrap();
    let instance = Instance {
        init: Some(init),
        cleanup: Some(cleanup),
        ..Instance::new(Vec::new(), Code::C(stateful))
    };
    let sets = Sets::new(&signature, &[]).unwrap();
    // SAFETY: functions of this file.
    let op = unsafe {
        CustomOp::new(
            "stateful",
            signature,
            sets,
            vec![instance],
            Options::default(),
        )
    };
    let op = op.unwrap();
    let handler = handler(&op);
    let call = |k: f64| Call::new().arg(&[1], &[0.0]).ret::<f64>(&[]).attr("k", k);
    let mut program = call(1.0)
        .stage(sys::XLA_FFI_ExecutionStage_INSTANTIATE)
        .build();
    program.call(handler).unwrap();
    assert_eq!(STATES.load(Ordering::SeqCst), 1);
    program.set_stage(sys::XLA_FFI_ExecutionStage_EXECUTE);
    for _ in 0..3 {
        program.call(handler).unwrap();
        assert_eq!(program.ret::<f64>(0), [2.0]);
    }
    drop(program);
    assert_eq!(STATES.load(Ordering::SeqCst), 0);
    // Without the stage: one for each set of attributes, until the op goes.
    for k in [1.0, 2.0, 1.0] {
        let mut frame = call(k).build();
        frame.call(handler).unwrap();
        assert_eq!(frame.ret::<f64>(0), [2.0 * k]);
    }
    assert_eq!(STATES.load(Ordering::SeqCst), 2);
    let text = failure(&mut call(-1.0).build(), handler);
    assert_eq!(
        text,
        "INVALID_ARGUMENT: stateful: the body failed with code 3"
    );
    drop(op);
    assert!(Registry::global().unregister("stateful", "host"));
    assert_eq!(STATES.load(Ordering::SeqCst), 0);
}
