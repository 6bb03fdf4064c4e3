#!/usr/bin/env bash
# Runs a program for arm64 under QEMU, and what it starts: cargo's runner for tests.
#
#   tools/cross/emulate.sh COMMAND...          with the libraries of target/cross/arm64
#   tools/cross/emulate.sh --inside COMMAND... with target/cross/arm64 as the root of the file system, this repository
#                                              as /work there
#
# In a namespace of its own, where the kernel is told of QEMU: no root is needed, and nothing outside changes (Linux 6.7
# or newer). What does not end is ended after CROSS_SECONDS (900).
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
root=$here/target/cross/arm64
emulator=$(command -v qemu-aarch64-static)
export root here emulator
# shellcheck disable=SC2016 # The other shell expands it.
exec timeout --kill-after=5 "${CROSS_SECONDS:-900}" unshare --user --map-root-user --mount --pid --fork --kill-child bash -euc '
  mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
  # The first bytes of an ELF file of 64 bits for arm64, an executable or a library.
  begins="\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
  counts="\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
  printf "%s" ":arm64:M::$begins:$counts:$emulator:F" > /proc/sys/fs/binfmt_misc/register
  if [ "$1" = --inside ]; then
    shift
    mount --rbind /dev "$root/dev"
    mount --rbind /proc "$root/proc"
    mount --bind "$here" "$root/work"
    exec chroot "$root" "$@"
  fi
  export QEMU_LD_PREFIX="$root"
  exec "$@"
' emulate "$@"
