#!/usr/bin/env bash
# The package from a repository, in a Debian without Rust and compilers: see tools/places.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
repository=$(cd "${1:?tools/places.sh repository FOLDER}" && pwd)
# shellcheck source=tools/places/root.sh
. tools/places/root.sh
bare
holds "$repository"
# shellcheck disable=SC2016
enter bash -c '
  set -e
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends r-base-core r-cran-cli r-cran-rlang r-cran-bit64 >/dev/null
  for program in cargo rustc gcc python3; do
    if command -v "$program"; then echo "repository: there is a $program" >&2; exit 1; fi
  done
  rm -rf /root/library
  mkdir /root/library
  export R_LIBS=/root/library
  binaries=$(echo /root/repository/bin/linux/"$1"-*/*)
  started=$(date +%s%N)
  Rscript -e "install.packages(\"xlaffi\", repos = \"file://$binaries\")"
  took=$(( ($(date +%s%N) - started) / 1000000 ))
  Rscript -e "library(xlaffi); xlaffi_sitrep()"
  echo "from the repository: installed in $took ms"
  [ "$took" -le 20000 ]
' repository "$suite"
