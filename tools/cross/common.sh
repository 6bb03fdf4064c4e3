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

# The tests' profile without what debuggers want, and somewhat optimised: it is emulated, and calls of fused multiply-add
# become instructions as in a release.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_OPT_LEVEL=1
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

# compile TARGET TRIPLE: all tests but the package's own, of which $results/TARGET.programs has a list. A warning counts as a failure.
compile() {
  local target=$1 log=$results/$1-compile.log ok=1
  say "$target: tests are compiled"
  cargo test --no-run --target "$2" "${manifest[@]}" --workspace --exclude xlaffi --lib --tests \
    --message-format=json-render-diagnostics 2> "$log" | python3 tools/cross/programs.py > "$results/$target.programs" || ok=0
  ! grep -qE '^(warning|error)' "$log" || ok=0
  [ $ok = 1 ] || grep -E '^(warning|error)' -A 8 "$log" | head -n 60
  record "$target" "all tests compile, without warnings" $ok $((1 - ok)) 0
}

# programs TARGET CRATE[:TEST]...: those programs: crate, test and file.
programs() {
  local target=$1 of found
  shift
  for of; do
    found=$(awk -F '\t' -v of="$of" '$1 == of || $1 ":" $2 == of' "$results/$target.programs")
    if [ -n "$found" ]; then printf '%s\n' "$found"; else printf '%s\tnot compiled\t\n' "$of"; fi
  done
}

# tests TARGET WHAT CRATE[:TEST]...: a line for what those programs say, which run under $runner. A program that ends
# without a result counts as a test that failed; a test that is left out, as skipped.
tests() {
  local target=$1 what=$2 log crate test program out ok=0 bad=0 skip=0 began=$SECONDS status passed failed skipped
  shift 2
  log=$results/$target-${what//[^a-zA-Z0-9]/-}.log
  : > "$log"
  while IFS=$'\t' read -r -u 4 crate test program; do
    mapfile -t out < <(left_out "$target" "$crate" "$test")
    # Of a program of which all is left out, the tests are counted.
    if [ "${out[*]}" = '*' ]; then
      skip=$((skip + $("${runner:?}" "$program" --list --format terse < /dev/null | grep -c ': test')))
      continue
    fi
    (cd "src/rust/crates/$crate" && "${runner:?}" "$program" "${out[@]/#/--skip=}") < /dev/null > "$log.one" 2>&1
    status=$?
    passed=0 failed=0 skipped=0
    read -r passed failed skipped < <(outcome "$log.one")
    if [ $status != 0 ] && [ "${failed:-0}" = 0 ]; then failed=1; fi
    ok=$((ok + passed)) bad=$((bad + failed)) skip=$((skip + skipped))
    if [ "$failed" != 0 ]; then
      say "$target: $what: $crate, $test: ended with $status"
      { grep -E '^test .* FAILED' "$log.one"; grep 'panicked at' -A 1 "$log.one"; } | cut -c 1-300 | head -n 60
    fi
    { printf '\n%s\n' "$crate, $test" && cat "$log.one"; } >> "$log"
  done 4< <(programs "$target" "$@")
  rm -f "$log.one"
  say "$target: $what: $ok passed, $bad failed, $skip skipped, $((SECONDS - began)) s"
  record "$target" "$what" "$ok" "$bad" "$skip"
}

# outcome LOG: how many tests passed, failed, were skipped, if the log has a result.
outcome() {
  tr -d '\r' < "$1" |
    sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored; .* \([0-9]*\) filtered.*/\1 \2 \3 \4/p' |
    awk '{ print $1, $2, $3 + $4 }' | grep . || echo 0 0 0
}

# left_out TARGET CRATE TEST: what is left out of a program there: parts of tests' names, or * for all of it;
# tools/cross/left-out.txt says why.
left_out() {
  awk -v target="$1" -v crate="$2" -v test="$2:$3" '$1 == target && ($2 == crate || $2 == test) { print $3 }' tools/cross/left-out.txt
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

# no_fma NM FOLDER: whether the machine code of lanes and ops calls no fma of the C library.
no_fma() {
  local files calls
  mapfile -t files < <(find "$2/deps" -name 'liblanes-*.rlib' -o -name 'libops-*.rlib')
  [ ${#files[@]} -ge 2 ] || { echo "no machine code to look at"; return 1; }
  calls=$("$1" --undefined-only "${files[@]}" 2>/dev/null | grep -E ' fmaf?$')
  [ -z "$calls" ] || { echo "$calls"; return 1; }
}

# What a Windows library exports.
dll_exports() {
  x86_64-w64-mingw32-objdump -p "$1" | sed -n '/Ordinal\/Name Pointer/,/^$/s/^\t\[.*\] \([A-Za-z_][A-Za-z_0-9]*\)$/\1/p'
}
