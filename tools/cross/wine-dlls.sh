#!/usr/bin/env bash
# What Wine 8 lacks of Windows 10, made for its folder of libraries:
#
#   tools/cross/wine-dlls.sh FOLDER PACKAGES
#
# bcryptprimitives.dll: random numbers for Rust's standard library. c99-ms-win-crt-math-l1-1-0.dll: the functions of C99
# for complex numbers, which numpy among the packages calls; the others are passed on to Wine's.
set -euo pipefail
folder=$(cd "$1" && pwd)
packages=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat > random.c <<'C'
unsigned char SystemFunction036(void *, unsigned long);
int ProcessPrng(unsigned char *buffer, unsigned long long size) {
  while (size) {
    unsigned long part = size < 1 << 20 ? size : 1 << 20;
    if (!SystemFunction036(buffer, part)) return 0;
    buffer += part;
    size -= part;
  }
  return 1;
}
C
x86_64-w64-mingw32-gcc -O2 -shared -static -o "$folder/bcryptprimitives.dll" random.c -ladvapi32

# Wine has ucrtbase.dll for whoever asks for api-ms-win-crt-math-l1-1-0.dll, so that the packages are told of another name.
asked=api-ms-win-crt-math-l1-1-0.dll
given=c99-ms-win-crt-math-l1-1-0.dll
mapfile -t files < <(grep -rlE "$asked|$given" --include='*.pyd' --include='*.dll' "$packages")
sed -i "s/$asked/$given/g" "${files[@]}"
complex='^c(abs|a?(cos|sin|tan)h?|arg|exp|imag|log|pow|proj|real|sqrt)[fl]?$|^conj[fl]?$'
for file in "${files[@]}"; do
  x86_64-w64-mingw32-objdump -p "$file" |
    awk -v dll="$given" '/DLL Name:/ { found = $3 == dll } found && $1 ~ /^[0-9a-f]+$/ && NF == 3 { print $3 }'
done | sort -u > names
{
  echo EXPORTS
  # Their long double is a double.
  grep -E "$complex" names | sed '/^creal$/!s/^\(.*\)l$/\1l = \1/'
  grep -vE "$complex" names | sed 's/.*/& = ucrtbase.&/'
} > math.def
x86_64-w64-mingw32-gcc -shared -static -o "$folder/$given" math.def -lmingwex
