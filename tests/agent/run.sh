#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh address|static|engine|hardened|arm64: builds what that needs and runs the agent's tests.
# Prints TAP.
#   address   on standard input and output, with AddressSanitizer and UBSan
#   static    the same with the static binary
#   engine    as PID 1 of sandboxes on the engine of DOCKER_HOST, as root with Docker's defaults
#   hardened  the same with user 1000, no capabilities, no new privileges, a read-only root
#   arm64     the static binary for arm64 under qemu-user
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${AGENT_TEST_DIR:-$(mktemp -d)}
cd "$here"
static_agent() {
  local agent=$work/cofferdam-agent-$1
  local sources=("$root/runtime/agent" "$root/schema/cofferdam/agent")
  if [ ! -e "$agent" ] || [ -n "$(find "${sources[@]}" -newer "$agent" -type f)" ]; then
    "$root/runtime/agent/build.sh" "$work" "$1" >&2 || return 1
  fi
  echo "$agent"
}

address_agent() {
  mkdir -p "$work/address"
  protoc-c -I"$root/schema" --c_out="$work/address" "$root/schema/cofferdam/agent/v1/agent.proto"
  gcc -std=gnu11 -D_GNU_SOURCE -DAGENT_NO_SHARED_MEMORY -g -O1 -fsanitize=address,undefined \
    -fno-sanitize-recover=undefined -I"$work/address" "$root"/runtime/agent/*.c \
    "$work/address/cofferdam/agent/v1/agent.pb-c.c" -lprotobuf-c -o "$work/address/agent"
  echo "$work/address/agent"
}

run_tests() {
  exec "$root/codegen/python" -W ignore "$root/tests/tap_unittest.py" "${@/%/.py}"
}

local_tests=(test_processes test_files test_protocol test_escapes test_full)
case ${1:-} in
  address)
    AGENT=$(address_agent)
    export AGENT ASAN_OPTIONS=detect_leaks=0 # keepers share the agent's memory and end without exit
    run_tests "${local_tests[@]}" ;;
  static)
    AGENT=$(static_agent amd64)
    export AGENT
    run_tests "${local_tests[@]}" ;;
  engine | hardened)
    AGENT=$(static_agent amd64)
    export AGENT AGENT_ENGINE=1
    [ "$1" = engine ] && run_tests "${local_tests[@]}" test_sandbox
    export AGENT_HARDENED=1
    run_tests "${local_tests[@]}" ;;
  arm64)
    AGENT=$(static_agent arm64) || AGENT=
    libc=lib/aarch64-linux-musl/libc.a # where it is, a program that is not there is a failure
    if ! command -v qemu-aarch64-static >/dev/null ||
      { [ -z "$AGENT" ] && [ ! -e "/usr/$libc" ] &&
        [ ! -e "$work/arm64-packages/root/usr/$libc" ]; }; then
      echo "1..0 # SKIP what the agent for arm64 is built with could not be fetched or installed"
      exit 0
    fi
    [ -n "$AGENT" ] || exit 1
    export AGENT AGENT_RUNNER=qemu-aarch64-static
    run_tests "${local_tests[@]}" ;;
  *)
    echo "usage: run.sh address|static|engine|hardened|arm64" >&2
    exit 2 ;;
esac
