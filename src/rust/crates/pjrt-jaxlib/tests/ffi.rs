//! Registration of XLA FFI handlers, and what they do in programs.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every look at C memory is one"
)]
mod common;
mod handlers;
use common::*;
use handlers::*;
use pjrt_api::*;
use std::sync::Mutex;
use xla_ffi::{handler, Host};

/// The gate and the looks are shared by all tests of this file.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

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
fn execution_is_asynchronous_and_errors_come_with_the_event() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    let x = f32s(client, &[256, 256], &vec![1.; 256 * 256]);
    for failure in ["", "the gate fell"] {
        GATE.set(false);
        let program = compile(client, &gated(failure));
        let (outs, event) = execute_with(program, &[x], How::default()).unwrap();
        let ready = call!(
            PJRT_Buffer_ReadyEvent,
            PJRT_Buffer_ReadyEvent_Args { buffer: outs[0] }
        )
        .unwrap()
        .event;
        assert!(!is_ready(event) && !is_ready(ready), "the gate is closed");
        let early = call!(PJRT_Event_Error, PJRT_Event_Error_Args { event })
            .map(drop)
            .unwrap_err();
        assert_eq!(early.message, "PJRT_Event_Error: the event is not ready");
        // Asked for before it is there: a read, a callback on each, and a deletion.
        let (calls, received) = std::sync::mpsc::channel::<Answer<()>>();
        let calls = Box::into_raw(Box::new(calls));
        unsafe extern "C" fn called(error: *mut PJRT_Error, to: *mut std::ffi::c_void) {
            let to = unsafe { &*to.cast::<std::sync::mpsc::Sender<Answer<()>>>() };
            to.send(answer(error)).unwrap();
        }
        let on_ready = |event| {
            call!(
                PJRT_Event_OnReady,
                PJRT_Event_OnReady_Args {
                    event,
                    callback: Some(called),
                    user_arg: calls.cast()
                }
            )
            .unwrap();
        };
        let mut host = vec![0f32; 256 * 256];
        let reading = call!(
            PJRT_Buffer_ToHostBuffer,
            PJRT_Buffer_ToHostBuffer_Args {
                src: outs[0],
                dst: host.as_mut_ptr().cast(),
                dst_size: 4 * 256 * 256,
            }
        )
        .unwrap()
        .event;
        [event, ready, reading].into_iter().for_each(on_ready);
        assert!(!is_ready(reading));
        assert!(received.try_recv().is_err());
        destroy(outs[0]);
        destroy_executable(program);
        GATE.set(true);
        let outcomes = [event, ready, reading].map(wait);
        for outcome in outcomes
            .into_iter()
            .chain((0..3).map(|_| received.recv().unwrap()))
        {
            match outcome {
                Ok(()) => assert_eq!(failure, ""),
                Err(e) => {
                    assert_eq!(e.code, PJRT_Error_Code::INVALID_ARGUMENT, "{}", e.message);
                    assert!(
                        !failure.is_empty() && e.message.contains(failure),
                        "{}",
                        e.message
                    );
                }
            }
        }
        assert!(is_ready(event));
        let told = call!(PJRT_Event_Error, PJRT_Event_Error_Args { event }).map(drop);
        assert_eq!(told.is_err(), !failure.is_empty());
        // Late callbacks come at once.
        on_ready(event);
        assert_eq!(received.try_recv().unwrap().is_err(), !failure.is_empty());
        assert_eq!(host[0], if failure.is_empty() { 256. } else { 0. });
        [event, ready, reading].into_iter().for_each(destroy_event);
        drop(unsafe { Box::from_raw(calls) });
    }
    destroy(x);
}

/// Threads of this process that wait for arrays.
#[cfg(target_os = "linux")]
fn waiting_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .filter(|name| name.starts_with("xlaffi-on-ready"))
        .count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_waits_for_one_array_are_one_thread() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn called(error: *mut PJRT_Error, _: *mut std::ffi::c_void) {
        answer(error).unwrap();
        CALLS.fetch_add(1, Ordering::SeqCst);
    }
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    let x = f32s(client, &[256, 256], &vec![1.; 256 * 256]);
    GATE.set(false);
    let program = compile(client, &gated(""));
    let (outs, done) = execute_with(program, &[x], How::default()).unwrap();
    // As a host does that waits in short turns: an event a turn.
    for _ in 0..100 {
        let event = call!(
            PJRT_Buffer_ReadyEvent,
            PJRT_Buffer_ReadyEvent_Args { buffer: outs[0] }
        )
        .unwrap()
        .event;
        assert!(!is_ready(event), "the gate is closed");
        call!(
            PJRT_Event_OnReady,
            PJRT_Event_OnReady_Args {
                event,
                callback: Some(called)
            }
        )
        .unwrap();
        destroy_event(event);
    }
    // A thread has its name a moment after it has begun.
    while waiting_threads() == 0 {
        std::thread::yield_now();
    }
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(waiting_threads(), 1);
    assert_eq!(CALLS.load(Ordering::SeqCst), 0);
    GATE.set(true);
    wait(done).unwrap();
    while waiting_threads() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(CALLS.load(Ordering::SeqCst), 100);
    destroy_event(done);
    [x, outs[0]].into_iter().for_each(destroy);
    destroy_executable(program);
}

