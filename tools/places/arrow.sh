#!/usr/bin/env bash
# Parts from the real packages arrow and nanoarrow, in another Debian: see tools/places.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/places/root.sh
. tools/places/root.sh
prepared r-cran-arrow r-cran-nanoarrow
enter tools/install.sh .lib --no-docs
enter tools/with-env.sh Rscript tools/places/arrow.R
