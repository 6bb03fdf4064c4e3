#!/usr/bin/env bash
# Runs a command with the package of .lib and the Python of .venv in reach, unless the
# caller chose a Python with XLAFFI_PYTHON.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export R_LIBS="$root/.lib${R_LIBS:+:$R_LIBS}"
export XLAFFI_PYTHON="${XLAFFI_PYTHON:-$root/.venv/bin/python}"
export PATH="$PATH:$HOME/.cargo/bin"
exec "$@"
