#!/usr/bin/env bash
# Runs tests of each capability, with --all every test, and ends with one line that adds up the parts: `N passed, N
# failed, N skipped`. A part that does not build, crashes or says nothing counts as a failure.
#
#   tools/test.sh [--all] [FILTER]     only tests whose name contains FILTER
#
# --all adds what is slow by nature: machine code of other processors, time-outs of other processes, whole vignettes;
# what repeats a check along another axis: ops with another LAPACK, every tail of every distribution; and every entry of
# tables (docs/decisions/63-tests.md).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
all=
if [ "${1:-}" = --all ]; then
  all=all
  shift
fi
filter=${1:-}
export PATH="$PATH:$HOME/.cargo/bin"

# What messages, numbers and prints depend on is the same wherever tests run. C.UTF-8 is the locale that every Debian
# has; what differs without UTF-8 has a test that asks for it. Options of the user's own stay out: those of R's profile,
# and variables that choose another platform, plugin, library or a scheduler's processes.
unset LANGUAGE R_CLI_UNICODE FORCE_COLOR CLICOLOR_FORCE RSTUDIO
while IFS= read -r name; do
  unset "$name"
done < <(compgen -e | grep -E '^(LC_|XLA_|PJRT_|JAX_|SLURM_|OMPI_|PMI_|OMP_|OPENBLAS_|R_DEFAULT_)')
export LANG=C.UTF-8 LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1 R_CLI_NUM_COLORS=1 COLUMNS=80 LINES=25 TERM=dumb
export R_PROFILE_USER=/dev/null
export XLAFFI_PYTHON="${XLAFFI_PYTHON:-$PWD/.venv/bin/python}"
export R_LIBS="$PWD/.lib${R_LIBS:+:$R_LIBS}"

passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# add PART PASSED FAILED SKIPPED STATUS: a part that fails without naming a failed test
# counts as one, and so does a part in which nothing ran.
add() {
  local part=$1 ok=$2 bad=$3 skip=$4 status=$5
  if [ "$bad" = 0 ] && { [ "$status" != 0 ] || { [ "$ok" = 0 ] && [ -z "$filter" ]; }; }; then
    echo "$part: ended with status $status after $ok tests" >&2
    bad=1
  fi
  summary+="$part: $ok passed, $bad failed, $skip skipped"$'\n'
  passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
}
summary=

