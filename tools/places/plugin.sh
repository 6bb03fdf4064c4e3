#!/usr/bin/env bash
# The R suite on the CPU plugin that needs no Python: see tools/places.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
filter=${1:-}
tools/install.sh .lib --no-docs

# The plugin is installed as a user does it, in a folder of its own. Python stays in reach for the tests that run JAX
# beside R, or need it as a tool.
home=$XLAFFI_PLACES/plugin
mkdir -p "$home"
export R_USER_CACHE_DIR=$home
tools/with-env.sh Rscript -e 'xlaffi::install_pjrt("plugin")'
PJRT_PLUGIN_PATH_CPU=$(tools/with-env.sh Rscript -e 'cat(xlaffi:::plugin_found("cpu"))')
export PJRT_PLUGIN_PATH_CPU PATH="$PATH:$HOME/.cargo/bin"
failed=0
result=$(mktemp)
trap 'rm -f "$result"' EXIT
tools/with-env.sh Rscript tools/test.R tests/testthat "$result" "$filter" all || failed=1
read -r ok bad skip <"$result" || { ok=0 bad=1 skip=0; }
echo "plugin without Python: $ok passed, $bad failed, $skip skipped$([ $failed = 0 ] || echo '; see above')"
[ $failed = 0 ] && [ "$bad" = 0 ]
