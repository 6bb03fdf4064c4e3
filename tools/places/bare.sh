#!/usr/bin/env bash
# The demo in a Debian without Python and compilers: see tools/places.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/places/root.sh
. tools/places/root.sh
[ -e .lib/xlaffi ] || tools/install.sh .lib --no-docs
bare
mkdir -p "$root/root/library"
cp -a .lib/xlaffi "$root/root/library/"
# shellcheck disable=SC2016
enter bash -c '
  set -e
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends r-base-core r-cran-cli r-cran-rlang r-cran-bit64 >/dev/null
  for program in python3 gcc; do
    if command -v "$program"; then echo "bare: there is a $program" >&2; exit 1; fi
  done
  export R_LIBS=/root/library
  # As after the installation of the package.
  rm -rf /root/.cache/R/xlaffi
  SECONDS=0
  Rscript -e "xlaffi::install_pjrt()"
  Rscript tools/demo/demo.R
  Rscript tools/demo/kepler.R
  Rscript -e "xlaffi::xlaffi_sitrep()"
  echo "without Python: installed and shown in $SECONDS s"
'
