#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the root file system of a test image as a tar to stdout, made from Debian's
# busybox-static: `tools/test-image.sh | docker import - cofferdam-test:latest`.
#
#   full   /bin/busybox, a link for each of its applets, users, /tmp (the default)
#   bare   /bin/busybox and nothing else
set -euo pipefail

kind=${1:-full}
[ "$kind" = full ] || [ "$kind" = bare ] || { echo "usage: $0 [full|bare]" >&2; exit 2; }
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

mkdir -p "$tree/bin"
cp /bin/busybox "$tree/bin/busybox"
if [ "$kind" = full ]; then
  mkdir -p "$tree/etc" "$tree/root" "$tree/tmp"
  chmod 1777 "$tree/tmp"
  for applet in $(/bin/busybox --list); do
    [ "$applet" = busybox ] || ln -s busybox "$tree/bin/$applet"
  done
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' \
    >"$tree/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$tree/etc/group"
fi
tar --owner=0 --group=0 --numeric-owner --sort=name -C "$tree" -c .
