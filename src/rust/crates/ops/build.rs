//! Tells whether this compiler has AVX-512 on stable: `cfg(avx512)`, from Rust 1.89 on. Packs the PTX
//! of our kernels.

mod pack;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The kernels' folder, and the PTX in it.
const KERNELS: &str = "src/platform/cuda/kernels";
const PTX: [&str; 2] = ["elements.ptx", "blocks.ptx"];

fn main() -> io::Result<()> {
    println!("cargo::rustc-check-cfg=cfg(avx512)");
    for file in ["build.rs", "pack.rs", KERNELS] {
        println!("cargo::rerun-if-changed={file}");
    }
    if minor_version().is_some_and(|minor| minor >= 89) {
        println!("cargo::rustc-cfg=avx512");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for name in PTX {
        let text = fs::read(Path::new(KERNELS).join(name))?;
        fs::write(out.join(format!("{name}.packed")), pack::pack(&text))?;
    }
    Ok(())
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
