//! Tells, for this crate and for `ops`, whether this compiler has AVX-512 on stable: `cfg(avx512)`,
//! from Rust 1.89 on; and, for a test, whether it can compile for 64-bit ARM: `cfg(arm64_std)`.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(avx512, arm64_std)");
    println!("cargo::rerun-if-env-changed=RUSTC");
    if minor_version().is_some_and(|minor| minor >= 89) {
        println!("cargo::rustc-cfg=avx512");
    }
    let sysroot = answer(&["--print", "sysroot"]).unwrap_or_default();
    let arm64 = Path::new(sysroot.trim()).join("lib/rustlib/aarch64-unknown-linux-gnu/lib");
    if arm64.is_dir() {
        println!("cargo::rustc-cfg=arm64_std");
    }
}

/// What the compiler says; none where that is no text.
fn answer(question: &[&str]) -> Option<String> {
    let rustc = env::var_os("RUSTC")?;
    let answer = Command::new(rustc).args(question).output().ok()?;
    String::from_utf8(answer.stdout).ok()
}

/// 89 of `rustc 1.89.0 (...)`; none where the compiler says something else.
fn minor_version() -> Option<u32> {
    answer(&["--version"])?
        .split_whitespace()
        .nth(1)?
        .strip_prefix("1.")?
        .split('.')
        .next()?
        .parse()
        .ok()
}
