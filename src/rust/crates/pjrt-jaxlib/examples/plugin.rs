//! The plugin as a shared library, and a program run through it for callers that only know C.
#[path = "../tests/common/mod.rs"]
mod common;
use common::*;

pub use pjrt_jaxlib::GetPjrtApi;

/// For callers that run Python themselves.
#[no_mangle]
pub extern "C" fn keep_lock() {
    pjrt_jaxlib::python::keep_lock();
}

/// Adds two arrays; 0 where the sum is right.
#[no_mangle]
pub extern "C" fn run_add() -> i32 {
    let run = || -> Answer<Vec<f32>> {
        let client = new_client(&[])?;
        let program = compile_with(client, ADD.as_bytes(), "mlir", b"")?;
        let x = f32s(client, &[2, 3], &[1.; 6]);
        let out = execute(program, &[x, x])?[0];
        let sum = read(out);
        // Without results there is only the event, which another thread sets.
        let silent = "func.func @main(%x: tensor<2x3xf32>) { return }";
        let silent = compile_with(client, silent.as_bytes(), "mlir", b"")?;
        execute(silent, &[x])?;
        destroy_executable(silent);
        [x, out].into_iter().for_each(destroy);
        destroy_executable(program);
        call!(PJRT_Client_Destroy, PJRT_Client_Destroy_Args { client })?;
        sum
    };
    match run() {
        Ok(sum) => i32::from(sum != [2.; 6]),
        Err(failure) => {
            eprintln!("{}", failure.message);
            2
        }
    }
}
