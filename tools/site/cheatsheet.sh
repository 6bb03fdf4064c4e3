#!/usr/bin/env bash
# The cheat sheet as a page and as a PDF of one A4 sheet, from tools/site/cheatsheet.Rmd. Its code is run.
#
#   tools/site/cheatsheet.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mkdir -p "$1" && cd "$1" && pwd)
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT

tools/with-env.sh Rscript -e 'args <- commandArgs(TRUE)
rmarkdown::render("tools/site/cheatsheet.Rmd", output_dir = args[[1]], intermediates_dir = args[[2]], quiet = TRUE)' \
  "$folder" "$profile"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
"$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$profile" --no-pdf-header-footer \
  --print-to-pdf="$folder/cheatsheet.pdf" "file://$folder/cheatsheet.html" 2>"$profile/log" ||
  { cat "$profile/log" >&2; exit 1; }

pages=$(python3 - "$folder/cheatsheet.pdf" <<'PY'
import re, sys
with open(sys.argv[1], "rb") as file:
    print(len(re.findall(rb"/Type\s*/Page\b", file.read())))
PY
)
[ "$pages" = 1 ] || { echo "the cheat sheet has $pages pages, not one" >&2; exit 1; }
