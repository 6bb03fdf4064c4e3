#!/usr/bin/env bash
# R's own BLAS and LAPACK as R for Windows has them, Rblas.dll and Rlapack.dll with import libraries:
#
#   tools/cross/r-lapack.sh SOURCES FOLDER      SOURCES: src/ of R's sources
set -euo pipefail
sources=$(cd "$1" && pwd)
folder=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# R's error handler, which Rblas.dll takes from R itself.
echo 'void xerbla_(char *name, int *info, long length) { (void) name, (void) info, (void) length; __builtin_trap(); }' > xerbla.c
x86_64-w64-mingw32-gcc -O2 -c xerbla.c

# compile FOLDER FILE...: those that this version of R has.
compile() {
  local from=$1 file
  shift
  for file; do
    [ ! -e "$from/$file" ] || x86_64-w64-mingw32-gfortran -O2 -c "$from/$file" -o "${file%.*}.o"
  done
}
link() { # link NAME OBJECT...
  x86_64-w64-mingw32-gfortran -shared -static -o "$folder/$1.dll" "${@:2}" \
    -Wl,--export-all-symbols -Wl,--exclude-libs,ALL -Wl,--out-implib,"$folder/lib$1.dll.a"
}

blas=(blas blas2 cmplxblas cmplxblas2)
compile "$sources/extra/blas" "${blas[@]/%/.f}" "${blas[@]/%/.f90}"
objects=()
for name in "${blas[@]}"; do [ ! -e "$name.o" ] || objects+=("$name.o"); done
link Rblas xerbla.o "${objects[@]}"

lapack=(la_constants la_xisnan dlamch dlapack dlapack2 cmplx cmplx2 dlartg zlartg)
compile "$sources/modules/lapack" {la_constants,la_xisnan,la_constants-dlartg}.f90 {dlamch,dlapack,dlapack2,cmplx,cmplx2}.f {dlapack,dlapack2,cmplx,cmplx2,dlartg,zlartg,dlassq,zlassq}.f90
objects=()
for name in "${lapack[@]}" la_constants-dlartg dlassq zlassq; do [ ! -e "$name.o" ] || objects+=("$name.o"); done
link Rlapack "${objects[@]}" "$folder/libRblas.dll.a"
