#!/usr/bin/env bash
# Adds a package to a repository that install.packages() takes, as r-universe lays them out: its sources, and a binary
# for this Linux and this R, which needs no compiler where it is installed.
#
#   tools/repository.sh FOLDER [TARBALL]     without TARBALL that of tools/build.sh; its address is the last line
#
#   FOLDER/src/contrib                                     sources
#   FOLDER/bin/linux/bookworm-x86_64/4.2/src/contrib       binaries of that system and that R, which R takes for sources
#
# So `repos` is FOLDER for sources and FOLDER/bin/linux/... for binaries, with file:// or where the folder is published.
# What stands there of other systems and versions stays.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -gt 1 ]; then
  tarball=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
else
  "$here/build.sh" "$work" | tee "$work/log"
  tarball=$(tail -n 1 "$work/log")
fi
package=$(basename "$tarball" | sed 's/_.*//')

# shellcheck source=/dev/null
system=$(. /etc/os-release && echo "${VERSION_CODENAME:-$ID$VERSION_ID}")-$(uname -m)
# shellcheck disable=SC2016
version=$(Rscript --vanilla -e 'cat(R.version$major, sub("[.].*", "", R.version$minor), sep = ".")')
sources=$out/src/contrib
binaries=$out/bin/linux/$system/$version/src/contrib
mkdir -p "$sources" "$binaries" "$work/library" "$work/built"

# The build of a tarball is the one without a network.
(cd "$work/built" && env -u NOT_CRAN -u CARGO_TARGET_DIR R CMD INSTALL --build --library="$work/library" "$tarball")
rm -f "$sources/${package}"_*.tar.gz "$binaries/${package}"_*.tar.gz
cp "$tarball" "$sources/"
# install.packages() looks for a source's name, and R CMD INSTALL sees that there is a binary in it.
cp "$work"/built/*.tar.gz "$binaries/$(basename "$tarball")"
Rscript --vanilla -e 'for (folder in commandArgs(TRUE)) tools::write_PACKAGES(folder, type = "source", verbose = FALSE)' \
  "$sources" "$binaries"
echo "file://${binaries%/src/contrib}"
