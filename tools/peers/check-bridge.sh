#!/usr/bin/env bash
# as_anvl() and from_anvl() with the real package anvl, on pjrt on our CPU plugin; see check-bridge.R.
#
#   tools/peers/check-bridge.sh LIBRARY
#
# LIBRARY holds anvl and what it needs, XLAFFI_LIBRARY (without it .lib) this package. Runs twice: with our handlers
# beside those of pjrt, and in place of them.
set -euo pipefail
# shellcheck source=tools/peers/common.sh
. "$(dirname "$0")/common.sh"
peers_library "$1"
on_our_plugin
status=0
for mode in add replace; do
  echo "== handlers: $mode"
  Rscript "$XLAFFI_TOOLS/check-bridge.R" "$mode" || status=1
done
exit $status
