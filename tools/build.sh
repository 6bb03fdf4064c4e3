#!/usr/bin/env bash
# Builds the source tarball, with the vendored crates inside, from the files that git knows
# or could know, so that nothing built lies in it.
#
#   tools/build.sh FOLDER [options of R CMD build]      the tarball's path is the last line
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/xlaffi"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\0' "$file"
  done | tar -cf - --null -T - | tar -xf - -C "$work/xlaffi"
else
  tar -cf - --exclude=./src/rust/target --exclude=./target --exclude=./.venv --exclude=./.lib . |
    tar -xf - -C "$work/xlaffi"
fi
tools/vendor.sh "$work/xlaffi/src/rust"
(cd "$out" && R CMD build --no-manual "$@" "$work/xlaffi")
version=$(sed -n 's/^Version: *//p' DESCRIPTION)
echo "$out/xlaffi_$version.tar.gz"
