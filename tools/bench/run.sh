#!/usr/bin/env bash
# The speed figures of the README. Writes tools/bench/results-*.md beside this script.
set -euo pipefail
cd "$(dirname "$0")"
Rscript host.R
ops=$(../ops-lib/build.sh | tail -n 1)
"$XLAFFI_PYTHON" call.py "$ops"
"$XLAFFI_PYTHON" kepler.py "$ops"
