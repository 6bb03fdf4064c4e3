#!/usr/bin/env bash
# Packs Debian's R with what it is linked with, {testthat} and this package as installed in .lib, for a machine without
# R and network: unpacked into its / by tools/gpu/check.
#
#   tools/gpu/r-bundle.sh FILE.tar
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
home=$(R RHOME)
[ "$home" = /usr/lib/R ] || { echo "r-bundle.sh: R must be Debian's, in /usr/lib/R, not in $home" >&2; exit 1; }

mkdir -p "$work/usr/lib/R" "$work/usr/bin" "$work/usr/share/R" "$work/etc" "$work/opt/xlaffi-r/lib" "$work/opt/xlaffi-r/library"
cp -a "$home"/bin "$home"/etc "$home"/lib "$home"/modules "$work/usr/lib/R/"
cp -a /usr/bin/R /usr/bin/Rscript "$work/usr/bin/"
cp -a /etc/R "$work/etc/"
cp -a /usr/share/R/include /usr/share/R/share "$work/usr/share/R/"
mkdir "$work/usr/lib/R/library"
Rscript --vanilla - > "$work/packages" <<'EOF'
installed <- installed.packages()
needs <- c("testthat", "bit64", "cli", "rlang", "withr", "jsonlite", "callr")
needs <- unique(c(needs, unlist(tools::package_dependencies(needs, installed, recursive = TRUE))))
base <- rownames(installed.packages(priority = "base"))
cat(file.path(find.package(c(setdiff(needs, base), setdiff(base, c("tcltk", "grid"))))), sep = "\n")
EOF
while read -r folder; do
  case "$folder" in /usr/lib/R/library/*) to=$work/usr/lib/R/library ;; *) to=$work/opt/xlaffi-r/library ;; esac
  cp -aL "$folder" "$to/"
done < "$work/packages"
rm "$work/packages"
cp -a "$root/.lib/xlaffi" "$work/opt/xlaffi-r/library/"
rm -rf "$work"/opt/xlaffi-r/library/*/{help,html,doc,tests,include} "$work"/usr/lib/R/library/*/{help,html,doc,demo,tests}
cp -a "$root/.lib/xlaffi/include" "$work/opt/xlaffi-r/library/xlaffi/"
# Neither windows nor a network.
rm -f "$work"/usr/lib/R/modules/{R_X11,R_de,internet}.so "$work/usr/lib/R/library/grDevices/libs/cairo.so"

# What all this is linked with, but for what any system has and must have one of.
find "$work" -type f \( -name '*.so' -o -name R -path '*exec*' \) -exec ldd {} + 2> /dev/null |
  awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u |
  grep -Ev '^(lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+)\.so|libR\.so|ld-linux)' |
  while read -r name file; do cp -L "$file" "$work/opt/xlaffi-r/lib/$name"; done
find "$work" -type f -name '*.so*' -exec strip --strip-debug {} + 2> /dev/null || true
tar -C "$work" -cf "$out" usr etc opt
