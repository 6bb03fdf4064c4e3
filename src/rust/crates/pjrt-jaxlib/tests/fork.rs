//! A child that is forked from a process in which the plugin runs.
#![cfg(unix)]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every call of the C library is one"
)]
mod common;
use common::*;
use pjrt_api::*;

/// Runs `body` in a forked child, which ends as `end` ends it: whether it ended, and well. A child
/// that hangs is ended by a signal.
fn in_child(body: impl FnOnce(), end: unsafe extern "C" fn(libc::c_int) -> !) -> bool {
    unsafe {
        let pid = libc::fork();
        assert!(pid >= 0, "cannot fork");
        if pid == 0 {
            libc::alarm(20);
            let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_ok();
            end(i32::from(!good));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(pid, &mut status, 0), pid);
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}

unsafe extern "C" fn at_once(status: libc::c_int) -> ! {
    unsafe { libc::_exit(status) }
}

unsafe extern "C" fn with_handlers(status: libc::c_int) -> ! {
    unsafe { libc::exit(status) }
}

fn refused<T>(answer: Answer<T>) {
    let failure = answer.map(drop).expect_err("a child is refused");
    assert_eq!(failure.code, PJRT_Error_Code::FAILED_PRECONDITION);
    assert!(failure.message.contains("forked"), "{}", failure.message);
    assert!(
        failure.message.contains("parallel::makeCluster()"),
        "{}",
        failure.message
    );
}

#[test]
fn a_forked_child_is_refused_and_ends_and_the_parent_goes_on() {
    let client = client();
    let program = compile(client, ADD);
    let x = f32s(client, &[2, 3], &[1.; 6]);
    let out = execute(program, &[x, x]).unwrap()[0];
    let ready = |buffer| {
        call!(
            PJRT_Buffer_ReadyEvent,
            PJRT_Buffer_ReadyEvent_Args { buffer }
        )
        .map(|a| a.event)
    };
    let event = ready(out).unwrap();
    // Python's lock is held while the child is made: what waits for it there waits for ever.
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let busy = client as usize;
        let stop = &stop;
        scope.spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                destroy_executable(compile(busy as *mut PJRT_Client, ADD));
            }
        });
        for end in [
            at_once as unsafe extern "C" fn(libc::c_int) -> !,
            with_handlers,
        ] {
            let ended = in_child(
                || {
                    refused(compile_with(client, ADD.as_bytes(), "mlir", b""));
                    refused(new_client(&[]));
                    refused(call!(
                        PJRT_Plugin_Attributes,
                        PJRT_Plugin_Attributes_Args {}
                    ));
                    refused(ready(out));
                    refused(wait(event));
                    refused(address(out));
                    destroy_event(event);
                    destroy(out);
                    destroy(x);
                    destroy_executable(program);
                    pjrt_jaxlib::python::keep_lock();
                    pjrt_jaxlib::python::blocking(|| ());
                },
                end,
            );
            assert!(ended);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(read::<f32>(out).unwrap(), [2.; 6]);
    destroy_event(event);
    [x, out].into_iter().for_each(destroy);
    destroy_executable(program);
}
