#!/usr/bin/env bash
# rustfmt, clippy, lintr and shellcheck; runs all of them and fails if any complains.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
export PATH="$PATH:$HOME/.cargo/bin"
failed=()

step() { # step NAME COMMAND...
  local name=$1
  shift
  echo "== $name"
  "$@" || failed+=("$name")
}

scripts=(tools/*.sh tools/*/*.sh .ci/run configure configure.win cleanup cleanup.win)

step rustfmt cargo fmt --all --check --manifest-path src/rust/Cargo.toml
step clippy cargo clippy --quiet --workspace --all-targets --manifest-path src/rust/Cargo.toml -- -D warnings
step lintr Rscript tools/lint.R
step shellcheck shellcheck "${scripts[@]}"

if [ ${#failed[@]} -gt 0 ]; then
  echo "lint: complaints from ${failed[*]}" >&2
  exit 1
fi
echo "lint: clean"
