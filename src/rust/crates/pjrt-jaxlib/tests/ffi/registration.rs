//! Handlers are registered and called.

use super::shared::*;
use crate::call;
use crate::common::*;
use crate::handlers::*;
use pjrt_api::*;
use xla_ffi::{handler, Host};

#[test]
fn a_handler_is_called_and_its_error_comes_back() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_look_small", "host", Some(handler::<Look, Host>)).unwrap();
    let code = |failure: &str| {
        format!(
            "func.func @main(%x: tensor<2xi16>) -> tensor<2xi16> {{
               stablehlo.custom_call @test_look_small(%x) {{
                 backend_config = {{failure = \"{failure}\"}}, has_side_effect = true, api_version = 4 : i32
               }} : (tensor<2xi16>) -> ()
               return %x : tensor<2xi16>
             }}"
        )
    };
    let x = upload(client, PJRT_Buffer_Type::S16, &[2], &[258i16, 3]);
    let program = compile(client, &code(""));
    LOOKS.lock().unwrap().clear();
    let out = execute(program, &[x]).unwrap()[0];
    assert_eq!(*LOOKS.lock().unwrap(), [[2, 1, 3, 0]]);
    destroy(out);
    destroy_executable(program);
    let program = compile(client, &code("no luck: today"));
    let failure = execute(program, &[x]).unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::INTERNAL);
    assert!(
        failure.message.contains("no luck: today"),
        "{}",
        failure.message
    );
    // The client is as good as before.
    let failure = execute(program, &[x]).unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::INTERNAL);
    destroy_executable(program);
    destroy(x);
}

#[test]
fn a_program_without_results_reports_through_its_event() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_look_only", "Host", Some(handler::<Look, Host>)).unwrap();
    let code = |failure: &str| {
        format!(
            "func.func @main(%x: tensor<2xi8>) {{
               stablehlo.custom_call @test_look_only(%x) {{
                 backend_config = {{failure = \"{failure}\"}}, has_side_effect = true, api_version = 4 : i32
               }} : (tensor<2xi8>) -> ()
               return
             }}"
        )
    };
    let x = upload(client, PJRT_Buffer_Type::S8, &[2], &[5i8, 6]);
    let program = compile(client, &code(""));
    LOOKS.lock().unwrap().clear();
    assert_eq!(
        execute(program, &[x]).unwrap(),
        Vec::<*mut PJRT_Buffer>::new()
    );
    assert_eq!(*LOOKS.lock().unwrap(), [[5, 6]]);
    destroy_executable(program);
    let program = compile(client, &code("not this one"));
    let failure = execute(program, &[x]).unwrap_err();
    assert!(
        failure.message.contains("not this one"),
        "{}",
        failure.message
    );
    destroy_executable(program);
    destroy(x);
}

#[test]
fn bad_registrations_are_refused() {
    find_python();
    let look = Some(handler::<Look, Host> as xla_ffi::HandlerFn);
    let gate = Some(handler::<GateOp, Host> as xla_ffi::HandlerFn);
    register("test_taken", "cpu", look).unwrap();
    let failure = register("test_taken", "host", gate).unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::ALREADY_EXISTS);
    assert!(
        failure.message.contains("another handler `test_taken`"),
        "{}",
        failure.message
    );
    // The same one again is no harm.
    register("test_taken", "host", look).unwrap();
    let fails = |target: &str, platform: &str, handler, text: &str| {
        let failure = register(target, platform, handler).expect_err(text);
        assert_eq!(failure.code, PJRT_Error_Code::INVALID_ARGUMENT);
        assert!(failure.message.contains(text), "{}", failure.message);
    };
    fails("", "host", look, "`target_name` is empty");
    fails(
        "t",
        "cuda",
        look,
        "`t` is for platform `cuda`, this plugin's is `host`",
    );
    fails("t", "host", None, "the handler of `t` is NULL");
}

#[test]
fn events_of_the_caller() {
    let create = || {
        call!(PJRT_Event_Create, PJRT_Event_Create_Args {})
            .unwrap()
            .event
    };
    let set = |event, error_code, text: &str| {
        call!(
            PJRT_Event_Set,
            PJRT_Event_Set_Args {
                event,
                error_code,
                error_message: text.as_ptr().cast(),
                error_message_size: text.len(),
            }
        )
        .map(drop)
    };
    let event = create();
    assert!(!is_ready(event));
    set(event, PJRT_Error_Code::OK, "").unwrap();
    wait(event).unwrap();
    assert!(set(event, PJRT_Error_Code::OK, "")
        .unwrap_err()
        .message
        .contains("has been set before"));
    destroy_event(event);
    let event = create();
    let waiting = event as usize;
    let waiter = std::thread::spawn(move || wait(waiting as *mut PJRT_Event));
    set(event, PJRT_Error_Code::DATA_LOSS, "gone").unwrap();
    let failure = waiter.join().unwrap().unwrap_err();
    assert_eq!(
        failure,
        Failure {
            code: PJRT_Error_Code::DATA_LOSS,
            message: "gone".into()
        }
    );
    destroy_event(event);
}
