#!/usr/bin/env bash
# Builds what tools/gpu/check needs on a machine without Rust, R or network: the ops library, our own
# host as a program, and the LAPACK that both link. The folder travels with the repository.
#
#   tools/gpu/build.sh [FOLDER]     default .gpu
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/.gpu}
export PATH="$PATH:$HOME/.cargo/bin"
manifest="$root/src/rust/Cargo.toml"
target=${CARGO_TARGET_DIR:-$root/src/rust/target}

library=$("$root/tools/ops-lib/build.sh" | tail -n 1)
cargo build --release --manifest-path "$manifest" -p ops-lib --example host >&2

rm -rf "$out"
mkdir -p "$out/lib"
cp "$library" "$out/libxlaffi_ops.so"
cp "$target/release/examples/host" "$out/host"
strip --strip-debug "$out/libxlaffi_ops.so" "$out/host"
# LAPACK and what it needs beside the C library, under the names that are asked for. The reference
# one where the system has it: OpenBLAS alone would be most of what may travel.
libraries=$(dirname "$(ldconfig -p | awk '/libgfortran.so.5/ { print $NF; exit }')")
export LD_LIBRARY_PATH="$libraries/lapack:$libraries/blas"
ldd "$out/libxlaffi_ops.so" |
  awk '$1 ~ /^lib(lapack|blas|openblas|gfortran|quadmath)/ { print $1, $3 }' |
  while read -r name file; do cp -L "$file" "$out/lib/$name"; done
du -sh "$out" >&2
printf '%s\n' "$out"
