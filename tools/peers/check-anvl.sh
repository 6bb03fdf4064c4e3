#!/usr/bin/env bash
# Runs the test suite of a checkout of the package anvl, which is written for pjrt; see
# check-anvl.R. Nothing of it is taken into this project: sources are copied to a temporary folder.
#
#   tools/peers/check-anvl.sh plugin    ANVL_CHECKOUT LIBRARY [FILTER]
#   tools/peers/check-anvl.sh functions ANVL_CHECKOUT LIBRARY [FILTER]
#   tools/peers/check-anvl.sh handlers  ANVL_CHECKOUT LIBRARY [FILTER]
#
# LIBRARY holds what anvl needs, XLAFFI_LIBRARY (without it .lib) this package.
# `plugin`: anvl on pjrt on our CPU plugin. `functions`: a copy of anvl that imports us in place of
# pjrt, and such a copy of the checkout ALSO (stablehlo, which names pjrt's class, too). `handlers`: as
# `plugin`, with our handlers for pjrt's targets. Where the package safetensors finds pjrt, files are pjrt's also in the
# mode `functions`, and three tests of them fail.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
mode=$1
checkout=$(cd "$2" && pwd)
library=$(cd "$3" && pwd)
export R_LIBS="$library:${XLAFFI_LIBRARY:-$root/.lib}${R_LIBS:+:$R_LIBS}"
export XLAFFI_PYTHON="${XLAFFI_PYTHON:-$root/.venv/bin/python}" XLAFFI_TOOLS="$root/tools/peers"
if [ "$mode" != functions ]; then
  export PJRT_PLUGIN_PATH_CPU="${PJRT_PLUGIN_PATH_CPU:-${XLAFFI_LIBRARY:-$root/.lib}/xlaffi/libs/xlaffi.so}"
fi
exec Rscript "$root/tools/peers/check-anvl.R" "$mode" "$checkout" "${4:-}"
