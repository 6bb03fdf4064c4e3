#!/usr/bin/env bash
# Random programs (see run.py) in two processes, each with a seed of its own.
#
#   tools/random/run.sh [COUNT [SEED]]      all cases together, and the first of the two seeds
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
count=${1:-20000}
seed=${2:-1}
library=$(tools/ops-lib/build.sh 2>/dev/null | tail -n 1)
[ -f "$library" ] || { echo "random: the ops library was not built" >&2; exit 1; }
# BLAS's threads would only get in each other's way.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
python=${XLAFFI_PYTHON:-.venv/bin/python}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for i in 0 1; do
  "$python" tools/random/run.py "$library" --count $((count / 2)) --seed $((seed + i)) >"$work/$i" 2>&1 &
  pids[i]=$!
done
status=0
for i in 0 1; do
  wait "${pids[i]}" || status=1
  cat "$work/$i"
done
exit $status
