#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the root file system of a test image as a tar to stdout, made from Debian's
# busybox-static, or other programs of this machine: `tools/test-image.sh | docker import - NAME`.
#
#   full   /bin/busybox, a link for each of its applets, users, /tmp (the default)
#   bare   /bin/busybox and nothing else
#   debian this machine's own sh, coreutils and what goes with them, as an image of Debian has them
#   bash   the same, with bash as sh
#   empty  nothing at all
#   lies   every program a liar (tests/engine/liar.c), nonsense in /etc, traps in the places that
#          matter; `--import NAME` makes an image of it whose configuration lies as well
set -euo pipefail

kind=${1:-full}
root=$(cd "$(dirname "$0")/.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

copy_busybox() {
  mkdir -p "$tree/bin"
  cp /bin/busybox "$tree/bin/busybox"
}

make_places() {
  mkdir -p "$tree/etc" "$tree/root" "$tree/tmp"
  chmod 1777 "$tree/tmp"
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' \
    >"$tree/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$tree/etc/group"
}

make_full() {
  copy_busybox
  make_places
  for applet in $(/bin/busybox --list); do
    [ "$applet" = busybox ] || ln -s busybox "$tree/bin/$applet"
  done
}

# With the libraries that they need.
make_debian() {
  local tools
  mkdir -p "$tree/bin"
  mapfile -t tools < <(dpkg -L coreutils diffutils findutils grep sed dash bash |
    grep -E '^(/usr)?/s?bin/[^/]+$')
  cp -P "${tools[@]}" "$tree/bin"
  ln -sf "$1" "$tree/bin/sh"
  { ldd "${tools[@]}" 2>/dev/null || true; } | # some are scripts
    sed -nE 's,^[^/]*(/usr)?(/[^ ]+) \(.*,\2,p' | sort -u | xargs cp --parents -L -t "$tree"
  make_places
}

make_lies() {
  mkdir -p "$tree"/{bin,etc,lib,tmp,dev,run} "$tree/usr/local"
  chmod 1777 "$tree/tmp"
  gcc -static -Os -s -o "$tree/bin/liar" "$root/tests/engine/liar.c"
  for applet in $(/bin/busybox --list) bash cofferdam-agent id; do
    [ -e "$tree/bin/$applet" ] || ln "$tree/bin/liar" "$tree/bin/$applet"
  done
  ln -s ../bin "$tree/usr/bin"
  ln -s bin "$tree/sbin"
  # Users without names, with all numbers, also as names, without an end; groups that are no file.
  { printf 'root:x:4294967296:-1:::\n::::::\nroot\nnobody:x:0:0:\xff\xfe:/proc/1/root:/bin/sh\n'
    printf '12345:x:0:0::/:/bin/sh\n54321:x:0:0::/:/bin/sh\n'
    head -c 60000 /dev/zero | tr '\0' 'a'; } >"$tree/etc/passwd"
  ln -s passwd "$tree/etc/group"
  ln -s passwd "$tree/etc/nsswitch.conf"
  ln -s /etc/nothing "$tree/etc/localtime"
  printf '/lib/evil.so\n' >"$tree/etc/ld.so.preload"
  printf 'no library\n' >"$tree/lib/evil.so"
  # What is mounted or looked for in these places is not the image's.
  ln -s etc "$tree/workspace"
  mkdir -p "$tree/.cofferdam" "$tree/proc/1" "$tree/sys/fs/cgroup"
  cp "$tree/bin/liar" "$tree/.cofferdam/cofferdam-agent"
  printf '0::/../../..\n' >"$tree/proc/1/cgroup"
  printf 'Name:\tcofferdam-agent\nPPid:\t0\n' >"$tree/proc/1/status"
  printf 'max\n' >"$tree/sys/fs/cgroup/memory.events"
}

lying_configuration=(
  --change 'ENTRYPOINT ["/bin/liar", "--entrypoint"]'
  --change 'CMD ["init", "--stdio", "--workspace", "/"]'
  --change 'ENV PATH=/nowhere:/workspace LD_PRELOAD=/lib/evil.so LD_LIBRARY_PATH=/lib'
  --change 'ENV IFS=/ ENV=/etc/passwd'
  --change 'ENV COFFERDAM_AGENT_DIR=/bin COFFERDAM_EXEC_ID=1 HOME=/proc/1/root'
  --change 'HEALTHCHECK --interval=1s --timeout=1s CMD /bin/liar'
  --change 'VOLUME ["/volume", "/workspace/volume"]'
  --change 'WORKDIR /workspace/../proc/1'
  --change 'EXPOSE 1-3/tcp'
  --change 'LABEL io.cofferdam.session-id=00000000-0000-4000-8000-000000000000'
  --change 'LABEL io.cofferdam.creation-id=mine io.cofferdam.agent-fill=x'
  --change 'ONBUILD RUN /bin/liar'
)

case $kind in
  full) make_full ;;
  bare) copy_busybox ;;
  debian) make_debian dash ;;
  bash) make_debian bash ;;
  empty) ;;
  lies) make_lies ;;
  *)
    echo "usage: $0 [full|bare|debian|bash|empty|lies [--import NAME]]" >&2
    exit 2 ;;
esac
archive() {
  tar --owner=0 --group=0 --numeric-owner --sort=name -C "$tree" -c .
}
if [ "${2:-}" = --import ]; then
  archive | docker import "${lying_configuration[@]}" - "$3"
else
  archive
fi
