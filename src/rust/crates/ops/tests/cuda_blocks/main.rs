//! The kernels that factor a whole batch in one launch, on the stand-ins. A process of its own, in
//! which nothing else is launched and no library is called: so that can be counted.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod lu;
mod svd;

use common::{fake, handler};
use std::sync::{Mutex, PoisonError};
use xla_ffi::testing::{Call, Frame};

/// Runs a call that must succeed, with one launch and nothing else.
fn one_launch(call: Call, target: &str) -> Frame {
    static ALONE: Mutex<()> = Mutex::new(());
    let handler = handler(target);
    let mut frame = call.build();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = fake::calls("cuLaunchKernel");
    if let Err(failure) = frame.call(handler) {
        panic!("{target} of good operands: {failure}");
    }
    assert_eq!(fake::calls("cuLaunchKernel") - before, 1, "{target}");
    drop(alone);
    for library in ["cusolverDnCreate", "cublasCreate_v2", "cuMemsetD8Async"] {
        assert_eq!(fake::calls(library), 0, "{target}: {library}");
    }
    frame
}
