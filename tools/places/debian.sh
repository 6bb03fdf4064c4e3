#!/usr/bin/env bash
# All tests in another Debian: see tools/places.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/places/root.sh
. tools/places/root.sh
prepared git
enter bash -c '
  set -e
  R --version | head -n 1
  rustc --version
  .venv/bin/python --version
  tools/test.sh --all "$@"
' debian "$@"
