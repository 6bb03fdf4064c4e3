//! The way in and out of a handler: metadata, stages, sizes, panics, errors.

use std::mem::{offset_of, size_of};

use xla_ffi::testing::{metadata, Call, API_WITHOUT_SERVICES};
use xla_ffi::{
    handler, io, sys, Attr, Code, Cx, Error, Host, Kernel, Op, Platform, Result, Ret, Traits,
    Untyped,
};

io! {
    struct FailIo<'f> { ran: Ret<'f, u8>, how: Attr<&'f str> }
}

struct Fail;

impl Op for Fail {
    const TARGET: &'static str = "fail";
    const TRAITS: Traits = Traits::COMMAND_BUFFER_COMPATIBLE;
    type Dtypes = Untyped;
}

struct Silent;

impl Drop for Silent {
    fn drop(&mut self) {
        panic!("again, while the first payload is dropped");
    }
}

impl<P: Platform> Kernel<P> for Fail {
    type Io<'f> = FailIo<'f>;

    fn run(mut io: FailIo<'_>, cx: &Cx<'_, P>) -> Result<()> {
        io.ran.as_mut_slice()?[0] = 1;
        match *io.how {
            "panic" => panic!("no {} here", 13),
            "silent panic" => std::panic::panic_any(Silent),
            "error" => Err(Error::new(Code::DataLoss, "a\0b")),
            "services" => {
                assert_eq!(cx.num_threads(), 1);
                let missing = cx.stream().expect_err("an old XLA");
                assert_eq!(missing.code(), Code::Unimplemented);
                Err(missing)
            }
            _ => Ok(()),
        }
    }
}

fn call(how: &str) -> Call {
    Call::new().ret::<u8>(&[1]).attr("how", how)
}

#[test]
fn panics_and_errors_reach_xla() {
    let failed = |how| {
        let failure = call(how).run(handler::<Fail, Host>).expect_err(how);
        (failure.code, failure.message)
    };
    assert_eq!(
        failed("panic"),
        (Code::Internal, "fail: panicked: no 13 here".to_owned())
    );
    assert_eq!(
        failed("silent panic"),
        (Code::Internal, "fail: panicked: (no message)".to_owned())
    );
    assert_eq!(
        failed("error"),
        (Code::DataLoss, "fail: a\u{fffd}b".to_owned())
    );
    call("fine")
        .run(handler::<Fail, Host>)
        .expect("nothing wrong");
}

#[test]
fn only_the_execute_stage_runs_the_body() {
    use sys::*;
    let stages = [
        (XLA_FFI_ExecutionStage_INSTANTIATE, 0),
        (XLA_FFI_ExecutionStage_PREPARE, 0),
        (XLA_FFI_ExecutionStage_INITIALIZE, 0),
        (XLA_FFI_ExecutionStage_EXECUTE, 1),
    ];
    for (stage, ran) in stages {
        let mut frame = call("fine").stage(stage).build();
        frame
            .call(handler::<Fail, Host>)
            .expect("every stage is accepted");
        assert_eq!(frame.ret::<u8>(0), [ran], "stage {stage}");
    }
}

#[test]
fn metadata_is_answered_without_looking_at_operands() {
    let answer = metadata(handler::<Fail, Host>).expect("an answer");
    assert_eq!(answer.version, xla_ffi::REPORTED_VERSION);
    assert_eq!(answer.traits, Traits::COMMAND_BUFFER_COMPATIBLE);
}

#[test]
fn metadata_of_an_older_xla_ends_earlier() {
    // Before `state_type_id` was added, and behind an extension that nobody knows yet.
    let mut answer = sys::XLA_FFI_Metadata {
        struct_size: offset_of!(sys::XLA_FFI_Metadata, traits) + size_of::<u32>(),
        api_version: sys::XLA_FFI_Api_Version {
            struct_size: 0,
            extension_start: std::ptr::null_mut(),
            major_version: 7,
            minor_version: 7,
        },
        traits: 0,
        state_type_id: sys::XLA_FFI_TypeId { type_id: 99 },
    };
    let mut query = sys::XLA_FFI_Metadata_Extension {
        extension_base: sys::XLA_FFI_Extension_Base {
            struct_size: size_of::<sys::XLA_FFI_Metadata_Extension>(),
            type_: sys::XLA_FFI_Extension_Metadata,
            next: std::ptr::null_mut(),
        },
        metadata: &mut answer,
    };
    let mut unknown = sys::XLA_FFI_Extension_Base {
        struct_size: size_of::<sys::XLA_FFI_Extension_Base>(),
        type_: 1000,
        next: std::ptr::addr_of_mut!(query).cast(),
    };
    let mut frame = Call::new().build();
    frame.as_raw().extension_start = &mut unknown;
    frame
        .call(handler::<Fail, Host>)
        .expect("no operands needed");
    assert_eq!(
        answer.api_version.major_version,
        xla_ffi::REPORTED_VERSION.0
    );
    assert_eq!(
        answer.state_type_id.type_id, 99,
        "beyond what XLA said it has"
    );
}

#[test]
fn an_unknown_extension_does_not_stop_a_call() {
    let mut unknown = sys::XLA_FFI_Extension_Base {
        struct_size: size_of::<sys::XLA_FFI_Extension_Base>(),
        type_: 1000,
        next: std::ptr::null_mut(),
    };
    let mut frame = call("fine").build();
    frame.as_raw().extension_start = &mut unknown;
    frame.call(handler::<Fail, Host>).expect("a call");
    assert_eq!(frame.ret::<u8>(0), [1]);
}

#[test]
fn frames_and_tables_of_other_versions() {
    let full = size_of::<sys::XLA_FFI_CallFrame>();
    call("fine")
        .frame_size(full + 64)
        .run(handler::<Fail, Host>)
        .expect("a newer XLA's frame");
    let without_future = offset_of!(sys::XLA_FFI_CallFrame, future);
    call("fine")
        .frame_size(without_future)
        .run(handler::<Fail, Host>)
        .expect("an older one's");
    let failure = call("fine")
        .frame_size(40)
        .run(handler::<Fail, Host>)
        .expect_err("cut off");
    let text = format!("fail: expected a call frame of {without_future} bytes or more, got 40");
    assert_eq!(
        (failure.code, failure.message),
        (Code::InvalidArgument, text)
    );

    let old = call("services").api_size(API_WITHOUT_SERVICES);
    let failure = old.run(handler::<Fail, Host>).expect_err("no streams");
    assert_eq!(failure.message, "fail: this XLA has no XLA_FFI_Stream_Get");
}
