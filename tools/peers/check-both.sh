#!/usr/bin/env bash
# pjrt and this package in one R process on one plugin, ours, in both orders; see check-both.R.
#
#   tools/peers/check-both.sh LIBRARY
set -euo pipefail
# shellcheck source=tools/peers/common.sh
. "$(dirname "$0")/common.sh"
peers_library "$1"
on_our_plugin
status=0
for first in pjrt xlaffi; do
  echo "== $first first"
  Rscript "$XLAFFI_TOOLS/check-both.R" "$first" || status=1
done
exit $status
