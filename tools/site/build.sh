#!/usr/bin/env bash
# The site in target/site, with the package in .lib: pkgdown's pages, the cheat sheet, and then what a reader would
# stumble over (tools/site/check.py). Needs no network.
set -euo pipefail
cd "$(dirname "$0")/../.."
site=$PWD/target/site

rm -rf "$site"
mkdir -p target
tools/with-env.sh Rscript tools/site/build.R "$site"
tools/site/cheatsheet.sh "$site"
python3 tools/site/check.py "$site"
echo "$site/index.html"
