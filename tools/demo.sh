#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main story, told with real values: tools/demo.sh CLI, with an engine at hand.
# Every step is checked; the demo fails where the story is not as told.
set -euo pipefail

cli=$1
COFFERDAM_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tools/common.sh
. "$COFFERDAM_ROOT/tools/common.sh"

work=$(mktemp -d)
finish() {
  local state
  for state in "$work"/*.state; do
    [ ! -e "$state" ] || "$cli" rm --state "$state" >/dev/null 2>&1 || true
  done
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
cd "$work"
ulimit -c 0

# Full ids stay in $output; what is shown is for reading.
shorten() {
  sed -E 's/\b([0-9a-f]{12})[0-9a-f]{52}\b/\1/g'
}

# tell COMMENT EXIT-STATUS COMMAND…: shows the command as typed, runs it, checks its end.
tell() {
  local comment=$1 expected=$2 status=0
  shift 2
  printf '\n# %s\n$ %s\n' "$comment" "$*" | shorten
  if [ "$1" = cofferdam ]; then
    shift
    set -- "$cli" "$@"
  fi
  output=$("$@" 2>&1) || status=$?
  [ -z "$output" ] || printf '%s\n' "$output" | shorten
  [ "$status" = "$expected" ] ||
    die "the demo failed: exit status $status instead of $expected"
}

must() {
  grep -qE -- "$1" <<<"$output" || die "the demo failed: no \"$1\" in the output above"
}

must_not() {
  ! grep -qE -- "$1" <<<"$output" || die "the demo failed: \"$1\" in the output above"
}

container_of() {
  "$cli" state show "$1" | sed -nE 's/.*"containerId": ?"([0-9a-f]{64})".*/\1/p'
}

only_loopback() {
  must '^1: lo:'
  must_not '^[0-9]+: [^l]'
}

tell "A sandbox without a network; what brings it back goes into box.state." 0 \
  cofferdam create --image cofferdam-test --network none --label app=demo --state box.state
tell "What it sees of the world: a loopback interface and nothing else." 0 \
  cofferdam exec --state box.state -- ip addr
only_loopback
tell "The state is a small piece of protobuf, and sealed." 0 wc -c box.state
tell "It holds every option." 0 cofferdam state show box.state
must 'NETWORK_MODE_NONE'
must 'FEATURE_NETWORK_ISOLATION'

first=$(container_of box.state)
[ -n "$first" ] || die "the demo failed: the state names no container"
tell "Somebody removes the container behind our back." 0 docker rm -f "$first"
tell "The sandbox is brought back from its state, in a new container." 0 \
  cofferdam resume --state box.state
must '^recreated '
second=$(container_of box.state)
[[ -n $second && $second != "$first" ]] || die "the demo failed: no new container"
tell "Still without a network." 0 cofferdam exec --state box.state -- ip addr
only_loopback

tell "A second sandbox, which somebody then connects to the bridge by force." 0 \
  cofferdam create --image cofferdam-test --network none --state other.state
other=$(container_of other.state)
tell "First off its network …" 0 docker network disconnect none "$other"
tell "… and on to the bridge. The engine allows it, and still calls the mode \"none\"." 0 \
  docker network connect bridge "$other"
mode=$(docker inspect --format '{{.HostConfig.NetworkMode}}' "$other")
[ "$mode" = none ] || die "the demo failed: the engine says $mode"
tell "Resume does not fall for it: exit status 11, drift." 11 \
  cofferdam resume --state other.state
must 'NetworkSettings\.Networks'
must 'bridge'

tell "The end of both." 0 cofferdam rm --state box.state
tell "A drifted sandbox can be removed, too." 0 cofferdam rm --state other.state
left=$(docker ps -aq --no-trunc | grep -cE "^($first|$second|$other)$" || true)
[ "$left" = 0 ] || die "the demo failed: it left $left containers behind"
printf '\n# Nothing is left behind.\n'
