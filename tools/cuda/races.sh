#!/usr/bin/env bash
# Runs the CUDA kernels that have barriers on this processor's threads, with one and with four threads
# a warp, under the compiler's sanitizer, which fails if two of them meet in memory without a barrier
# between them.
#
#   tools/cuda/races.sh
set -euo pipefail
ops=$(cd "$(dirname "$0")/../.." && pwd)/src/rust/crates/ops
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for warp in 1 4; do
  "${CXX:-c++}" -std=c++17 -O1 -g -fsanitize=thread -DWARP=$warp -Wno-unknown-pragmas \
    -I"$ops/tests/cuda/fake" -I"$ops/../cuda/src/kernels" \
    "$here/races.cc" "$ops"/tests/cuda/fake/{driver,kernels,own}.cc -o "$folder/races" -pthread -ldl
  TSAN_OPTIONS=halt_on_error=1 "$folder/races"
  echo "no race with $warp threads a warp"
done
