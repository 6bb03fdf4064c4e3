# shellcheck shell=bash
# What the scripts of this folder share: an environment for R with our package, of XLAFFI_LIBRARY or, without it, of .lib
# (tools/install.sh), and a Python for it.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
ours=${XLAFFI_LIBRARY:-$root/.lib}
export XLAFFI_PYTHON="${XLAFFI_PYTHON:-$root/.venv/bin/python}"
export XLAFFI_TOOLS="$root/tools/peers"

# Finds the packages of this library before ours.
peers_library() {
  local library
  library=$(cd "$1" && pwd)
  export R_LIBS="$library:$ours${R_LIBS:+:$R_LIBS}"
}

# pjrt uses our CPU plugin, unless the caller chose one.
on_our_plugin() {
  export PJRT_PLUGIN_PATH_CPU="${PJRT_PLUGIN_PATH_CPU:-$ours/xlaffi/libs/xlaffi.so}"
}
