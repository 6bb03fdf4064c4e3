#!/bin/sh
# Builds the ops as a shared library for hosts other than R; its path is the last line printed.
# Extra arguments go to cargo, for instance: tools/ops-lib/build.sh --locked
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
manifest="$root/src/rust/Cargo.toml"

cargo build --release --manifest-path "$manifest" -p ops-lib "$@" >&2

target=${CARGO_TARGET_DIR:-$root/src/rust/target}
case $(uname -s) in
  Darwin) name=libxlaffi_ops.dylib ;;
  MINGW* | MSYS*) name=xlaffi_ops.dll ;;
  *) name=libxlaffi_ops.so ;;
esac
library="$target/release/$name"
if [ ! -f "$library" ]; then
  echo "build.sh: cargo built no $library" >&2
  exit 1
fi
printf '%s\n' "$library"
