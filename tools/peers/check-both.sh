#!/usr/bin/env bash
# pjrt and this package in one R process on one plugin, ours, in both orders; see check-both.R.
#
#   tools/peers/check-both.sh LIBRARY
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
library=$(cd "$1" && pwd)
export R_LIBS="$library:${XLAFFI_LIBRARY:-$root/.lib}${R_LIBS:+:$R_LIBS}"
export XLAFFI_PYTHON="${XLAFFI_PYTHON:-$root/.venv/bin/python}"
export PJRT_PLUGIN_PATH_CPU="${PJRT_PLUGIN_PATH_CPU:-${XLAFFI_LIBRARY:-$root/.lib}/xlaffi/libs/xlaffi.so}"
status=0
for first in pjrt xlaffi; do
  echo "== $first first"
  Rscript "$root/tools/peers/check-both.R" "$first" || status=1
done
exit $status
