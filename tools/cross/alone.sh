#!/usr/bin/env bash
# Runs one test of a program in a process of its own:
#
#   tools/cross/alone.sh RUNNER PROGRAM FOLDER TEST
#
# Prints the test's name and "ok", "FAILED" or "ignored". A test that ends without a result is run once more; what the
# first run said is FOLDER/TEST.first then. Twice without a result is a failure.
set -uo pipefail
runner=$1 program=$2 folder=$3 name=$4
log=$folder/$name.log
for try in 1 2; do
  CROSS_SECONDS=120 "$runner" "$program" --exact "$name" --nocapture < /dev/null 2>&1 | tr -d '\r' > "$log"
  case "$(sed -n 's/^test result: //p' "$log")" in
    *' 1 passed; 0 failed; 0 ignored;'*) outcome=ok ;;
    *' 1 ignored;'*) outcome=ignored ;;
    '') outcome= ;;
    *) outcome=FAILED ;;
  esac
  [ -z "$outcome" ] || break
  [ $try = 2 ] || mv "$log" "$folder/$name.first"
done
printf '%s %s\n' "$name" "${outcome:-FAILED}"
