#!/usr/bin/env bash
# R CMD check --as-cran on the built tarball. Fails on any error or warning, on any note but
# that the package is new, that something could not be looked up offline or that it is large (with
# a bound, in check_log.py), on a tarball of 4.5 MB or more (a fourth of it are the sources of other people's crates,
# another one R code and tests), and on an installed shared object with debug info or stray exports; where a registry
# would not take the crate xla-ffi; and where a package that ffi_use_c() or ffi_use_rust() writes does not pass.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
export XLAFFI_PYTHON="${XLAFFI_PYTHON:-$root/.venv/bin/python}"
export PATH="$PATH:$HOME/.cargo/bin"
limit=4500000
out=$root/target/check
problems=()

rm -rf "$out"
mkdir -p "$out"
tools/build.sh "$out" | tee "$out/build.log" || exit 1
tarball=$(tail -n 1 "$out/build.log")
[ -f "$tarball" ] || { echo "check: no tarball" >&2; exit 1; }
size=$(stat -c %s "$tarball")
[ "$size" -lt "$limit" ] || problems+=("the tarball has $size bytes, $limit are allowed")
for file in src/rust/vendor.tar.xz src/rust/vendor-config.toml src/rust/Cargo.lock inst/AUTHORS; do
  tar -tzf "$tarball" "xlaffi/$file" >/dev/null 2>&1 || problems+=("$file is not in the tarball")
done

# The check must pass as on CRAN: no developer's settings, no crate from this machine, and nothing written to the home of
# the user. CRAN wants it done in ten minutes on two cores. Other work on the machine makes the time on the clock longer,
# work on both cores that of the processors: the smaller one counts.
manual=()
command -v pdflatex >/dev/null || manual=(--no-manual)
home=$out/home
mkdir "$home"
TIMEFORMAT='%0R %0U %0S'
{
  time (cd "$out" && env -u NOT_CRAN -u CARGO_TARGET_DIR -u R_LIBS \
    HOME="$home" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" \
    _R_CHECK_FORCE_SUGGESTS_=false _R_CHECK_TIMINGS_=0 R CMD check --as-cran "${manual[@]}" "$tarball" 2>&1)
} 2>"$out/time"
read -r elapsed user system <"$out/time"
processors=$((user + system))
echo "R CMD check: $elapsed s, $processors s of processors"
[ "$elapsed" -lt 600 ] || [ "$processors" -lt 600 ] ||
  problems+=("R CMD check takes $elapsed s, and $processors s of processors; 600 s are allowed")
left=$(find "$home" -mindepth 1 -maxdepth 1 -printf '%f ')
[ -z "$left" ] || problems+=("the check leaves in the user's home: $left")

log=$out/xlaffi.Rcheck/00check.log
mapfile -t found < <(python3 tools/check_log.py "$log" 2>&1)
problems+=("${found[@]}")

# The crate for authors of handlers, as a registry would take it.
(cd "$root" && cargo publish --dry-run -p xla-ffi --allow-dirty --all-features --manifest-path src/rust/Cargo.toml) ||
  problems+=("cargo publish --dry-run of xla-ffi fails")

object=$out/xlaffi.Rcheck/xlaffi/libs/xlaffi.so
if [ -f "$object" ]; then
  ! readelf -S "$object" | grep -q '\.debug_info' || problems+=("xlaffi.so has debug info")
  exports=$(nm -D --defined-only "$object" | awk '{ print $3 }' | grep -v '^R_unload_xlaffi$' | sort | tr '\n' ' ')
  [ "$exports" = "GetPjrtApi R_init_xlaffi " ] || problems+=("xlaffi.so exports $exports")
  echo "tarball: $size bytes, xlaffi.so: $(stat -c %s "$object") bytes"
else
  problems+=("the check installed no xlaffi.so")
fi

# The packages that this one writes, checked with what the check installed.
for language in c rust; do
  (cd "$out" && export R_LIBS="$out/xlaffi.Rcheck" &&
    Rscript -e "suppressMessages(xlaffi::ffi_use_$language('own$language'))" &&
    R CMD build "own$language" && R CMD check --no-manual "own${language}_0.1.0.tar.gz")
  grep -q '^Status: OK' "$out/own$language.Rcheck/00check.log" ||
    problems+=("the package that ffi_use_$language() writes does not pass R CMD check")
done

for problem in ${problems[@]+"${problems[@]}"}; do
  [ -z "$problem" ] || echo "check: $problem" >&2
done
[ -z "${problems[*]}" ] && echo "check: clean"
