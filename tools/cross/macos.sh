#!/usr/bin/env bash
# The macOS part of tools/cross.sh: what can be done without a machine that runs it.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/cross/common.sh
. tools/cross/common.sh

triple=aarch64-apple-darwin
zig=$cross/macos/zig/ziglang/zig
work=$cross/macos/package

compiles() {
  local log=$results/macos-compile.log ok=0
  cargo check --target $triple "${manifest[@]}" --workspace --all-targets > "$log" 2>&1 || ok=1
  ! grep -E '^(warning|error)' -A 8 "$log" || ok=1
  return $ok
}

# As src/Makevars.in has it linked; R's symbols are found when it is loaded.
link_package() {
  local include compile
  include=$(Rscript -e 'cat(R.home("include"))')
  compile=("$zig" cc -target aarch64-macos -O2 -I"$include")
  rm -rf "$work"
  mkdir -p "$work"
  cargo build --quiet --lib --target $triple "${manifest[@]}" -p xlaffi &&
    "${compile[@]}" -c src/entrypoint.c -o "$work/entrypoint.o" &&
    "${compile[@]}" -c src/unwind.c -o "$work/unwind.o" &&
    "$zig" c++ -target aarch64-macos -std=gnu++17 -O2 -c src/barrier.cc -o "$work/barrier.o" &&
    "$zig" c++ -target aarch64-macos -dynamiclib -o "$work/xlaffi.so" "$work"/*.o \
      "$CARGO_TARGET_DIR/$triple/debug/libxlaffi.a" -Wl,-undefined,dynamic_lookup -Wl,-dead_strip \
      -Wl,-u,_GetPjrtApi
}

# Zig's linker takes no list of exports, so that there are others too.
exports_of_package() {
  local lacking
  lacking=$(comm -13 <(.venv/bin/python tools/cross/macho-exports.py "$work/xlaffi.so" | sort) <(sort tools/exports-macos.txt))
  [ -z "$lacking" ] || { echo "not exported: $lacking"; return 1; }
}

check macos "all crates and tests compile, without warnings" compiles
check macos "xlaffi.so: linked" link_package
check macos "xlaffi.so: exports" exports_of_package
