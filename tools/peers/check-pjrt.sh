#!/usr/bin/env bash
# Runs the test suite of a checkout of the package pjrt here; see check-pjrt.R. Nothing of it is
# taken into this project: tests are copied to a temporary folder.
#
#   tools/peers/check-pjrt.sh plugin    PJRT_CHECKOUT LIBRARY [FILTER]
#   tools/peers/check-pjrt.sh functions PJRT_CHECKOUT LIBRARY [FILTER]
#
# `plugin`: pjrt itself, installed in LIBRARY with tengen and safetensors, on our CPU plugin.
# `functions`: our functions in place of its own. Ours is the package of
# XLAFFI_LIBRARY or, without it, of .lib (tools/install.sh).
# The last line says how many test_that() blocks passed.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
mode=$1
checkout=$(cd "$2" && pwd)
library=$(cd "$3" && pwd)
export R_LIBS="$library:${XLAFFI_LIBRARY:-$root/.lib}${R_LIBS:+:$R_LIBS}"
export XLAFFI_PYTHON="${XLAFFI_PYTHON:-$root/.venv/bin/python}"
if [ "$mode" = plugin ]; then
  export PJRT_PLUGIN_PATH_CPU="${PJRT_PLUGIN_PATH_CPU:-${XLAFFI_LIBRARY:-$root/.lib}/xlaffi/libs/xlaffi.so}"
fi
export XLAFFI_TOOLS="$root/tools/peers"
exec Rscript "$root/tools/peers/check-pjrt.R" "$mode" "$checkout" "${4:-}"
