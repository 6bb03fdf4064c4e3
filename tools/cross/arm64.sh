#!/usr/bin/env bash
# The arm64 part of tools/cross.sh.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/cross/common.sh
. tools/cross/common.sh

triple=aarch64-unknown-linux-gnu
built=$CARGO_TARGET_DIR/$triple/debug
runner=$PWD/tools/cross/emulate.sh
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
# Tests that make libraries.
export CC=arm64-gcc CXX=arm64-g++
openblas=$arm64_root/opt/python/scipy_openblas32/lib/libscipy_openblas.so

# --- crates -------------------------------------------------------------------------------
compile arm64 $triple
tests arm64 "xla-ffi" xla-ffi
tests arm64 "lanes" lanes:kernels
tests arm64 "cuda, fork, main-thread, …" cuda fork main-thread matrices pjrt-api programs proto-wire sparse special
tests arm64 "custom-ops" custom-ops
with "XLAFFI_LAPACK=$openblas" tests arm64 "lapack, ops on OpenBLAS" lapack ops
tests arm64 "pjrt, pjrt-jaxlib, without XLA" pjrt:units pjrt:host pjrt-jaxlib:units
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
    R CMD INSTALL --no-docs --no-test-load --library="$library" "$work/xlaffi" &&
    cargo build --quiet --lib --target $triple "${manifest[@]}" -p xlaffi &&
    "${compile[@]}" -c src/entrypoint.c -o "$work/entrypoint.o" &&
    "${compile[@]}" -c src/unwind.c -o "$work/unwind.o" &&
    aarch64-linux-gnu-g++ -std=gnu++17 -O2 -fPIC -c src/barrier.cc -o "$work/barrier.o" &&
    mkdir -p "$library/xlaffi/libs" &&
    aarch64-linux-gnu-g++ -shared -o "$library/xlaffi/libs/xlaffi.so" "$work"/*.o "$built/libxlaffi.a" \
      -Wl,-u,GetPjrtApi -Wl,--version-script=tools/exports.map -Wl,--gc-sections -Wl,-S \
      "$arm64_root"/usr/lib/aarch64-linux-gnu/lib{lapack,blas}.so.3 -lpthread -ldl -lm
}

# in_r FILTER: those tests of the package, in an R for arm64, none of which may be skipped (CI).
in_r() {
  local result=$arm64_root/tmp/result ok=0 bad=0 skip=0
  rm -f "$result"
  say "arm64: R's tests $1"
  tools/cross/emulate.sh --inside /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp LC_ALL=C.UTF-8 CI=true \
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
in_r '^(kepler|lu|subnormal)$'
