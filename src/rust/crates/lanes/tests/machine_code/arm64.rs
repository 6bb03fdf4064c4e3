//! The plain lanes are vector code on 64-bit ARM: `examples/kernels.rs` is compiled for it, and its assembly read.

use super::seen::{called, expect_vector_code, is_apart, output, Seen};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Who calls kernels, and whether their vectors are whole registers.
const CALLERS: [(&str, bool); 2] = [("blocks_plain", true), ("one_by_one_plain", false)];

/// What is not in the assembly: it moves data, or ends a call of a kernel.
const ELSEWHERE: [&str; 5] = ["memcpy", "memmove", "memset", "panic", "fail"];

/// The assembly of the example and of the crate with names in full.
fn assembly() -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arm64");
    // Nothing of an earlier build is to be read.
    let _ = fs::remove_dir_all(&folder);
    let linker = folder.join("no-linker");
    // Nothing is linked: there may be no linker for that target.
    let script = "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n: > \"$2\"\n";
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&linker, script))
        .and_then(|()| fs::set_permissions(&linker, Permissions::from_mode(0o755)))
        .expect("a folder for what tests write");
    output(
        Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--offline", "--release"])
            .args(["--features", "examples", "--example", "kernels"])
            .args(["--target", TARGET, "--manifest-path"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&folder)
            // A file of assembly for each crate; names that tell types.
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("RUSTFLAGS", "-Csymbol-mangling-version=v0 --emit=asm")
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", &linker)
            .env_remove("CARGO_ENCODED_RUSTFLAGS"),
    );
    let built = folder.join(TARGET).join("release");
    let mut all = String::new();
    for (of, begins) in [("deps", "lanes-"), ("examples", "kernels-")] {
        for entry in fs::read_dir(built.join(of)).expect("what was built") {
            let file = entry.expect("a file").path();
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(begins) && name.ends_with(".s") {
                let file = fs::File::open(&file).expect("the assembly");
                all += &output(Command::new("c++filt").stdin(Stdio::from(file)));
            }
        }
    }
    all
}

/// Functions, each with its instructions.
fn functions(code: &str) -> BTreeMap<&str, Vec<&str>> {
    let (mut found, mut name) = (BTreeMap::<&str, Vec<&str>>::new(), "");
    for line in code.lines() {
        let instruction = line.strip_prefix('\t').filter(|one| !one.starts_with('.'));
        if let Some(instruction) = instruction {
            found.entry(name).or_default().push(instruction);
        } else if let Some(label) = line
            .strip_suffix(':')
            .filter(|label| !label.starts_with('.'))
        {
            name = label;
        }
    }
    found
}

/// Whether an instruction computes with floating-point numbers.
fn computes(instruction: &str) -> bool {
    let name = instruction.split('\t').next().unwrap_or_default();
    fused(instruction).is_some()
        || ["fadd", "fsub", "fmul", "fnmul", "fdiv", "fsqrt"].contains(&name)
}

/// Whether an instruction multiplies and adds at once, and whether it does so in a whole vector.
fn fused(instruction: &str) -> Option<bool> {
    let (name, operands) = instruction.split_once('\t')?;
    let whole = [".2d", ".4s"].iter().any(|lanes| operands.contains(lanes));
    match name {
        "fmla" | "fmls" => Some(whole),
        "fmadd" | "fmsub" | "fnmadd" | "fnmsub" => Some(false),
        _ => None,
    }
}

/// That a function's fused instructions are on whole vectors.
#[track_caller]
fn expect_whole(name: &str, instructions: &[&str]) {
    let is = |whole| move |one: &&&str| fused(one) == Some(whole);
    let whole = instructions.iter().filter(is(true)).count();
    let part = instructions.iter().find(is(false));
    expect_vector_code(name, whole, part.copied());
}

/// That a function calls what may be called only, or what computes nothing.
#[track_caller]
fn expect_known_calls(name: &str, all: &BTreeMap<&str, Vec<&str>>) {
    for call in all[name].iter().filter_map(|one| one.strip_prefix("bl\t")) {
        let known = called().any(|one| {
            call.ends_with(&format!("::{one}")) || call.contains(&format!("::{one}::<"))
        });
        let moves = match all.get(call) {
            Some(instructions) => !instructions.iter().any(|one| computes(one)),
            None => ELSEWHERE.iter().any(|called| call.contains(called)),
        };
        assert!(known || moves, "{name} calls {call}");
    }
}

#[test]
#[cfg_attr(
    not(arm64_std),
    ignore = "Rust's standard library for 64-bit ARM is not here (tools/setup.sh test)"
)]
fn kernels_are_vector_code_of_arm64() {
    let code = assembly();
    let mut seen = Seen::default();
    let all = functions(&code);
    for (&name, instructions) in &all {
        // A matrix alone: its numbers are no vectors.
        if name.contains("Pack<") && !name.contains("dispatch::") {
            continue;
        }
        if seen.product(name).is_some() {
            expect_whole(name, instructions);
            expect_known_calls(name, &all);
            continue;
        }
        if is_apart(name) {
            expect_known_calls(name, &all);
            continue;
        }
        let Some(blocks) = seen.kernel(name, &CALLERS) else {
            continue;
        };
        if blocks {
            expect_whole(name, instructions);
        }
        expect_known_calls(name, &all);
    }
    seen.expect_all(CALLERS.len());
}
