#!/usr/bin/env bash
# The Windows part of tools/cross.sh.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/cross/common.sh
. tools/cross/common.sh

triple=x86_64-pc-windows-gnu
built=$CARGO_TARGET_DIR/$triple/debug
export CROSS_R=$cross/windows/r
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$PWD/tools/cross/windows-linker.sh
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=$PWD/tools/cross/wine.sh
WINEPATH=$(windows_path "$CROSS_R")
XLAFFI_PYTHON=$(windows_path "$cross/windows/python/python.exe")
openblas=$(windows_path "$cross/windows/python/Lib/site-packages/scipy_openblas32/lib/libscipy_openblas.dll")
export WINEPATH XLAFFI_PYTHON

cargo_test() { nice cargo test --no-fail-fast --target $triple "${manifest[@]}" "$@"; }

# A program that waits for the end of this script: without one, each program starts Wine's services, and they keep its
# pipes open.
exec 3> >(tools/cross/wine.sh --stay)
wine64 cmd /c exit < /dev/null > /dev/null 2>&1

# --- crates -------------------------------------------------------------------------------
tests windows "xla-ffi" cargo_test -p xla-ffi --lib --tests -- --skip xla_accepts_and_calls
tests windows "cuda, fork, lanes, main-thread, proto-wire, …" cargo_test --lib --tests \
  -p cuda -p fork -p lanes -p main-thread -p matrices -p pjrt-api -p proto-wire -p special
tests windows "own-ops" cargo_test -p own-ops --lib --tests
tests windows "lapack, ops on R's own LAPACK" with XLAFFI_LAPACK=r cargo_test -p lapack -p ops --lib --tests
tests windows "lapack, ops on OpenBLAS" with "XLAFFI_LAPACK=$openblas" cargo_test -p lapack -p ops --lib --tests
tests windows "pjrt, without XLA" cargo_test -p pjrt --lib --test host
check windows "lanes, ops: no call of fma" no_fma x86_64-w64-mingw32-nm "$built"

# --- the plugin ---------------------------------------------------------------------------
plugin_tests() {
  local binary
  cargo_test --no-run -p pjrt-jaxlib --lib --tests 2>&1 | tee "$results/windows-plugin.log" |
    sed -n 's/.*Executable .* (\(.*\.exe\))$/\1/p' > "$results/plugin-tests"
  cargo_test --no-run -p pjrt --test xla --test parts 2>&1 | tee -a "$results/windows-plugin.log" |
    sed -n 's/.*Executable .* (\(.*\.exe\))$/\1/p' >> "$results/plugin-tests"
  while read -r binary; do
    each_alone windows "$binary"
  done < "$results/plugin-tests"
  [ -s "$results/plugin-tests" ] || record windows "plugin" 0 1 0
}

# jaxlib by itself, as often as it takes to see whether it crashes under this Wine without us.
plain_jaxlib() {
  local crashes=0 round rounds=10
  for ((round = 0; round < rounds; round++)); do
    tools/cross/wine.sh "$XLAFFI_PYTHON" "$(windows_path "$PWD/tools/cross/plain-jaxlib.py")" | grep -q 'all right' ||
      crashes=$((crashes + 1))
  done
  say "jaxlib without the plugin ended badly in $crashes of $rounds processes"
  record windows "jaxlib without the plugin" $((rounds - crashes)) 0 $crashes
}
plain_jaxlib
plugin_tests

# --- the package --------------------------------------------------------------------------
# As src/Makevars.win.in has it linked.
link_package() {
  local work=$cross/windows/package compile=(x86_64-w64-mingw32-gcc -O2 -I"$(Rscript -e 'cat(R.home("include"))')")
  rm -rf "$work"
  mkdir -p "$work"
  nice cargo build --quiet --lib --target $triple "${manifest[@]}" -p xlaffi &&
    "${compile[@]}" -c src/entrypoint.c -o "$work/entrypoint.o" &&
    "${compile[@]}" -c src/unwind.c -o "$work/unwind.o" &&
    x86_64-w64-mingw32-g++ -std=gnu++17 -O2 -c src/barrier.cc -o "$work/barrier.o" &&
    x86_64-w64-mingw32-g++ -shared -static-libgcc -static-libstdc++ -o "$work/xlaffi.dll" src/xlaffi-win.def "$work"/*.o \
      "$built/libxlaffi.a" -Wl,-S -L"$CROSS_R" -lRlapack -lRblas -lws2_32 -ladvapi32 -luserenv -lbcrypt -lntdll -lR
}

exports_of_package() {
  [ "$(dll_exports "$cross/windows/package/xlaffi.dll" | sort | tr '\n' ' ')" = 'GetPjrtApi R_init_xlaffi ' ]
}

# That it loads beside R's libraries and has the plugin's table.
loads() {
  local work=$cross/windows/package
  x86_64-w64-mingw32-gcc -O2 tools/cross/load.c -o "$work/load.exe" &&
    (cd "$work" && "$OLDPWD/tools/cross/wine.sh" load.exe xlaffi.dll)
}

check windows "xlaffi.dll: linked" link_package
check windows "xlaffi.dll: exports" exports_of_package
check windows "xlaffi.dll: loads" loads
