#!/usr/bin/env bash
# Links a Windows program with R's BLAS and LAPACK, as the package is: they are loaded with it.
exec x86_64-w64-mingw32-gcc "$@" -Wl,-u,dgetrf_ -Wl,-u,dtrsm_ -L"$CROSS_R" -lRlapack -lRblas
