#!/usr/bin/env python3
"""Makes special.ptx: the crate `special`, compiled for NVIDIA's GPUs.

    tools/cuda/special.py [FUNCTIONS]

FUNCTIONS is the output of `cargo run -p special --example functions`, for a place where the crate's workspace cannot be
built; by default that command is run. Needs a Rust whose sources are there, as Debian's packages cargo-web, rustc-web
and rust-web-src bring it; its compiler's target for PTX needs features that are not stable, which RUSTC_BOOTSTRAP allows.
No GPU is needed. The driver compiles the PTX, one kernel at a time, see `crates/cuda/src/single.rs`.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUST = ROOT / "src/rust"
OUT = RUST / "crates/cuda/src/kernels/generated/special.ptx"
# The oldest architecture and version of PTX that the compiler writes.
PROCESSOR = "sm_70"


def sources():
    """What the PTX is made from, as the test in `single.rs` reads it."""
    files = sorted((RUST / "crates/special/src").rglob("*.rs"), key=str)
    kernels = [ROOT / "tools/cuda/special" / name for name in ("Cargo.toml", "build.rs", "src/lib.rs")]
    return b"".join(file.read_bytes() for file in [*files, *kernels])


def functions():
    """Each function and the number of its arguments."""
    if len(sys.argv) == 2:
        return pathlib.Path(sys.argv[1]).read_text()
    words = ["cargo", "run", "--quiet", "--manifest-path", str(RUST / "Cargo.toml"), "-p", "special", "--example", "functions"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def compiled(names):
    """The compiler's PTX."""
    libm = re.search(r'name = "libm"\nversion = "([^"]+)"', (RUST / "Cargo.lock").read_text())[1]
    with tempfile.TemporaryDirectory() as target:
        environment = {
            **os.environ,
            "RUSTC_BOOTSTRAP": "1",
            "FUNCTIONS": names,
            "RUSTFLAGS": f"-C target-cpu={PROCESSOR}",
            "CARGO_TARGET_DIR": target,
        }
        manifest = ["--manifest-path", str(ROOT / "tools/cuda/special/Cargo.toml")]
        subprocess.run(["cargo", "update", *manifest, "-p", "libm", "--precise", libm], env=environment, check=True)
        words = ["cargo", "rustc", "--release", *manifest, "-Zbuild-std=core", "--target", "nvptx64-nvidia-cuda"]
        subprocess.run([*words, "--", "--emit=asm"], env=environment, check=True)
        (file,) = pathlib.Path(target).glob("nvptx64-nvidia-cuda/release/deps/special_kernels*.s")
        return file.read_text()


def shortened(text):
    """The same with short names, and without what nobody reads: half of its size."""
    lines = [re.sub(r"\s*//.*", "", line).strip() for line in text.splitlines()]
    text = "\n".join(re.sub(r"\s+", " ", line) for line in lines if line) + "\n"
    long = sorted(set(re.findall(r"\b_R\w+|\banon_\$_\w+_\$_\d+", re.sub(r"_param_\d+", "", text))))
    # No register is named so.
    names = {name: f"q_{i}" for i, name in enumerate(long)}

    def short(match):
        word = match[0]
        parameter = re.fullmatch(r".*_param_(\d+)", word)
        return f"p{parameter[1]}" if parameter else names.get(word, word)

    text = re.sub(r"[\w$]+", short, text)
    text = re.sub(r" \.ptr \.align \d+", "", text)
    return text.replace(", ", ",").replace("$L__BB", "L")


def main():
    text = shortened(compiled(functions()))
    mark = f"// of sources with the checksum {zlib.crc32(sources()):08x}\n"
    OUT.write_text(mark + text)
    print(f"{OUT}: {len(text)} bytes")


if __name__ == "__main__":
    main()
