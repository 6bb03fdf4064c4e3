//! The kernels are vector code: what the optimiser makes of `examples/kernels.rs` in the profile that
//! users get is disassembled and read.

use super::seen::{called, expect_vector_code, is_apart, output, Seen};
use std::path::Path;
use std::process::Command;

/// Vectors, and registers that hold them.
const VECTORS: [(&str, &str); 4] = [
    ("F64x4", "%ymm"),
    ("F32x8", "%ymm"),
    ("F64x8", "%zmm"),
    ("F32x16", "%zmm"),
];

/// Who calls kernels, and the registers whose vectors are to be multiplied and added there.
const CALLERS: [(&str, &str); 3] = [
    ("blocks_avx2", "%ymm"),
    ("one_by_one_avx2", ""),
    ("blocks_avx512", "%zmm"),
];

/// The example as a file, and its disassembly with names in full.
fn example() -> (String, String) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("machine-code");
    output(
        Command::new(env!("CARGO"))
            .args([
                "build",
                "--quiet",
                "--offline",
                "--release",
                "--features",
                "examples",
                "--example",
                "kernels",
            ])
            .arg("--manifest-path")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&target)
            // Names that tell types.
            .env("RUSTFLAGS", "-Csymbol-mangling-version=v0")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env_remove("CARGO_BUILD_TARGET"),
    );
    let file = target.join("release/examples/kernels");
    let file = file.to_str().expect("a path in UTF-8").to_owned();
    let code =
        output(Command::new("objdump").args(["-d", "--demangle", "--no-show-raw-insn", &file]));
    (file, code)
}

/// Functions, each with its instructions.
fn functions(code: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in code.lines() {
        if let Some(name) = line.strip_suffix(">:") {
            let (_, name) = name.split_once('<').expect("a name");
            found.push((name, Vec::new()));
        } else if let (Some((_, instructions)), Some((_, instruction))) =
            (found.last_mut(), line.split_once(":\t"))
        {
            instructions.push(instruction);
        }
    }
    found
}

/// Whether an instruction multiplies and adds at once, in one lane (`s`) or in all (`p`).
fn fused(instruction: &str, lanes: char) -> bool {
    let name = instruction.split_whitespace().next().unwrap_or_default();
    let kinds = ["vfmadd", "vfnmadd", "vfmsub", "vfnmsub"];
    kinds.iter().any(|kind| name.starts_with(kind)) && name.chars().rev().nth(1) == Some(lanes)
}

/// Fused operations on one lane that code of blocks has at most. A reflection of one Hermitian matrix has one (`square`
/// in `rows/reflector.rs`), of the number that the column begins with: all lanes hold it, and the compiler computes it
/// in one of them.
fn once(name: &str) -> usize {
    usize::from(name.contains("::Syevd<") && name.contains("Complex<"))
}

/// That a function calls nothing of the crate that would compute without vector instructions.
#[track_caller]
fn expect_known_calls(name: &str, instructions: &[&str]) {
    for call in instructions.iter().filter(|one| one.starts_with("call")) {
        let target = call.split_once('<').map_or("", |(_, target)| target);
        let ours = target.contains("lanes::") && !target.contains("panic");
        let known = called().any(|one| target.contains(&format!("::{one}")));
        assert!(!ours || known, "{name} calls {target}");
    }
}

#[test]
fn kernels_are_vector_code_of_x86() {
    let (file, code) = example();
    let mut seen = Seen::default();
    for (name, instructions) in functions(&code) {
        // The feature of tests is on: arrays in place of vectors, which no user gets.
        if name.contains("Pack<") && !name.contains("dispatch::") {
            continue;
        }
        if let Some(vector) = seen.product(name) {
            let (_, registers) = VECTORS
                .iter()
                .find(|(of, _)| *of == vector)
                .unwrap_or_else(|| panic!("{name} is of no known vector"));
            let fused = |one: &&str| one.starts_with("vfn") || one.starts_with("vfm");
            let (whole, other): (Vec<&str>, Vec<&str>) = instructions
                .iter()
                .copied()
                .filter(fused)
                .partition(|one| one.contains(registers));
            expect_vector_code(name, whole.len(), other.first().copied());
            expect_known_calls(name, &instructions);
            continue;
        }
        if is_apart(name) {
            expect_known_calls(name, &instructions);
            continue;
        }
        let Some(registers) = seen.kernel(name, &CALLERS) else {
            continue;
        };
        let together = instructions.iter().filter(|one| fused(one, 'p'));
        let together = together.filter(|one| one.contains(registers)).count();
        if registers.is_empty() {
            // Parts of one complex number are not side by side with those of the next.
            assert!(
                together > 0 || name.contains("Complex<"),
                "{name} has no fused operation on vectors"
            );
        } else {
            let mut alone = instructions.iter().filter(|one| fused(one, 's'));
            expect_vector_code(name, together, alone.nth(once(name)).copied());
        }
        expect_known_calls(name, &instructions);
    }
    let units = if cfg!(avx512) { 3 } else { 2 };
    seen.expect_all(units);
    // A call of C's function where an instruction was meant.
    let imported = output(Command::new("nm").args(["-D", "--undefined-only", &file]));
    let calls: Vec<_> = imported
        .lines()
        .filter(|line| line.contains(" fma"))
        .collect();
    assert!(calls.is_empty(), "{calls:?}");
}
