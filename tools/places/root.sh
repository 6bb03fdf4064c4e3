# Another Debian below XLAFFI_PLACES, made with debootstrap, with this machine's settings for apt, pip and cargo. Sourced.
#
#   prepared PACKAGES...     makes it where it is not there, with the files that git knows or could know in /root/xlaffi (what
#                            was built there stays), these packages of Debian, and what tests need
#   bare                     makes one of this machine's release beside it, for which this machine's builds are, with the
#                            same files and nothing installed
#   holds REPOSITORY         copies it to /root/repository
#   enter COMMAND...         runs it in that folder. Its processes and mounts end with it.
# shellcheck shell=bash

suite=${XLAFFI_SUITE:-testing}
root=$XLAFFI_PLACES/$suite
[ "$(id -u)" = 0 ] || { echo "places: another Debian is made and entered as root" >&2; exit 1; }

made() {
  if ! [ -e "$root/.made" ]; then
    command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y --no-install-recommends debootstrap; }
    local site
    # shellcheck disable=SC2016
    site=$(apt-get indextargets --format '$(SITE)' | head -n 1)
    mkdir -p "$root"
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$site"
    touch "$root/.made"
  fi
  local file
  for file in /etc/resolv.conf /etc/pip.conf "$HOME/.cargo/config.toml"; do
    [ ! -e "$file" ] || { mkdir -p "$root$(dirname "$file")" && cp -L "$file" "$root$file"; }
  done
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/root/certificates.crt"
  cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
}

renewed() {
  local there=$root/root/xlaffi list=$root/root/files
  mkdir -p "$there"
  [ ! -e "$list" ] || (cd "$there" && xargs -0 rm -f -- <"$list")
  git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\0' "$file"
  done >"$list"
  tar -cf - --null -T "$list" | tar -xf - -C "$there"
}

bare() {
  # shellcheck source=/dev/null
  suite=${XLAFFI_SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
  root=$XLAFFI_PLACES/bare-$suite
  made
  renewed
}

holds() {
  rm -rf "$root/root/repository"
  cp -a "$1" "$root/root/repository"
}

enter() {
  local settings=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8) name
  # Programs that do not use the system's own certificates.
  for name in SSL_CERT_FILE PIP_CERT CARGO_HTTP_CAINFO CURL_CA_BUNDLE REQUESTS_CA_BUNDLE; do
    settings+=("$name=/root/certificates.crt")
  done
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -c '
    set -e
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" "$@"
  ' enter "$root" /usr/bin/env -i "${settings[@]}" bash -c 'cd /root/xlaffi && exec "$@"' enter "$@"
}

prepared() {
  made
  renewed
  enter bash -c '
    set -e
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    tools/setup.sh test
  ' prepared "$@"
}
