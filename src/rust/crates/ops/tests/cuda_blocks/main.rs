//! The kernels that factor a whole batch in one launch, on the stand-ins. A process of its own: in it
//! there are no handles of libraries yet, so a call of one would be seen.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod eigh;
mod lu;
mod q;
mod qr;
mod svd;

use common::{fake, run};
use xla_ffi::testing::{Call, Frame};

/// Runs a call that must succeed, with one launch and nothing else.
fn one_launch(call: Call, target: &str) -> Frame {
    let before = fake::calls("cuLaunchKernel");
    let frame = run(call.build(), target);
    assert_eq!(fake::calls("cuLaunchKernel") - before, 1, "{target}");
    for other in ["cusolverDnCreate", "cublasCreate_v2", "cuMemsetD8Async"] {
        assert_eq!(fake::calls(other), 0, "{target}: {other}");
    }
    frame
}
