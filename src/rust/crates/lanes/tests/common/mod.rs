//! What the machine code of `examples/kernels.rs` is made of.

use std::process::Command;

/// Kernels, of which each is there for f32 and f64.
pub const KERNELS: [&str; 7] = ["Lu", "Geqrf", "Orgqr", "Potrf", "Trsm", "Syevd", "Gesdd"];

/// Those of which a matrix alone has its rows in lanes, so that none is computed one by one.
pub const IN_ROWS: [&str; 2] = ["Lu", "Potrf"];

/// Those that are there for complex matrices too.
pub const COMPLEX: [&str; 5] = ["Lu", "Geqrf", "Orgqr", "Potrf", "Trsm"];

/// What may be called: it moves data only, or is looked at itself.
pub const CALLED: [&str; 10] = [
    "gather",
    "scatter",
    "scatter_some",
    "strided",
    "lines",
    "product",
    "reflect",
    "project",
    "prepare",
    "act",
];

/// What a tool says, which has to succeed.
pub fn output(command: &mut Command) -> String {
    let done = command
        .output()
        .expect("cargo and binutils, which linking needs");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {errors}");
    String::from_utf8(done.stdout).expect("text")
}
