#!/usr/bin/env bash
# Installs the working tree into a project-local library, leaving the user's alone. cargo's
# target folder is kept, so a second call compiles what changed.
#
#   tools/install.sh [--shipped] LIBRARY [options of R CMD INSTALL]
#
# --shipped builds with the profile that users get, for timings; otherwise the optimiser
# works crate by crate and incrementally, which builds in half the time.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$1" = --shipped ]; then
  shift
else
  export CARGO_INCREMENTAL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
fi
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