# cargo_test PART OPTIONS...: cargo's tests of those crates.
cargo_test() {
  local part=$1 status ok bad skip started ended
  shift
  echo "== $part"
  cargo test --no-fail-fast --manifest-path src/rust/Cargo.toml "${features[@]}" "$@" ${filter:+"$filter"} 2>&1 | tee "$work/cargo"
  status=${PIPESTATUS[0]}
  read -r ok bad skip < <(sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored;.*/\1 \2 \3/p' "$work/cargo" |
    awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
  # What other tests start as a process of its own is no test that was left out.
  skip=$((skip - $(grep -c ' ignored, a process of the other tests$' "$work/cargo")))
  # A test binary that was killed prints no result line.
  started=$(grep -cE '^ +(Running|Doc-tests) ' "$work/cargo")
  ended=$(grep -c '^test result: ' "$work/cargo")
  if [ "$started" -gt "$ended" ]; then
    echo "$part: $((started - ended)) of $started test binaries ended without a result" >&2
    bad=$((bad + started - ended))
  fi
  add "$part" "$ok" "$bad" "$skip" "$status"
}

# r_tests PART: R's tests in the folder of that name.
r_tests() {
  Rscript tools/test.R "tests/$1" "$work/$1" "$filter" $all
}

# add_r PART STATUS: what came of them.
add_r() {
  local ok=0 bad=0 skip=0
  [ ! -s "$work/$1" ] || read -r ok bad skip < "$work/$1"
  add "tests/$1" "$ok" "$bad" "$skip" "$2"
}

# What calls nothing of LAPACK: kernels of the package, and ops without matrices.
not_lapack=(--skip small::ratios::lu_of_every_kind::f --skip small::ratios::qr_of_every_kind::f)
for module in kepler layers permutation print print_tensor special table; do
  not_lapack+=(--skip "$module::")
done

# The tests of all crates, then the package, which shares what they compiled: while the first ones run it is built.
echo "== compiling"
features=()
[ -z "$all" ] || features=(--features lanes/plain)
cargo test --no-run --tests --workspace "${features[@]}" --manifest-path src/rust/Cargo.toml
# The plugin as a library of its own, which a test of it loads into Python
cargo build --quiet --example plugin --workspace "${features[@]}" --manifest-path src/rust/Cargo.toml
{
  XLAFFI_WITH_TESTS=${all:-1} tools/install.sh --tests .lib --no-docs
  echo $? > "$work/installed"
} > "$work/install" 2>&1 &

# The glue links R's symbols, so it has no test binary: R's tests run it. All else is tested with the LAPACK that R is
# linked to, and what calls LAPACK also with the one that set-up installs, which R's tests use. Examples in
# documentation are compiled one by one, so they run with --all.
kinds=() repeats=()
if [ -z "$all" ]; then
  kinds=(--tests)
  # The longest of those that do for a dtype what another one does for the next: of `lanes`, then of `ops`
  for name in decomposes not_finite not_positive large_factors factors columns_of_q solves singular large special \
    known_spectra panels sizes tridiagonal_matrices lu cholesky; do
    repeats+=(--skip "$name::f32")
  done
  for name in of_every_kind a_batch_is_its_matrices_one_by_one threads_change_nothing mixed_batches a_large_matrix \
    every_size every_size_and_shape every_size_and_triangle special_matrices singular_values; do
    repeats+=(--skip "$name::f32" --skip "$name::c64")
  done
  repeats+=(--skip of_every_kind::c128 --skip there_is_a_kernel_for_each_element_type)
  # Matrices beyond what other tests have, waits of many seconds, what R's tests do, too: calls by XLA; and kernels of the
  # user's own for CUDA, each compiled to run on the CPU
  for name in the_largest_matrix_by_several_threads large_random_matrices large_special_matrices \
    a_grid_of_all_blocks jacobis_method_has_as_many_as_it_takes \
    every_op_passes_the_checks may_wait_for_as_long_as_it_takes may_compute_for_as_long_as_it_takes \
    a_process_of_another_job_is_refused xla_accepts_and_calls_the_handlers a_run_whose_handlers_nobody_sees \
    who_waits_for_a_run who_waits_for_what_reads a_macro_of_a_header_cannot_fail a_kernel_fails_by_a_macro \
    operands_in_place_are_copied what_is_left_out_is_null support_code_knows_the_element_type sizes_of_a_grid_follow \
    every_element_is_reached; do
    repeats+=(--skip "$name")
  done
fi
XLAFFI_LAPACK=r cargo_test "cargo test" "${kinds[@]}" --workspace -- --skip nvrtc_takes \
  "${repeats[@]}"
if [ -n "$all" ]; then
  XLAFFI_LAPACK=$("$XLAFFI_PYTHON" -c 'import scipy_openblas32 as openblas, os
print(os.path.join(openblas.get_lib_dir(), "libscipy_openblas.so"))')
  export XLAFFI_LAPACK
  cargo_test "cargo test with OpenBLAS" -p lapack -p ops --lib --test all --test fork --test libraries --test routines \
    --test threads -- "${not_lapack[@]}"
  unset XLAFFI_LAPACK
  # With the features of the whole workspace, with which the kernels are compiled already
  cargo_test "machine code" --workspace --test machine_code
fi

# NVIDIA's compiler, for kernels of the user's own; the other tests have stand-ins for it.
XLAFFI_CUDA_PATH=$("$XLAFFI_PYTHON" -c 'import nvidia; print(list(nvidia.__path__)[0])')
export XLAFFI_CUDA_PATH
if [ -n "$all" ] && [ -n "$XLAFFI_CUDA_PATH" ]; then
  cargo_test "cargo test with NVRTC" --workspace --test nvrtc -- --include-ignored
fi

echo "== testthat"
wait
cat "$work/install"
if [ "$(cat "$work/installed")" = 0 ]; then
  # Those of the repository wait and read more than they compute: one process does them beside the others.
  TESTTHAT_CPUS=1 r_tests packaging > "$work/aside" 2>&1 &
  aside=$!
  r_tests testthat
  add_r testthat $?
  wait "$aside"
  status=$?
  echo "== packaging"
  cat "$work/aside"
  add_r packaging "$status"
else
  add "installation" 0 0 0 1
fi

printf '\n%s' "$summary"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