/// A program of calls whose operands come from products of all sizes, so that nothing but the
/// order of the program says which is first. Each call `n` is given the number `n`.
fn heavy(calls: &[(&str, &str)]) -> String {
    let mut text =
        String::from("func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {\n");
    for (n, (target, marks)) in calls.iter().enumerate() {
        let side = [256, 8, 128, 16, 64][n % 5];
        text += &format!(
            "%a{n} = stablehlo.slice %x [0:{side}, 0:{side}] : (tensor<256x256xf32>) -> tensor<{side}x{side}xf32>
             %b{n} = stablehlo.dot_general %a{n}, %a{n}, contracting_dims = [1] x [0]
               : (tensor<{side}x{side}xf32>, tensor<{side}x{side}xf32>) -> tensor<{side}x{side}xf32>
             %c{n} = stablehlo.slice %b{n} [0:1, 0:1] : (tensor<{side}x{side}xf32>) -> tensor<1x1xf32>
             %d{n} = stablehlo.constant dense<{n}.0> : tensor<1x1xf32>
             %e{n} = stablehlo.constant dense<0.0> : tensor<1x1xf32>
             %f{n} = stablehlo.multiply %c{n}, %e{n} : tensor<1x1xf32>
             %g{n} = stablehlo.add %d{n}, %f{n} : tensor<1x1xf32>
             stablehlo.custom_call @{target}(%g{n}) {{has_side_effect = true, api_version = 4 : i32{marks}}}
               : (tensor<1x1xf32>) -> ()\n"
        );
    }
    text + "return %x : tensor<256x256xf32>\n}"
}

const ORDERED: &str = ", mhlo.frontend_attributes = {xlaffi.ordered = \"true\"}";

#[test]
fn prints_of_any_handler_and_marked_calls_keep_their_order() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    // A handler of somebody else, which takes one operand and knows nothing of tokens.
    register("print_tensor", "host", Some(handler::<Look, Host>)).unwrap();
    register("test_ordered", "host", Some(handler::<Look, Host>)).unwrap();
    let x = f32s(client, &[256, 256], &vec![1.; 256 * 256]);
    let calls: Vec<(&str, &str)> = (0..20)
        .map(|n| match n % 3 {
            0 => ("print_tensor", ""),
            1 => ("test_ordered", ORDERED),
            _ => (
                "test_ordered",
                ", backend_config = {failure = \"\"}, mhlo.frontend_attributes = {xlaffi.ordered = \"true\"}",
            ),
        })
        .collect();
    let program = compile(client, &heavy(&calls));
    let expected: Vec<Vec<u8>> = (0..20).map(|n| (n as f32).to_ne_bytes().to_vec()).collect();
    for _ in 0..20 {
        LOOKS.lock().unwrap().clear();
        let outs = execute(program, &[x]).unwrap();
        assert_eq!(*LOOKS.lock().unwrap(), expected);
        outs.into_iter().for_each(destroy);
    }
    destroy_executable(program);
    destroy(x);
}

#[test]
fn ordered_calls_have_results_layouts_and_aliases() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    GATE.set(true);
    let call = |operand: &str, result: &str| {
        format!(
            "{result} = stablehlo.custom_call @test_gate({operand}) {{
               api_version = 4 : i32, has_side_effect = true,
               operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
               result_layouts = [dense<[0, 1]> : tensor<2xindex>],
               output_operand_aliases = [#stablehlo.output_operand_alias<
                 output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>],
               mhlo.frontend_attributes = {{xlaffi.ordered = \"true\"}}
             }} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        )
    };
    let program = compile(
        client,
        &format!(
            "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {{\n{}{}{}
               return %c : tensor<2x3xf32>\n}}",
            call("%x", "%a"),
            call("%a", "%b"),
            call("%b", "%c")
        ),
    );
    let data = [1., 2., 3., 4., 5., 6.];
    let x = f32s(client, &[2, 3], &data);
    let out = execute(program, &[x]).unwrap()[0];
    assert_eq!(read::<f32>(out).unwrap(), data);
    assert_eq!(read::<f32>(x).unwrap(), data);
    [x, out].into_iter().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn layouts_of_arrays_without_elements_do_no_harm() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    GATE.set(true);
    // XLA divides by the number of elements when it brings the operand into this layout.
    let program = compile(
        client,
        "func.func @main(%x: tensor<64x0x0xf32>) -> tensor<64x0x0xf32> {
           %0 = stablehlo.custom_call @test_gate(%x) {
             api_version = 4 : i32,
             operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
             result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]
           } : (tensor<64x0x0xf32>) -> tensor<64x0x0xf32>
           return %0 : tensor<64x0x0xf32>
         }",
    );
    let x = f32s(client, &[64, 0, 0], &[]);
    let out = execute(program, &[x]).unwrap()[0];
    assert_eq!(dims(out), [64, 0, 0]);
    [x, out].into_iter().for_each(destroy);
    destroy_executable(program);
}

