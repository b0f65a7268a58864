#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A Docker engine that a test may kill. Nothing else uses it, and it is gone afterwards.
#
#   own_engine.sh run COMMAND [ARG…]   the command, with such an engine at DOCKER_HOST
#   own_engine.sh kill                 SIGKILL for the engine and its containerd, not for containers
#   own_engine.sh start [ARG…]         the same engine again, with more arguments, until it answers
#
# Without DOCKER_HOST, where there is no engine to test against, `run` skips.
set -euo pipefail

COFFERDAM_ROOT=$(cd "$(dirname "$0")/../.." && pwd)
export COFFERDAM_ROOT
# shellcheck source=tools/common.sh
. "$COFFERDAM_ROOT/tools/common.sh"

own_directory() {
  local socket=${DOCKER_HOST#unix://}
  if [ "${COFFERDAM_TEST_OWN_ENGINE:-}" != 1 ] ||
    [[ $socket != /var/tmp/cofferdam-engine.*/docker.sock ]]; then
    die "this is not an engine to be killed: $DOCKER_HOST"
  fi
  echo "${socket%/docker.sock}"
}

# A killed process whose parent has not noticed yet is as good as gone.
await_end() {
  local try state
  for ((try = 0; try < 400; try++)); do
    state=$(awk '/^State:/ { print $2 }' "/proc/$1/status" 2>/dev/null) || return 0
    [ -n "$state" ] && [ "$state" != Z ] || return 0
    sleep 0.02
  done
  die "process $1 does not end"
}

kill_engine() {
  local dir=$1 pid containerd
  pid=$(cat "$dir/pid")
  containerd=$(cat "$dir/exec/containerd/containerd.pid")
  [ -e "$dir/command" ] || as_root cat "/proc/$pid/cmdline" >"$dir/command"
  as_root kill -KILL "$pid" "$containerd"
  await_end "$pid"
  await_end "$containerd"
  as_root rm -f "$dir/pid" "$dir/exec/containerd/containerd.pid"
}

start_engine() {
  local dir=$1 command try
  shift
  mapfile -d '' command <"$dir/command"
  [ ! -d "$dir/bin" ] || PATH="$dir/bin:$PATH"
  as_root env TMPDIR="$dir/tmp" PATH="$PATH" setsid "${command[@]}" "$@" \
    </dev/null >>"$dir/again.log" 2>&1 &
  for ((try = 0; try < 600; try++)); do
    timeout 5 docker version >/dev/null 2>&1 && return 0
    sleep 0.05
  done
  tail -15 "$dir/again.log" >&2
  die "the engine did not come again"
}

verb=${1:-}
[ $# -eq 0 ] || shift
case $verb in
  run)
    if [ -z "${DOCKER_HOST:-}" ]; then
      echo "1..0 # SKIP DOCKER_HOST is not set: no engine to test against"
      exit 0
    fi
    export COFFERDAM_ENGINE=private COFFERDAM_TEST_OWN_ENGINE=1
    exec "$COFFERDAM_ROOT/tools/with-engine.sh" "$@" ;;
  kill) kill_engine "$(own_directory)" ;;
  start) start_engine "$(own_directory)" "$@" ;;
  *) die "usage: own_engine.sh run COMMAND [ARG…] | kill | start [ARG…]" ;;
esac
