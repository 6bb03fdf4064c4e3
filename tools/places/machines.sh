#!/usr/bin/env bash
# Processes on two machines: see tools/places.sh. First they compute together, and listen at the machines' addresses only.
# Then the wire is cut while they exchange data: both must get an error that says who is gone, and not hang.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/install.sh .lib --no-docs
# shellcheck source=tools/places/two.sh
. tools/places/two.sh

start() { # NUMBER PORT SCENE...: one of the two
  local number=$1 at=10.77.0.1:$2 status=0
  shift 2
  machine "node$((number + 1))" timeout 120 tools/with-env.sh Rscript tools/places/process.R "$@" "$at" 2 "$number" \
    >"$work/$number" 2>&1 || status=$?
  echo "status $status" >>"$work/$number"
}

failed=0
verdict() { # WHAT
  local number outcome=passed
  for number in 0 1; do
    [ "$(tail -n 2 "$work/$number")" = $'ok\nstatus 0' ] || outcome=failed
    sed "s/^/  $number: /" "$work/$number"
  done
  echo "machines, $1: $outcome"
  [ $outcome = passed ] || failed=1
}

start 0 29501 together & first=$!
start 1 29501 together & second=$!
wait $first $second
verdict together

start 0 29502 cut "$work/ready-0" & first=$!
start 1 29502 cut "$work/ready-1" & second=$!
for _ in $(seq 900); do
  [ ! -e "$work/ready-0" ] || [ ! -e "$work/ready-1" ] || break
  sleep 0.1
done
sleep 0.3
wire down
cut=$SECONDS
wait $first $second
verdict "the wire cut, both through after $((SECONDS - cut)) s"
exit $failed
