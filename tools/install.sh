#!/usr/bin/env bash
# Installs the working tree into a project-local library, leaving the user's alone. cargo's
# target folder is kept, so a second call compiles what changed.
#
#   tools/install.sh [--shipped | --tests] LIBRARY [options of R CMD INSTALL]
#
# --shipped builds with the profile that users get, for timings; --tests with that of cargo's tests, which compiles
# nothing but the glue where they are built, and checks for overflow. Otherwise the optimiser works crate by crate and
# incrementally, which builds in half the time.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$1" = --shipped ]; then
  shift
elif [ "$1" = --tests ]; then
  shift
  export XLAFFI_WITH_TESTS="${XLAFFI_WITH_TESTS:-1}"
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
