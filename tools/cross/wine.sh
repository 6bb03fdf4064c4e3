#!/usr/bin/env bash
# Runs a Windows program: cargo's runner for tests. Wine needs pipes for its standard streams, and a program that it
# cannot end is ended after CROSS_SECONDS (900). With --stay a shell, which ends when its standard input does.
set -uo pipefail
# Of Microsoft's libraries those that tools/cross/setup.sh brings.
native='vcruntime140,vcruntime140_1,msvcp140,msvcp140_1,msvcp140_2,msvcp140_atomic_wait,concrt140=n,b'
export WINEDEBUG=${WINEDEBUG:--all} WINEDLLOVERRIDES="mscoree,mshtml,winedbg.exe=d;$native"
if [ "${1:-}" = --stay ]; then
  exec wine64 cmd > /dev/null 2>&1
fi
echo | timeout --kill-after=5 "${CROSS_SECONDS:-900}" wine64 "$@" 2>&1 | cat
exit "${PIPESTATUS[1]}"
