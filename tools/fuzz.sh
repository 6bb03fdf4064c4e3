#!/usr/bin/env bash
# Fuzzes for a time: what nobody thought of, until the time is up. Ends with status 1 if something was
# found. What is mended stays as a test (tests/testthat/test-arguments.R and the files of what was wrong, crates/*/tests).
#
#   tools/fuzz.sh [SECONDS [SEED]]     all parts together; 120 seconds by default
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export PATH="$PATH:$HOME/.cargo/bin"
seconds=${1:-120}
seed=${2:-1}
status=0

# Call frames with every part mutated, through every handler of the CPU.
XLAFFI_FUZZ_SECONDS=$((seconds / 8)) XLAFFI_FUZZ_SEED=$seed cargo test --release -p ops \
  --test fuzz --manifest-path src/rust/Cargo.toml -- --nocapture || status=1

# Texts that are nearly signatures, and signatures that meet shapes by chance.
XLAFFI_FUZZ_SECONDS=$((seconds / 16)) XLAFFI_FUZZ_SEED=$seed cargo test --release -p own-ops \
  --test fuzz --test random --manifest-path src/rust/Cargo.toml -- --nocapture || status=1

# Exported R functions with arguments of all kinds.
tools/install.sh .lib --no-docs || exit 1
tools/with-env.sh Rscript tools/fuzz/arguments.R $((seconds / 10)) "$seed" || status=1

# What users return from programs and rules, and say that calls return.
tools/with-env.sh Rscript tools/fuzz/results.R $((seconds / 16)) "$seed" || status=1

# in_two SCRIPT SECONDS: the script in two processes, of seeds of their own.
in_two() {
  local script=$1 time=$2 log part ids=()
  log=$(mktemp -d)
  for part in 0 1; do
    tools/with-env.sh Rscript "tools/fuzz/$script" "$time" $((2 * seed + part)) >"$log/$part" 2>&1 &
    ids+=($!)
  done
  for part in 0 1; do
    if ! wait "${ids[$part]}"; then
      status=1
      grep -q '^FOUND' "$log/$part" || { echo "FOUND: the process ended"; tail -3 "$log/$part"; }
    fi
    grep -v '^seed' "$log/$part"
  done
  rm -rf "$log"
}

# Random programs, run in R and compiled; and derivatives of random functions beside differences.
in_two programs.R $((seconds * 2 / 5))
in_two derivatives.R $((seconds / 4))
exit $status
