//! What the host sees to itself where the plugin for the CPU is not the one inside this package.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;

use pjrt::{
    compile_options, order_nothing_by_default, Client, Code, ExecuteOptions, Program, ProgramFormat,
};
use xla_ffi::{raw, sys};

use crate::r::failure::{Failure, Outcome};

/// Whether a client is of such a plugin.
pub fn is_foreign_cpu(client: &Client, platform: &str) -> bool {
    platform == "cpu" && !client.plugin().is(pjrt_jaxlib::GetPjrtApi())
}

/// Refuses what such a plugin would do wrongly, or wait for without end.
pub fn check_program(code: &[u8], is_alone: bool) -> Outcome<()> {
    if is_in_order(code) {
        return Err(Failure::new(
            "UNIMPLEMENTED",
            "this CPU plugin does not keep calls in order (`side_effect = \"ordered\"`), of which the program may make several",
        )
        .hint("The plugin inside this package does: `install_pjrt(\"jaxlib\")`. Calls may also depend on one another, see `?hlo_token`."));
    }
    if !is_alone {
        return Err(Failure::new(
            "UNIMPLEMENTED",
            "this CPU plugin is not given programs over several devices: where one device waits for another without end, nobody would end it",
        )
        .hint("The plugin inside this package is: `install_pjrt(\"jaxlib\")`."));
    }
    Ok(())
}

/// Whether a program has several calls that are to come in the order of the program, or one in a loop.
fn is_in_order(code: &[u8]) -> bool {
    let text = std::str::from_utf8(code).unwrap_or_default();
    let calls = text.matches("xlaffi.ordered").count();
    calls > 1 || (calls == 1 && text.contains("stablehlo.while"))
}

/// What the compiler says as the plugin inside this package does: what it cannot read is a wrong argument.
pub fn compile_failure(error: pjrt::Error) -> Failure {
    let message = error.message();
    if message.contains("overflow in static extent product") {
        let message = format!("an array of the program does not fit into any memory: {message}");
        return Failure::new("RESOURCE_EXHAUSTED", message);
    }
    match error.code() {
        Code::UNKNOWN => Failure::new("INVALID_ARGUMENT", message),
        _ => error.into(),
    }
}

/// The names of calls that are for other platforms than the CPU.
static ELSEWHERE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The program as it is given to such a plugin.
pub fn prepared(program: &Program) -> Program {
    let text = match program.format() {
        ProgramFormat::Mlir => std::str::from_utf8(program.code()).ok(),
        ProgramFormat::Hlo => None,
    };
    match text.and_then(order_nothing_by_default) {
        Some(changed) => Program::new(changed, ProgramFormat::Mlir),
        None => program.clone(),
    }
}

/// Compiles a program. JAX exports one for several platforms as a program that takes their index and has a branch for
/// each; XLA wants a handler for the calls of all branches. Those that nobody has get one that fails when it is called.
pub fn compiled<T>(
    client: &Client,
    program: &Program,
    compile: impl Fn() -> pjrt::Result<T>,
) -> pjrt::Result<T> {
    const INDEX: &[u8] = b"_platform_index";
    let takes_index = || {
        let mut parts = program.code().windows(INDEX.len());
        parts.any(|part| part == INDEX)
    };
    loop {
        let error = match compile() {
            Err(error) if error.code() == Code::NOT_FOUND && takes_index() => error,
            done => return done,
        };
        let Some(name) = unanswered(error.message()) else {
            return Err(error);
        };
        let mut names = ELSEWHERE.lock().unwrap_or_else(PoisonError::into_inner);
        if !names.insert(name.to_owned()) {
            return Err(error);
        }
        let handler: sys::XLA_FFI_Handler = elsewhere;
        // SAFETY: a handler of this library, which is never unloaded.
        unsafe {
            client
                .plugin()
                .register_ffi_handler(name, "host", handler as *const _)?;
        }
    }
}

/// The target that XLA has no handler of, by its message.
fn unanswered(message: &str) -> Option<&str> {
    let rest = message.split_once("No FFI handler registered for ")?.1;
    rest.split_whitespace().next()
}

unsafe extern "C" fn elsewhere(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: XLA's frame, here and below.
    if unsafe { raw::answer_metadata(frame, 0) } {
        return std::ptr::null_mut();
    }
    let names = ELSEWHERE.lock().unwrap_or_else(PoisonError::into_inner);
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let text = format!(
        "no handler {} is registered for the CPU: the program is for several platforms, and its platform index chose \
         another one",
        names.join(" or ")
    );
    let error = xla_ffi::Error::new(xla_ffi::Code::NotFound, text);
    // SAFETY: as above.
    unsafe { raw::report(frame, &error) }
}

/// Whether programs run on the threads that launch them, as far as that was looked at.
static AT_ONCE: OnceLock<bool> = OnceLock::new();

/// Where the handler of the program below was called last.
static SEEN: Mutex<Option<ThreadId>> = Mutex::new(None);

/// The product keeps XLA from running the program at once for being small.
const PROBE: &str = "func.func @main() -> tensor<32x32xf32> {
  %0 = stablehlo.custom_call @xlaffi.launching_thread() {api_version = 4 : i32, has_side_effect = true} : () -> tensor<32x32xf32>
  %1 = stablehlo.dot %0, %0 : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}";

/// Looks whether programs run on the threads that launch them, once, before the first one that may need R.
pub fn look_at_threads(client: &Client) {
    AT_ONCE.get_or_init(|| runs_at_once(client).unwrap_or(false));
}

/// Refuses to start a program from an R function that a program waits for, where this one would wait for that one.
pub fn check_nested() -> Outcome<()> {
    if AT_ONCE.get() != Some(&false) {
        return Ok(());
    }
    Err(Failure::new(
        "FAILED_PRECONDITION",
        "this CPU plugin runs one program after the other: one that is started by an R function that a program calls would \
         wait for that program without end",
    )
    .hint(
        "`install_pjrt(\"jaxlib\")` or `install_pjrt(\"plugin\")` brings a plugin that does not, the latter without \
         `asynchronous = TRUE` in `pjrt_client()`.",
    ))
}

fn runs_at_once(client: &Client) -> pjrt::Result<bool> {
    let handler: sys::XLA_FFI_Handler = note_thread;
    // SAFETY: a handler of this library, which is never unloaded.
    unsafe {
        let name = "xlaffi.launching_thread";
        client
            .plugin()
            .register_ffi_handler(name, "host", handler as *const _)?;
    }
    let program = Program::new(PROBE, ProgramFormat::Mlir);
    let executable = client.compile(&program, &compile_options(None))?;
    let options = ExecuteOptions::default();
    for result in executable.execute(&[], &options)? {
        result.wait()?;
    }
    let seen = *SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(seen == Some(std::thread::current().id()))
}

unsafe extern "C" fn note_thread(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: XLA's frame.
    if !unsafe { raw::answer_metadata(frame, 0) } {
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = Some(std::thread::current().id());
    }
    std::ptr::null_mut()
}
