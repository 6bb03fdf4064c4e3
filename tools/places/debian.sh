#!/usr/bin/env bash
# All tests in another Debian: see tools/places.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/places/root.sh
. tools/places/root.sh
made
renewed
enter bash -c '
  set -e
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends make git >/dev/null
  tools/setup.sh test
  R --version | head -n 1
  rustc --version
  .venv/bin/python --version
  tools/test.sh "$@"
' debian "$@"
