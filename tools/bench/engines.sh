#!/usr/bin/env bash
# Our handlers beside faer and LAPACK libraries on one thread (engines/): writes results-engines.md.
# Extra arguments pick rows, or --alone; nothing is written then.
set -euo pipefail
cd "$(dirname "$0")"
export OPENBLAS_NUM_THREADS=1
peers=()
# The OpenBLAS of jaxlib's SciPy.
openblas=$("$XLAFFI_PYTHON" -c '
import glob, importlib.util as u, os
for name in ("scipy_openblas32", "scipy"):
    spec = u.find_spec(name)
    if spec:
        top = os.path.dirname(spec.origin)
        for found in glob.glob(top + "/lib/libscipy_openblas.so") + glob.glob(top + ".libs/libscipy_openblas-*.so"):
            print(found)
            raise SystemExit
')
[ -z "$openblas" ] || peers+=("OpenBLAS=$openblas:scipy_")
peers+=("reference=/usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3")
out=()
[ $# -gt 0 ] || out=(--out "$PWD/results-engines.md")
cargo run --quiet --release --manifest-path engines/Cargo.toml -- "${peers[@]}" "${out[@]}" "$@"
