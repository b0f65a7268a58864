#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command with a Docker engine at hand: the one that answers, or a private one that is
# gone afterwards.
#
#   tools/with-engine.sh [--tls] [--registry] COMMAND [ARG…]
#
# The command finds DOCKER_HOST and the images busybox:test, cofferdam-test:latest and
# cofferdam-empty:latest; with --tls COFFERDAM_TEST_TLS_HOST and COFFERDAM_TEST_TLS_CERTS (a private
# engine only); with --registry COFFERDAM_TEST_REGISTRY, which has cofferdam-test:latest and :two.
#
# A private engine lives in mount, network and process namespaces of its own, and so does the
# command. It meets no other engine, and when the namespaces end nothing of it can be left:
# no process, no mount, no bridge, no iptables rule.
set -euo pipefail

COFFERDAM_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export COFFERDAM_ROOT
# shellcheck source=tools/common.sh
. "$COFFERDAM_ROOT/tools/common.sh"

wants=
while [ $# -gt 0 ]; do
  case $1 in
    --tls | --registry) wants="$wants ${1#--}" ;;
    *) break ;;
  esac
  shift
done
[ $# -gt 0 ] || die "usage: tools/with-engine.sh [--tls] [--registry] COMMAND [ARG…]"

choose_engine() {
  local endpoint=${DOCKER_HOST:-unix:///var/run/docker.sock}
  case ${COFFERDAM_ENGINE:-auto} in
    private | existing) echo "$COFFERDAM_ENGINE" ;;
    auto)
      if [ "${CI:-}" = true ]; then
        echo private
      elif timeout 10 docker -H "$endpoint" version --format '{{.Server.Version}}' \
        >/dev/null 2>&1 </dev/null; then
        echo existing
      else
        echo private
      fi ;;
    *) die "COFFERDAM_ENGINE is private or existing, not $COFFERDAM_ENGINE" ;;
  esac
}

# In a container with cgroup v2 no controller can be handed on while processes sit in the
# topmost cgroup; so they move one down. On a machine's own top, nothing is done.
loosen_cgroups() {
  local top=/sys/fs/cgroup
  [ -e "$top/cgroup.controllers" ] && [ -e "$top/cgroup.type" ] || return 0
  # shellcheck disable=SC2016
  as_root sh -c 'mkdir -p "$1/init" && while read -r pid; do
    echo "$pid" >"$1/init/cgroup.procs"; done <"$1/cgroup.procs"' - "$top" 2>/dev/null || true
}

dir=$(mktemp -d /var/tmp/cofferdam-engine.XXXXXX)
leash=
room=

# Letting go of the leash tells the room to end; it cleans up and goes.
clean_up() {
  trap '' INT TERM HUP
  [ -z "$leash" ] || exec {leash}>&-
  leash=
  [ -z "$room" ] || wait "$room" || true
  as_root rm -rf --one-file-system "$dir"
}
trap 'exit 130' INT
trap 'exit 143' TERM HUP
trap clean_up EXIT

mkfifo -m 600 "$dir/leash"
exec {leash}<>"$dir/leash"
enter=()
engine=$(choose_engine)
if [ "$engine" = private ]; then
  say "starting a private Docker engine"
  loosen_cgroups
  # sudo drops the environment, so the room puts it on again.
  export -p >"$dir/environment"
  enter=(as_root unshare --mount --net --pid --fork --kill-child --mount-proc)
fi
"${enter[@]}" bash "$COFFERDAM_ROOT/tools/engine-room.sh" \
  "$engine" "$dir" "$(id -u)" "$(id -g)" "$wants" "$@" {leash}>&- &
room=$!
status=0
wait "$room" || status=$?
room=
exit "$status"
