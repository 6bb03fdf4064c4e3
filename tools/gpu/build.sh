#!/usr/bin/env bash
# Builds what tools/gpu/check needs on a machine without Rust, R or network: the ops library, our own host as
# a program, and the tests of its buffers, linked with the C library alone; its version is told, for the machine must have
# that or a newer one. Where `tools/install.sh --tests .lib` has installed the package, R and the package, too. FOLDER.tar.xz
# has all of it, to travel.
#
#   tools/gpu/build.sh [FOLDER]     default .gpu
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/.gpu}
export PATH="$PATH:$HOME/.cargo/bin"
manifest="$root/src/rust/Cargo.toml"
target=${CARGO_TARGET_DIR:-$root/src/rust/target}

library=$("$root/tools/ops-lib/build.sh" | tail -n 1)
cargo build --release --manifest-path "$manifest" -p ops-lib --example host >&2
buffers=$(cargo test --release --manifest-path "$manifest" -p pjrt --test xla --no-run 2>&1 | tee /dev/stderr |
  sed -n 's/.*Executable .*(\(.*\))$/\1/p')

rm -rf "$out"
mkdir -p "$out"
cp "$library" "$out/libxlaffi_ops.so"
cp "$target/release/examples/host" "$out/host"
cp "$buffers" "$out/buffers"
for file in "$out"/*; do
  strip --strip-debug "$file"
  others=$(ldd "$file" | awk '{ print $1 }' | grep -Ev '^(linux-vdso|lib(c|m|gcc_s|dl|pthread|rt))\.so|/ld-linux' || true)
  [ -z "$others" ] || { echo "build.sh: $file is linked with $others" >&2; exit 1; }
done
if command -v R > /dev/null && [ -d "$root/.lib/xlaffi" ]; then
  "$root/tools/gpu/r-bundle.sh" "$out/r.tar"
else
  echo "no R or nothing installed in .lib: the parts r and suite are left out" >&2
fi
needed=$(objdump -T "$out"/{libxlaffi_ops.so,host,buffers} | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
echo "needs $needed" >&2
XZ_OPT="-6 -T0" tar -C "$(dirname "$out")" -cJf "$out.tar.xz" "$(basename "$out")"
du -sh "$out" "$out.tar.xz" >&2
printf '%s\n' "$out"
