#!/usr/bin/env bash
# R/extendr-wrappers.R from the Rust code, then NAMESPACE and man/ from the R code.
# `rextendr::document()` does the same for whoever has it.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install.sh .lib --no-docs
tools/with-env.sh Rscript tools/wrappers.R write
# Again where the wrappers changed: roxygen2 loads the installed package.
tools/install.sh .lib --no-docs
tools/with-env.sh Rscript -e 'roxygen2::roxygenise(".", load_code = "installed")'
