#!/usr/bin/env bash
# Fuzzes for a time: what nobody thought of, until the time is up. Ends with status 1 if something was
# found. What is mended stays as a test (tests/testthat/test-arguments.R and the files of what was wrong, crates/*/tests).
#
#   tools/fuzz.sh [SECONDS [SEED]]     all parts together; 120 seconds by default
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export PATH="$PATH:$HOME/.cargo/bin"
# In a locale without UTF-8 R itself warns of names in calls.
export LANG=C.UTF-8 LC_ALL=C.UTF-8
seconds=${1:-120}
seed=${2:-1}
status=0

log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

tools/install.sh .lib --no-docs || exit 1

# random SCRIPT SECONDS SEED: one process of random code.
random() {
  local found="$log/$1.$3"
  tools/with-env.sh Rscript "tools/fuzz/$1" "$2" "$3" >"$found" 2>&1
  local ended=$?
  [ $ended -eq 0 ] || grep -q '^FOUND' "$found" || { echo "FOUND: the process ended"; tail -3 "$found"; }
  grep -v '^seed' "$found"
  return $ended
}

# Random derivatives beside differences, functions with loops, then random programs, run in R and compiled, on one core.
beside() {
  local failed=0
  random derivatives.R $((seconds * 3 / 10)) "$seed" || failed=1
  random loops.R $((seconds / 5)) "$seed" || failed=1
  random programs.R $((seconds / 2)) $((2 * seed)) || failed=1
  return $failed
}

# Garbage of all kinds, then random programs of another seed, on the other one.
garbage() {
  local failed=0
  # Call frames with every part mutated, through every handler of the CPU.
  XLAFFI_FUZZ_SECONDS=$((seconds / 8)) XLAFFI_FUZZ_SEED=$seed cargo test --release -p ops \
    --test fuzz --manifest-path src/rust/Cargo.toml -- --nocapture || failed=1
  # Texts that are nearly signatures, and signatures that meet shapes by chance.
  XLAFFI_FUZZ_SECONDS=$((seconds / 16)) XLAFFI_FUZZ_SEED=$seed cargo test --release -p custom-ops \
    --test fuzz --test random --manifest-path src/rust/Cargo.toml -- --nocapture || failed=1
  # Exported R functions with arguments of all kinds.
  tools/with-env.sh Rscript tools/fuzz/arguments.R $((seconds / 10)) "$seed" || failed=1
  # What users return from programs and rules, and say that calls return.
  tools/with-env.sh Rscript tools/fuzz/results.R $((seconds / 16)) "$seed" || failed=1
  random programs.R $((seconds * 3 / 5)) $((2 * seed + 1)) || failed=1
  return $failed
}

beside >"$log/beside" 2>&1 &
garbage || status=1
wait $! || status=1
cat "$log/beside"
exit $status
