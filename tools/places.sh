#!/usr/bin/env bash
# Runs the package in places where `make test` does not run it. Each ends with a line of its own for what passed and
# failed, and with status 0 where all did. None is part of `make test`.
#
#   tools/places.sh jaxlib VERSION PYTHON [FILTER]   the R suite and the plugin's tests with that jaxlib, in an
#                                                    environment of that Python, which has a shared libpython
#   tools/places.sh plugin [FILTER]                  the R suite on the CPU plugin that needs no Python
#   tools/places.sh bare                             the demo in a Debian with R and neither Python nor compilers (root)
#   tools/places.sh repository FOLDER                the package from that repository (tools/repository.sh) in such a
#                                                    Debian, by install.packages(), in 20 seconds at most (root)
#   tools/places.sh cran FOLDER                      there: tests, examples and vignettes without plugin and network (root)
#   tools/places.sh debian [FILTER]                  all tests in Debian testing with its newest R, Rust and Python (root)
#   tools/places.sh arrow                            there: parts of data from the packages arrow and nanoarrow (root)
#   tools/places.sh launchers                        there: processes started by Slurm, Open MPI and MPICH (root)
#   tools/places.sh mirai LIBRARY                    processes started by the R package mirai, installed in that library
#   tools/places.sh machines                         processes on two machines, for which network namespaces stand in,
#                                                    also where the wire between them is cut (root)
#
# What is made for it lies in target/places (XLAFFI_PLACES): an environment takes 0.8 GB, Debian 4 GB.
# XLAFFI_SUITE=sid takes another Debian than testing.
set -euo pipefail
cd "$(dirname "$0")/.."
export XLAFFI_PLACES=${XLAFFI_PLACES:-$PWD/target/places}

place=${1:-}
case "$place" in
  jaxlib | plugin | bare | repository | cran | debian | arrow | launchers | mirai | machines)
    shift
    exec "tools/places/$place.sh" "$@" ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2 ;;
esac
