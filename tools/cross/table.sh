#!/usr/bin/env bash
# Prints the table of tools/cross.sh from what its parts recorded; fails if something failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/cross/common.sh
. tools/cross/common.sh

sed "s#^\\([^ ]*\\) \\([^ ]*\\) \\([^ ]*\\) #left out on \\1, of \\2: \\3, as #" tools/cross/left-out.txt
cat "$results"/*.tsv 2>/dev/null | awk -F '\t' '
  BEGIN { form = "%-8s %-40s %7s %7s %8s\n"; printf form, "target", "crate", "passed", "failed", "skipped" }
  { printf form, $1, $2, $3, $4, $5; passed += $3; failed += $4; skipped += $5 }
  END {
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed > 0
  }'
