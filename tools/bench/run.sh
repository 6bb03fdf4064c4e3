#!/usr/bin/env bash
# The speed figures of the README. Writes tools/bench/results-*.md beside this script.
set -euo pipefail
cd "$(dirname "$0")"
Rscript host.R
"$XLAFFI_PYTHON" call.py "$(../ops-lib/build.sh | tail -n 1)"
