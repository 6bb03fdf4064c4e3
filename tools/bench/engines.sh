#!/usr/bin/env bash
# Our handlers beside faer and LAPACK libraries on one thread (engines/): writes results-engines.md.
# Extra arguments pick rows, or --alone; nothing is written then.
set -euo pipefail
cd "$(dirname "$0")"
export OPENBLAS_NUM_THREADS=1
# Within R the plugin tells where jaxlib is, beside which the handlers' LAPACK lies; here nobody does.
if [ -z "${XLAFFI_LAPACK:-}" ]; then
  XLAFFI_LAPACK=$("$XLAFFI_PYTHON" -c '
import pathlib, scipy_openblas32
print(next(pathlib.Path(scipy_openblas32.get_lib_dir()).glob("libscipy_openblas.*")))
')
  export XLAFFI_LAPACK
fi
peers=()
reference=/usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3
[ ! -e "$reference" ] || peers+=("reference=$reference")
out=()
[ $# -gt 0 ] || out=(--out "$PWD/results-engines.md")
cargo run --quiet --release --manifest-path engines/Cargo.toml -- ${peers[@]+"${peers[@]}"} ${out[@]+"${out[@]}"} "$@"
