#!/usr/bin/env bash
# Installs the working tree into a project-local library, leaving the user's alone. cargo's
# target folder is kept, so a second call compiles what changed.
#
#   tools/install.sh LIBRARY [options of R CMD INSTALL]
set -euo pipefail
cd "$(dirname "$0")/.."
library=$1
shift
mkdir -p "$library"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "installing xlaffi into $library"
if ! NOT_CRAN=true R CMD INSTALL --no-multiarch --no-test-load --library="$library" "$@" . >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
