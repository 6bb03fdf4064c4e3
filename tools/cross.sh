#!/usr/bin/env bash
# Builds and tests xlaffi for systems other than this one, on a Debian of x86-64:
#
#   tools/cross.sh [setup|windows|arm64|macos]...      all without an argument; make cross
#
# setup    installs what the others need into target/cross, and nothing where it is there; each of the others
#          begins with its own part of it
# windows  crates under Wine: ops on R's own LAPACK and on OpenBLAS, the host, the plugin on Windows' jaxlib;
#          xlaffi.dll, its exports, and that it loads
# arm64    crates under QEMU; the package in an R for arm64, in a namespace of its own
# macos    everything compiled, xlaffi.so linked, its exports; nothing can be run
#
# They run beside each other. The last thing it prints is a table; it fails if something failed. tools/cross.md has what
# was measured, and what only a machine of such a system can show.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tools/cross/common.sh
. tools/cross/common.sh

all=(windows arm64 macos)
parts=()
for part in "${@:-all}"; do
  case "$part" in
    setup | windows | arm64 | macos) parts+=("$part") ;;
    all) parts+=("${all[@]}") ;;
    *) die "unknown part '$part': setup, windows, arm64 or macos" ;;
  esac
done

# run PART: what it records, whatever becomes of it.
run() {
  local began=$SECONDS
  "tools/cross/$1.sh" || record "$1" "the rest of it" 0 1 0
  say "$1 took $((SECONDS - began)) s"
}

rm -rf "$results"
mkdir -p "$results"
running=()
# Each has a group of processes of its own, so that nothing outlives an interrupt.
set -m
trap 'kill -- "${running[@]/#/-}" 2>/dev/null; exit 130' INT TERM
for part in "${parts[@]}"; do
  if [ "$part" = setup ]; then
    tools/cross/setup.sh "${all[@]}" || die "set-up failed"
  elif tools/cross/setup.sh "$part"; then
    # Beside each other: much of each is waiting for one process.
    run "$part" < /dev/null &
    running+=($!)
  else
    record "$part" "set-up" 0 1 0
  fi
done
[ ${#running[@]} = 0 ] || wait "${running[@]}"
exec tools/cross/table.sh
