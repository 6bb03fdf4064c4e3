#!/usr/bin/env bash
# Packs the crates of Cargo.lock for an offline build: vendor.tar.xz and vendor-config.toml,
# the same bytes for the same Cargo.lock. Kept out of git; made when the tarball is.
#
#   tools/vendor.sh [FOLDER]     default src/rust
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-src/rust}
export PATH="$PATH:$HOME/.cargo/bin"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo vendor --quiet --locked --manifest-path src/rust/Cargo.toml "$work/vendor" >/dev/null

# What no build reads. The checksum lists name files that may be absent only if they are
# not listed, so the lists are emptied; the package checksums against Cargo.lock stay.
cd "$work/vendor"
find . -mindepth 2 -maxdepth 2 \( -name tests -o -name benches -o -name examples -o -name ci \
  -o -name .github -o -name doc -o -name 'Cargo.toml.orig' -o -name Cargo.lock \
  -o -name '.cargo_vcs_info.json' -o -name '.gitignore' -o -name 'CHANGELOG*' \
  -o -name '.rustfmt.toml' -o -name 'rustfmt.toml' -o -name '.clippy.toml' -o -name 'clippy.toml' \) \
  -exec rm -rf {} +
# A README may be part of a crate's documentation (include_str!).
for readme in */README*; do
  grep -rqs README --include='*.rs' "${readme%%/*}" || rm -f "$readme"
done
for list in */.cargo-checksum.json; do
  sed -i 's/"files":{.*},"package"/"files":{},"package"/' "$list"
done
cd - >/dev/null

mkdir -p "$out"
tar --sort=name --mtime='2000-01-01 00:00:00Z' --owner=0 --group=0 --numeric-owner \
  --mode='u+rwX,go+rX,go-w' -C "$work" -cf - vendor | xz -9e -T1 > "$out/vendor.tar.xz"
cat > "$out/vendor-config.toml" <<'TOML'
[source.crates-io]
replace-with = "vendored-sources"

[source.vendored-sources]
directory = "vendor"
TOML
echo "$out/vendor.tar.xz: $(find "$work/vendor" -mindepth 1 -maxdepth 1 | wc -l) crates, $(stat -c %s "$out/vendor.tar.xz") bytes"
