#!/usr/bin/env bash
# The arm64 part of tools/cross.sh.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/cross/common.sh
. tools/cross/common.sh

triple=aarch64-unknown-linux-gnu
built=$CARGO_TARGET_DIR/$triple/debug
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$PWD/tools/cross/emulate.sh
# An emulated instruction takes some ten times as long.
export CARGO_PROFILE_DEV_OPT_LEVEL=1
# Tests that make libraries.
export CC=arm64-gcc CXX=arm64-g++
openblas=$arm64_root/opt/python/scipy_openblas32/lib/libscipy_openblas.so

cargo_test() { nice cargo test --no-fail-fast --target $triple "${manifest[@]}" "$@"; }

# --- crates -------------------------------------------------------------------------------
tests arm64 "xla-ffi" cargo_test -p xla-ffi --lib --tests -- --skip xla_accepts_and_calls
tests arm64 "cuda, fork, main-thread, matrices, …" cargo_test --lib --tests \
  -p cuda -p fork -p main-thread -p matrices -p pjrt-api -p proto-wire -p special
tests arm64 "lanes" cargo_test -p lanes --lib
tests arm64 "own-ops" cargo_test -p own-ops --lib --tests
tests arm64 "lapack, ops on OpenBLAS" with "XLAFFI_LAPACK=$openblas" cargo_test -p lapack -p ops --lib --tests \
  -- --skip many_threads_compute # It counts QEMU's threads too.
tests arm64 "pjrt, without XLA" cargo_test -p pjrt --lib --test host
check arm64 "lanes, ops: no call of fma" no_fma aarch64-linux-gnu-nm "$built"

# --- the package in R ---------------------------------------------------------------------
library=$cross/arm64-library

# R's half is the same everywhere; the other half is compiled here, as src/Makevars.in has it.
install_package() {
  local work=$cross/arm64-package compile
  rm -rf "$work" "$library"
  mkdir -p "$work/xlaffi" "$library"
  compile=(aarch64-linux-gnu-gcc -O2 -fPIC -I"$(Rscript -e 'cat(R.home("include"))')")
  git ls-files -z DESCRIPTION NAMESPACE LICENSE R inst | xargs -0 cp --parents -t "$work/xlaffi" &&
    sed -i '/^useDynLib/d' "$work/xlaffi/NAMESPACE" &&
    R CMD INSTALL --no-docs --no-test-load --library="$library" "$work/xlaffi" &&
    nice cargo build --quiet --lib --target $triple "${manifest[@]}" -p xlaffi &&
    "${compile[@]}" -c src/entrypoint.c -o "$work/entrypoint.o" &&
    "${compile[@]}" -c src/unwind.c -o "$work/unwind.o" &&
    aarch64-linux-gnu-g++ -std=gnu++17 -O2 -fPIC -c src/barrier.cc -o "$work/barrier.o" &&
    mkdir -p "$library/xlaffi/libs" &&
    aarch64-linux-gnu-g++ -shared -o "$library/xlaffi/libs/xlaffi.so" "$work"/*.o "$built/libxlaffi.a" \
      -Wl,-u,GetPjrtApi -Wl,--version-script=tools/exports.map -Wl,--gc-sections -Wl,-S \
      -L"$arm64_root/usr/lib/aarch64-linux-gnu" -l:liblapack.so.3 -l:libblas.so.3 -lpthread -ldl -lm
}

# in_r FILTER: those tests of the package, in an R for arm64.
in_r() {
  local result=$arm64_root/tmp/result ok=0 bad=0 skip=0
  rm -f "$result"
  say "arm64: R's tests $1"
  timeout 900 tools/cross/emulate.sh --inside /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp LC_ALL=C.UTF-8 \
    R_LIBS="/work/${library#"$PWD/"}" XLAFFI_PYTHON=/usr/bin/python3 \
    /bin/sh -c "cd /work && Rscript tools/test.R tests/testthat /tmp/result '$1'" > "$results/arm64-r.log" 2>&1
  if [ -s "$result" ]; then
    read -r ok bad skip < "$result"
  else
    bad=1
  fi
  [ "$bad" = 0 ] || tail -n 40 "$results/arm64-r.log"
  record arm64 "R: $1" "$ok" "$bad" "$skip"
}

check arm64 "xlaffi.so: linked" install_package
in_r '^(buffer|client|ffi-call|kepler|lapack|lu|subnormal)$'
