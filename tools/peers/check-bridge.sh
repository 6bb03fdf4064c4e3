#!/usr/bin/env bash
# as_anvl() and from_anvl() with the real package anvl, on pjrt on our CPU plugin; see check-bridge.R.
#
#   tools/peers/check-bridge.sh LIBRARY
#
# LIBRARY holds anvl and what it needs, XLAFFI_LIBRARY (without it .lib) this package. Runs twice: with our handlers
# beside those of pjrt, and in place of them.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
library=$(cd "$1" && pwd)
export R_LIBS="$library:${XLAFFI_LIBRARY:-$root/.lib}${R_LIBS:+:$R_LIBS}"
export XLAFFI_PYTHON="${XLAFFI_PYTHON:-$root/.venv/bin/python}"
export PJRT_PLUGIN_PATH_CPU="${PJRT_PLUGIN_PATH_CPU:-${XLAFFI_LIBRARY:-$root/.lib}/xlaffi/libs/xlaffi.so}"
status=0
for mode in add replace; do
  echo "== handlers: $mode"
  Rscript "$root/tools/peers/check-bridge.R" "$mode" || status=1
done
exit $status
