//! Tells, for this crate and for `ops`, whether this compiler has AVX-512 on stable: `cfg(avx512)`,
//! from Rust 1.89 on.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(avx512)");
    println!("cargo::rerun-if-env-changed=RUSTC");
    if minor_version().is_some_and(|minor| minor >= 89) {
        println!("cargo::rustc-cfg=avx512");
    }
}

/// 89 of `rustc 1.89.0 (...)`; none where the compiler says something else.
fn minor_version() -> Option<u32> {
    let rustc = env::var_os("RUSTC")?;
    let answer = Command::new(rustc).arg("--version").output().ok()?;
    let answer = String::from_utf8(answer.stdout).ok()?;
    answer
        .split_whitespace()
        .nth(1)?
        .strip_prefix("1.")?
        .split('.')
        .next()?
        .parse()
        .ok()
}
