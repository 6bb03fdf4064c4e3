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
# shellcheck source=tools/peers/common.sh
. "$(dirname "$0")/common.sh"
mode=$1
checkout=$(cd "$2" && pwd)
peers_library "$3"
[ "$mode" = functions ] || on_our_plugin
exec Rscript "$XLAFFI_TOOLS/check-anvl.R" "$mode" "$checkout" "${4:-}"
