#!/usr/bin/env bash
# Runs code under what finds the faults that tests cannot see: undefined behaviour, races, memory that
# is not ours. Ends with a table of the parts, their results and
# times, and with status 1 if one failed. tools/sanitize.md says what each part covers, and how long it
# takes.
#
#   tools/sanitize.sh [PART...]      all parts by default; `tools/sanitize.sh list` names them
#
# A part whose tools are missing is skipped, and says what is missing.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
export PATH="$PATH:$HOME/.cargo/bin"
manifest=$root/src/rust/Cargo.toml
built=$root/src/rust/target/sanitize
host=$(rustc -vV | sed -n 's/^host: //p')
export XLAFFI_PYTHON="${XLAFFI_PYTHON:-$root/.venv/bin/python}"

parts=(loom miri-xla-ffi miri-pjrt miri-custom-ops gctorture thread thread-plugin address address-plugin)
[ "${1:-}" != list ] || { printf '%s\n' "${parts[@]}"; exit 0; }

# Not `foreign` and `fork`, where a Python is begun that knows nothing of a sanitizer.
plugin=(--lib)
for test in agree attend buffer client crowd devices ffi guard mesh program small stuck threads; do
  plugin+=(--test "$test")
done

lacks_component() { # lacks_component NAME...: components of the nightly toolchain
  command -v rustup >/dev/null || { echo "rustup"; return; }
  local installed name
  installed=$(rustup component list --toolchain nightly --installed 2>/dev/null) || { echo "a nightly toolchain"; return; }
  for name in "$@"; do
    grep -q "^$name" <<<"$installed" || echo "nightly's $name (rustup component add --toolchain nightly $name)"
  done
}

miri() { # miri ARGUMENTS OF CARGO TEST...
  MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}" \
    cargo +nightly miri test --manifest-path "$manifest" --target-dir "$built/miri" "$@"
}

# sanitized NAME ARGUMENTS OF CARGO TEST...: with the standard library built alike, so that its locks
# and channels are seen, too. What the sanitizer begins with is exported, as C compilers do it: crate lapack
# knows by it that it must not ask for RTLD_DEEPBIND.
sanitized() {
  local name=$1 init=__${1:0:1}san_init
  shift
  RUSTFLAGS="-Zsanitizer=$name -Clink-arg=-Wl,--export-dynamic-symbol=$init" \
    cargo +nightly test -Zbuild-std --target "$host" --manifest-path "$manifest" --target-dir "$built/$name" \
    --no-fail-fast "$@"
}

lacks() { # what a part needs and this machine has not
  case "$1" in
    miri-*) lacks_component miri rust-src ;;
    thread | address) lacks_component rust-src ;;
    *-plugin)
      lacks_component rust-src
      [ -x "$XLAFFI_PYTHON" ] || echo "Python with jaxlib (tools/setup.sh)"
      ;;
    gctorture) [ -x .venv/bin/python ] || echo "Python in .venv (tools/setup.sh)" ;;
  esac
}

# Memory that is kept for the next program would hide who uses it after it was freed.
export XLAFFI_KEEP_MEMORY=0

run() {
  case "$1" in
    loom) cargo test --release --manifest-path tools/loom/Cargo.toml --target-dir "$built/loom" ;;
    # Not its example, a library that Miri cannot make.
    miri-xla-ffi) miri -p xla-ffi --lib --tests --no-fail-fast ;;
    # Its other tests load a library, which Miri cannot.
    miri-pjrt) miri -p pjrt --lib --no-fail-fast ;;
    # Functions of words are called by other types than they have, which Miri refuses.
    miri-custom-ops) miri -p custom-ops --lib --test calls --test cache --no-fail-fast ;;
    gctorture) tools/install.sh .lib --no-docs && tools/with-env.sh Rscript tools/gctorture.R ;;
    # What OpenBLAS does among its own threads is not compiled with the sanitizer.
    thread)
      export TSAN_OPTIONS="suppressions=$root/tools/sanitize.tsan exitcode=66"
      sanitized thread -p ops --test all -- concurrency:: print_tensor:: small:: &&
        sanitized thread -p custom-ops --test calls --test cache ;;
    # XLA and Python are not compiled with it: what they hand over by locks of their own looks like a race
    # (tools/sanitize.tsan).
    thread-plugin)
      TSAN_OPTIONS="suppressions=$root/tools/sanitize.tsan exitcode=66 report_mutex_bugs=0 allocator_may_return_null=1" \
        sanitized thread -p pjrt-jaxlib "${plugin[@]}" ;;
    # Its own copies of stack frames would lie elsewhere than `lapack::stack` takes the stack to be. The
    # test of machine code compiles for itself.
    address)
      ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0 LSAN_OPTIONS="suppressions=$root/tools/sanitize.lsan" \
        sanitized address -p ops -p custom-ops -p lanes -p lapack \
          --features lanes/plain --lib --tests -- --skip kernels_are_vector_code ;;
    # Python and XLA end without freeing. What the sanitizer keeps back of freed memory looks like growth.
    address-plugin)
      ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1 \
        sanitized address -p pjrt -p pjrt-jaxlib "${plugin[@]}" --test host --test memory --test parts --test xla -- \
        --skip nothing_stays_behind --skip round_trips_leave_memory_flat ;;
  esac
}

chosen=("$@")
[ $# -gt 0 ] || chosen=("${parts[@]}")
for part in "${chosen[@]}"; do
  [[ " ${parts[*]} " == *" $part "* ]] || { echo "sanitize: no part '$part': ${parts[*]}" >&2; exit 1; }
done

table='' failed=0
for part in "${chosen[@]}"; do
  echo "== $part"
  started=$SECONDS
  missing=$(lacks "$part" | paste -sd, -)
  if [ -n "$missing" ]; then
    result="skipped: no $missing"
  elif run "$part"; then
    result=passed
  else
    result=FAILED
    failed=1
  fi
  table+=$(printf '%-14s %5d s  %s' "$part" $((SECONDS - started)) "$result")$'\n'
done
printf '\n%s%d s in all\n' "$table" "$SECONDS"
exit $failed
