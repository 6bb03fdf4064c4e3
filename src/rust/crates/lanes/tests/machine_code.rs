//! The kernels are vector code: what the optimiser makes of `examples/kernels.rs` in the profile that
//! users get is disassembled and read.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod common;

use common::{output, CALLED, COMPLEX, IN_ROWS, KERNELS};
use std::collections::BTreeSet;
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

/// Products that kernels share, not inlined.
const PRODUCTS: [&str; 4] = ["product_in", "reflect_in", "prepare_in", "project_in"];

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

#[test]
fn kernels_are_vector_code() {
    let (file, code) = example();
    let (mut seen, mut products) = (BTreeSet::new(), BTreeSet::new());
    for (name, instructions) in functions(&code) {
        if let Some(product) = PRODUCTS
            .iter()
            .find(|product| name.contains(&format!("::{product}")))
        {
            let of = VECTORS
                .iter()
                .find(|(vector, _)| name.contains(&format!("::{vector} ")));
            let (vector, registers) = of.unwrap_or_else(|| panic!("{name} is of no known vector"));
            let all = instructions
                .iter()
                .filter(|one| one.starts_with("vfn") || one.starts_with("vfm"));
            let (mut whole, mut other) = (0, None);
            for one in all {
                if one.contains(registers) {
                    whole += 1;
                } else {
                    other = Some(one);
                }
            }
            assert!(whole > 0, "{name} has no fused operation on {registers}");
            assert_eq!(other, None, "{name} computes in other registers");
            products.insert((product, vector));
            continue;
        }
        let Some((caller, registers)) = CALLERS
            .iter()
            .find(|(caller, _)| name.contains(&format!("dispatch::{caller}")))
        else {
            continue;
        };
        let kernel = KERNELS
            .iter()
            .find(|kernel| name.contains(&format!("::{kernel}<")));
        let kernel = kernel.unwrap_or_else(|| panic!("{name} is of no kernel of the list"));
        let complex = name.contains("Complex<");
        seen.insert((caller, kernel, complex, name.contains("f32>")));

        let together = instructions.iter().filter(|one| fused(one, 'p'));
        let together = together.filter(|one| one.contains(registers)).count();
        // Parts of one complex number are not side by side with those of the next.
        let apart = complex && registers.is_empty();
        assert!(
            together > 0 || apart,
            "{name} has no fused operation on {registers}"
        );
        if !registers.is_empty() {
            let alone = instructions.iter().find(|one| fused(one, 's'));
            assert_eq!(alone, None, "{name} computes lanes one by one");
        }
        for call in instructions.iter().filter(|one| one.starts_with("call")) {
            let target = call.split_once('<').map_or("", |(_, target)| target);
            let ours = target.contains("lanes::") && !target.contains("panic");
            let known = CALLED
                .iter()
                .any(|called| target.contains(&format!("::{called}")));
            assert!(!ours || known, "{name} calls {target}");
        }
    }
    let units = if cfg!(avx512) { 3 } else { 2 };
    let functions = units * (KERNELS.len() + COMPLEX.len()) - IN_ROWS.len();
    assert_eq!(seen.len(), 2 * functions, "{seen:?}");
    assert_eq!(
        products.len(),
        PRODUCTS.len() * 2 * (units - 1),
        "{products:?}"
    );
    // A call of C's function where an instruction was meant.
    let imported = output(Command::new("nm").args(["-D", "--undefined-only", &file]));
    let calls: Vec<_> = imported
        .lines()
        .filter(|line| line.contains(" fma"))
        .collect();
    assert!(calls.is_empty(), "{calls:?}");
}