#[test]
fn a_branch_for_another_platform_fails_only_where_it_is_taken() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    GATE.set(true);
    let call = |target: &str| {
        format!(
            "%r = stablehlo.custom_call @{target}(%x) {{
               mhlo.backend_config = {{failure = \"\"}}
             }} : (tensor<2xf32>) -> tensor<2xf32>
             stablehlo.return %r : tensor<2xf32>"
        )
    };
    let text = |index: &str, other: &str| {
        format!(
            "func.func @main(%i: tensor<i32> {index}, %x: tensor<2xf32>) -> tensor<2xf32> {{
               %0 = \"stablehlo.case\"(%i) ({{ {} }}, {{ {} }}) : (tensor<i32>) -> tensor<2xf32>
               return %0 : tensor<2xf32>
             }}",
            call("test_gate"),
            call(other)
        )
    };
    let several = text(
        "{jax.global_constant = \"_platform_index\"}",
        "test_of_cuda",
    );
    let program = compile(client, &several);
    let x = f32s(client, &[2], &[1., 2.]);
    let index = |i: i32| upload(client, PJRT_Buffer_Type::S32, &[], &[i]);
    let (here, there) = (index(0), index(1));
    let out = execute(program, &[here, x]).unwrap()[0];
    assert_eq!(read::<f32>(out).unwrap(), [1., 2.]);
    let failure = execute(program, &[there, x]).unwrap_err();
    assert_eq!(failure.code, PJRT_Error_Code::NOT_FOUND);
    assert!(
        failure
            .message
            .contains("no handler `test_of_cuda` is registered for the CPU"),
        "{}",
        failure.message
    );
    destroy_executable(program);
    // In any other program a name that nobody answers is an error at once.
    let one = text("", "test_of_cuda");
    let failure = compile_with(client, one.as_bytes(), "mlir", b"").unwrap_err();
    assert!(
        failure.message.contains("test_of_cuda"),
        "{}",
        failure.message
    );
    [x, here, there, out].into_iter().for_each(destroy);
}

#[test]
fn a_handler_that_takes_its_time_does_not_hold_others_up() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    GATE.set(false);
    // Small enough for XLA to run it on the caller's thread.
    let (c, started) = (
        client as usize,
        std::sync::Arc::new(std::sync::Barrier::new(2)),
    );
    let ready = std::sync::Arc::clone(&started);
    let caller = std::thread::spawn(move || {
        let client = c as *mut PJRT_Client;
        let program = compile(
            client,
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
               %0 = stablehlo.custom_call @test_gate(%x) {api_version = 4 : i32} : (tensor<2xf32>) -> tensor<2xf32>
               return %0 : tensor<2xf32>
             }",
        );
        let x = f32s(client, &[2], &[1., 2.]);
        ready.wait();
        let out = execute(program, &[x]).unwrap()[0];
        assert_eq!(read::<f32>(out).unwrap(), [1., 2.]);
        [x, out].into_iter().for_each(destroy);
        destroy_executable(program);
    });
    started.wait();
    // Without this thread the gate would stay shut: it must get its own work done meanwhile.
    let add = compile(client, ADD);
    for _ in 0..100 {
        let x = f32s(client, &[2, 3], &[1.; 6]);
        let out = execute(add, &[x, x]).unwrap()[0];
        [x, out].into_iter().for_each(destroy);
    }
    destroy_executable(add);
    GATE.set(true);
    caller.join().unwrap();
}

#[test]
fn an_unready_argument_is_waited_for_and_its_error_passed_on() {
    let client = client();
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    register("test_gate", "host", Some(handler::<GateOp, Host>)).unwrap();
    let x = f32s(client, &[256, 256], &vec![1.; 256 * 256]);
    GATE.set(false);
    let program = compile(client, &gated("broken early"));
    let (first, event) = execute_with(program, &[x], How::default()).unwrap();
    destroy_event(event);
    let (second, event) = execute_with(program, &[first[0]], How::default()).unwrap();
    assert!(!is_ready(event));
    GATE.set(true);
    assert!(wait(event).unwrap_err().message.contains("broken early"));
    destroy_event(event);
    let failure = address(second[0]).map(drop).unwrap_err();
    assert!(
        failure.message.contains("broken early"),
        "{}",
        failure.message
    );
    [x, first[0], second[0]].into_iter().for_each(destroy);
    destroy_executable(program);
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
