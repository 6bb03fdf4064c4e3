#!/usr/bin/env bash
# `make check-pjrt` and `make check-anvl`: the suites of a checkout of pjrt or anvl in every mode, and for anvl
# check-bridge.sh. The last line of each run tells what passed; which tests fail stands above it. Ends with status 1 where
# a suite did not run to its end or the bridge is wrong; tests of others that fail are only counted.
#
#   tools/peers/check.sh pjrt CHECKOUT [LIBRARY]
#   tools/peers/check.sh anvl CHECKOUT [LIBRARY [CHECKOUT OF stablehlo]]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
what=$1
checkout=${2:-}
library=${3:-}
needs=(pjrt tengen safetensors)
[ "$what" = pjrt ] || needs=(anvl stablehlo xlamisc "${needs[@]}")
usage() {
  cat >&2 <<TEXT
$1

  make check-pjrt PJRT=checkout [PEERS=library]
  make check-anvl ANVL=checkout [PEERS=library] [STABLEHLO=checkout]

PJRT, ANVL   source folders of the packages (github.com/r-xla/pjrt, github.com/r-xla/anvl); only read
PEERS        an R library with the packages installed from source: ${needs[*]}.
             Not needed where R finds them without. They and what they import are not installed here.
STABLEHLO    the source of the stablehlo that anvl imports, for anvl on our functions in place of pjrt's
TEXT
  exit 2
}
name=$([ "$what" = pjrt ] && echo PJRT || echo ANVL)
[ -n "$checkout" ] || usage "$name is not given."
[ -d "$checkout/tests/testthat" ] || usage "$name=$checkout is no source of an R package with tests."
if [ -n "$library" ]; then
  [ -d "$library" ] || usage "PEERS=$library is no folder."
else
  library=$(mktemp -d)
  trap 'rmdir "$library"' EXIT
fi
# What else is needed: testthat, and what the suites attach.
lacking=$(R_LIBS="$library${R_LIBS:+:$R_LIBS}" Rscript -e '
  needs <- c(commandArgs(trailingOnly = TRUE), "testthat", "checkmate", "withr")
  cat(Filter(function(name) !nzchar(system.file(package = name)), needs))
' "${needs[@]}")
[ -z "$lacking" ] || usage "R does not find: $lacking."

run() { # run SCRIPT ARGUMENTS...: its status, and in `last` its last line
  echo "== $*"
  local log code=0
  log=$(mktemp)
  "$here/$1" "${@:2}" 2>&1 | tee "$log" || code=$?
  last=$(tail -n 1 "$log")
  rm -f "$log"
  return "$code"
}
summary=()
status=0
for mode in $([ "$what" = pjrt ] && echo "plugin functions" || echo "plugin handlers functions"); do
  if [ "$what $mode" = "anvl functions" ]; then
    if [ -z "${4:-}" ]; then
      summary+=("functions: not run, STABLEHLO is not given")
      continue
    fi
    export ALSO=$4
  fi
  if run "check-$what.sh" "$mode" "$checkout" "$library"; then
    summary+=("$mode: $last")
  else
    status=1
    summary+=("$mode: did not run to its end")
  fi
done
if [ "$what" = anvl ]; then
  if run check-bridge.sh "$library"; then
    summary+=("bridge: right")
  else
    status=1
    summary+=("bridge: WRONG")
  fi
fi
printf '%s\n' "== $what" "${summary[@]}"
exit $status
