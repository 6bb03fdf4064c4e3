#!/usr/bin/env bash
# Processes that the R package mirai starts, which Debian does not have: see tools/places.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
library=${1:?the library that mirai is installed in}
tools/install.sh .lib --no-docs
R_LIBS=$library tools/with-env.sh Rscript tools/places/mirai.R
