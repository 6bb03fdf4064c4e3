# shellcheck shell=bash
# shellcheck disable=SC2034 # What sources it uses the variables.
# What the parts of tools/cross.sh share; sourced in the repository's root.

cross=$PWD/target/cross
results=$cross/results
# Debian's packages for this machine that it lacks, unpacked.
tools_root=$cross/tools
arm64_root=$cross/arm64
export WINEPREFIX=$cross/wine
export CARGO_TARGET_DIR=$cross/build
export PATH="$cross/bin:$PATH:$HOME/.cargo/bin:$tools_root/usr/bin"
libraries=$tools_root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# The tests' profile, in which lanes are optimised, without what debuggers want: builds take most of the time.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0
manifest=(--manifest-path "$PWD/src/rust/Cargo.toml")

say() { printf 'cross: %s\n' "$*"; }
die() {
  printf 'cross: %s\n' "$*" >&2
  exit 1
}

# record TARGET CRATE PASSED FAILED SKIPPED: a line of the table.
record() {
  local IFS=$'\t'
  printf '%s\n' "$*" >> "$results/$1.tsv"
}

# check TARGET WHAT COMMAND...: a line of the table for a command that succeeds or does not.
check() {
  local target=$1 what=$2
  shift 2
  if "$@"; then record "$target" "$what" 1 0 0; else record "$target" "$what" 0 1 0; fi
}

# tests TARGET WHAT COMMAND...: a line for what cargo's tests say. A test binary that ends without a result counts as
# one that failed, and so does a command that fails without saying which test did.
tests() {
  local target=$1 what=$2 log status ok bad skip started ended
  shift 2
  say "$target: $what"
  log=$results/$target-${what//[^a-zA-Z0-9]/-}.log
  "$@" > "$log" 2>&1
  status=$?
  read -r ok bad skip < <(sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored;.*/\1 \2 \3/p' "$log" |
    awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
  started=$(grep -cE '^ +(Running|Doc-tests) ' "$log")
  ended=$(grep -cE '^test result: ' "$log")
  [ "$started" -le "$ended" ] || bad=$((bad + started - ended))
  if [ "$status" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
  if [ "$bad" != 0 ]; then
    grep -E '^(error|test .* FAILED|---- |failures:|.*panicked at)' -A 3 "$log" | head -n 60
  fi
  record "$target" "$what" "$ok" "$bad" "$skip"
}

# A path as Windows' programs know it.
windows_path() { printf 'Z:%s' "${1//\//\\}"; }

# The first of these files that is there.
first_of() {
  local file
  for file in "$@"; do
    if [ -e "$file" ]; then
      printf '%s\n' "$file"
      return
    fi
  done
  return 1
}

# with NAME=VALUE COMMAND...: the command, which may be a function, with a variable.
with() {
  (
    export "${1?}"
    shift
    "$@"
  )
}

# each_alone TARGET BINARY: every test of a Windows binary in a process of its own; one that ends without a result is
# run once more, as jaxlib itself ends so now and then under Wine.
each_alone() {
  local target=$1 binary=$2 what name log ok=0 bad=0 skip=0 again=0
  what=plugin:$(basename "$binary" | sed 's/-[0-9a-f]*\.exe$//')
  log=$results/$target-${what//[^a-zA-Z0-9]/-}.log
  while read -r name; do
    outcome=$(alone "$binary" "$name" "$log")
    if [ -z "$outcome" ]; then
      again=$((again + 1))
      outcome=$(alone "$binary" "$name" "$log")
    fi
    case "$outcome" in
      *' 1 passed; 0 failed; 0 ignored;'*) ok=$((ok + 1)) ;;
      *' 1 ignored;'*) skip=$((skip + 1)) ;;
      *)
        bad=$((bad + 1))
        say "$what: $name ${outcome:-ended without a result, twice}"
        ;;
    esac
  done < <(CROSS_SECONDS=300 tools/cross/wine.sh "$binary" --list --format terse | tr -d '\r' | sed -n 's/: test$//p')
  [ $again = 0 ] || say "$what: $again of $((ok + bad + skip)) tests ended without a result the first time"
  record "$target" "$what" $ok $bad $skip
}

alone() { # alone BINARY TEST LOG: the result's line
  CROSS_SECONDS=300 tools/cross/wine.sh "$1" --exact "$2" --nocapture < /dev/null | tee -a "$3" | tr -d '\r' | sed -n 's/^test result: //p'
}

# no_fma NM FOLDER: whether the machine code of lanes and ops calls no fma of the C library.
no_fma() {
  local nm=$1 calls
  calls=$(find "$2/deps" \( -name 'liblanes-*.rlib' -o -name 'libops-*.rlib' \) -exec "$nm" --undefined-only {} + 2>/dev/null | grep -E ' fmaf?$')
  [ -z "$calls" ] || { echo "$calls"; return 1; }
}

# What a Windows library exports.
dll_exports() {
  x86_64-w64-mingw32-objdump -p "$1" | sed -n '/Ordinal\/Name Pointer/,/^$/s/.* \([A-Za-z_][A-Za-z_0-9]*\)$/\1/p'
}
