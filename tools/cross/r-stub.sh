#!/usr/bin/env bash
# An import library of R for Windows, and an R.dll that has its symbols and does nothing, from the R that is here:
#
#   tools/cross/r-stub.sh FOLDER
set -euo pipefail
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

nm -D --defined-only "$(R RHOME)/lib/libR.so" | awk '
  $3 !~ /^(R|Rf|SET|INTEGER|REAL|[A-Za-z])[A-Za-z0-9_]*$/ || $3 ~ /^(main|_init|_fini)$/ { next }
  $2 == "T" { print $3 > "functions" }
  $2 ~ /^[BDR]$/ { print $3 > "variables" }'
{
  echo EXPORTS
  cat functions
  sed 's/$/ DATA/' variables
} > R.def
{
  echo .text
  sed 's/.*/.globl &\n&:/' functions
  printf 'ud2\n.data\n'
  sed 's/.*/.globl &\n&: .quad 0/' variables
} > R.s
x86_64-w64-mingw32-gcc -shared -nostdlib -Wl,--entry=0 -o "$folder/R.dll" R.s R.def -Wl,--out-implib,"$folder/libR.dll.a"
