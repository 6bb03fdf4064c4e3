#!/usr/bin/env bash
# The speed figures of the README. Writes results-*.md beside this script, and the tables that the
# vignette "performance" draws to inst/extdata.
set -euo pipefail
cd "$(dirname "$0")"
Rscript host.R
Rscript start.R
Rscript calls.R
Rscript ffi_call.R
Rscript linalg.R
Rscript own-ops.R
Rscript objective.R
Rscript solve.R
Rscript random.R
Rscript ode.R
Rscript sample.R
Rscript devices.R
ops=$(../ops-lib/build.sh | tail -n 1)
"$XLAFFI_PYTHON" call.py "$ops"
"$XLAFFI_PYTHON" kepler.py "$ops"
"$XLAFFI_PYTHON" linalg.py "$ops"
"$XLAFFI_PYTHON" cores.py "$ops"
"$XLAFFI_PYTHON" tall.py "$ops"
./engines.sh
Rscript readme.R
