#!/usr/bin/env bash
# The R suite and the plugin's tests with another jaxlib: see tools/places.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${1:?the version of jaxlib} python=${2:?a Python for it} filter=${3:-}
venv=$XLAFFI_PLACES/jaxlib-$version
pins=$venv/requirements.txt

mkdir -p "$venv"
wanted=$(cat tools/requirements.txt tools/requirements-test.txt | sed "s/^\(jax\|jaxlib\)==.*/\1==$version/")
if [ "$(cat "$pins" 2>/dev/null)" != "$wanted" ]; then
  "$python" -m venv "$venv"
  printf '%s\n' "$wanted" >"$pins.new"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$pins.new"
  mv "$pins.new" "$pins"
fi
tools/install.sh .lib --no-docs

export XLAFFI_PYTHON=$venv/bin/python PATH="$PATH:$HOME/.cargo/bin"
failed=0
result=$(mktemp)
trap 'rm -f "$result"' EXIT
tools/with-env.sh Rscript tools/test.R tests/testthat "$result" "$filter" all || failed=1
read -r ok bad skip <"$result" || { ok=0 bad=1 skip=0; }
if [ -z "$filter" ]; then
  cargo test --no-fail-fast -p pjrt-jaxlib --manifest-path src/rust/Cargo.toml || failed=1
fi
echo "$("$XLAFFI_PYTHON" --version), jaxlib $version: $ok passed, $bad failed, $skip skipped$([ $failed = 0 ] || echo '; see above')"
[ $failed = 0 ] && [ "$bad" = 0 ]
