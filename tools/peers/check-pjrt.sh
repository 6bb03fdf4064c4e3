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
# shellcheck source=tools/peers/common.sh
. "$(dirname "$0")/common.sh"
mode=$1
checkout=$(cd "$2" && pwd)
peers_library "$3"
[ "$mode" = functions ] || on_our_plugin
exec Rscript "$XLAFFI_TOOLS/check-pjrt.R" "$mode" "$checkout" "${4:-}"
