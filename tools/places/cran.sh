#!/usr/bin/env bash
# Tests, examples and vignettes where there is no plugin, Python, compiler and network: see tools/places.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
repository=$(cd "${1:?tools/places.sh cran FOLDER}" && pwd)
# shellcheck source=tools/places/root.sh
. tools/places/root.sh
bare
holds "$repository"
# shellcheck disable=SC2016
enter bash -c '
  set -e
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends r-base-core \
    r-cran-{cli,rlang,bit64,testthat,withr,jsonlite,matrix,knitr,rmarkdown} >/dev/null
  for program in cargo gcc python3; do
    if command -v "$program"; then echo "cran: there is a $program" >&2; exit 1; fi
  done
  rm -rf /root/library /root/check /root/.cache
  mkdir /root/library /root/check
  export R_LIBS=/root/library
  cd /root/check
  Rscript -e "install.packages(\"xlaffi\", repos = \"file://$(echo /root/repository/bin/linux/"$1"-*/*)\")" >install.log 2>&1
  tar -xzf /root/repository/src/contrib/xlaffi_*.tar.gz
  unshare --net bash -c "
    status=0
    for all in false true; do
      (cd xlaffi/tests && NOT_CRAN=\$all Rscript testthat.R) >tests-\$all.log 2>&1 || status=1
      echo \"NOT_CRAN=\$all: \$(grep -F \"[ FAIL\" tests-\$all.log | tail -n 1)\"
    done
    Rscript /root/xlaffi/tools/places/cran.R || status=1
    exit \$status
  "
  if [ -e /root/.cache ]; then echo "cran: the cache of the user was written to" >&2; exit 1; fi
' cran "$suite"
