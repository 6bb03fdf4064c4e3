#!/usr/bin/env bash
# The Windows part of tools/cross.sh.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tools/cross/common.sh
. tools/cross/common.sh

triple=x86_64-pc-windows-gnu
built=$CARGO_TARGET_DIR/$triple/debug
runner=$PWD/tools/cross/wine.sh
export CROSS_R=$cross/windows/r
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$PWD/tools/cross/windows-linker.sh
WINEPATH=$(windows_path "$CROSS_R")
XLAFFI_PYTHON=$(windows_path "$cross/windows/python/python.exe")
openblas=$(windows_path "$cross/windows/python/Lib/site-packages/scipy_openblas32/lib/libscipy_openblas.dll")
export WINEPATH XLAFFI_PYTHON

# A program that waits for the end of this script: without one, each program starts Wine's services, and they keep its
# pipes open.
exec 3> >(tools/cross/wine.sh --stay)
wine64 cmd /c exit < /dev/null > /dev/null 2>&1

# --- crates -------------------------------------------------------------------------------
compile windows $triple
tests windows "xla-ffi" xla-ffi
tests windows "lanes" lanes:kernels
tests windows "cuda, fork, main-thread, …" cuda fork main-thread matrices pjrt-api programs proto-wire sparse special
tests windows "custom-ops" custom-ops
with XLAFFI_LAPACK=r tests windows "lapack, ops on R's own LAPACK" lapack ops
with "XLAFFI_LAPACK=$openblas" tests windows "lapack, ops on OpenBLAS" lapack ops
tests windows "pjrt, pjrt-jaxlib, without XLA" pjrt:units pjrt:host pjrt-jaxlib:units
check windows "lanes, ops: no call of fma" no_fma x86_64-w64-mingw32-nm "$built"

# --- the plugin ---------------------------------------------------------------------------
tests windows "plugin on jaxlib: one device" pjrt-jaxlib:{attend,buffer,client,crowd,ffi,program,small,threads} pjrt:xla
tests windows "plugin on jaxlib: several devices" pjrt-jaxlib:{devices,guard,stuck} pjrt:parts

# --- the package --------------------------------------------------------------------------
# As src/Makevars.win.in has it linked.
link_package() {
  local work=$cross/windows/package compile=(x86_64-w64-mingw32-gcc -O2 -I"$(Rscript -e 'cat(R.home("include"))')")
  rm -rf "$work"
  mkdir -p "$work"
  cargo build --quiet --lib --target $triple "${manifest[@]}" -p xlaffi &&
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
    cp "$(first_of {"$tools_root",}/usr/x86_64-w64-mingw32/lib/libwinpthread-1.dll)" "$work" && (cd "$work" && "$runner" load.exe xlaffi.dll)
}

check windows "xlaffi.dll: linked" link_package
check windows "xlaffi.dll: exports" exports_of_package
check windows "xlaffi.dll: loads" loads
