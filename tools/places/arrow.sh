#!/usr/bin/env bash
# Parts from the real packages arrow and nanoarrow, in another Debian: see tools/places.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/places/root.sh
. tools/places/root.sh
made
renewed
enter bash -c '
  set -e
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends make git r-cran-arrow r-cran-nanoarrow >/dev/null
  tools/setup.sh test
  tools/install.sh .lib --no-docs
  tools/with-env.sh Rscript tools/places/arrow.R
'
