#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The inside of tools/with-engine.sh: starts what was asked for, runs the command, stops it all.
# For a private engine it is root and process 1 in namespaces of its own.
#
#   engine-room.sh private|existing DIRECTORY UID GID WANTS COMMAND [ARG…]
set -euo pipefail

engine=$1 dir=$2 uid=$3 gid=$4 wants=" $5 "
shift 5
if [ "$engine" = private ]; then
  # shellcheck disable=SC1091
  . "$dir/environment"
fi
# shellcheck source=tools/common.sh
. "$COFFERDAM_ROOT/tools/common.sh"

watch='' payload='' registry='' dockerd=''
images=()
parent=/${dir##*/}

stop_pid() {
  local pid=$1 tries=$2
  kill -TERM "$pid" 2>/dev/null || return 0
  while kill -0 "$pid" 2>/dev/null; do
    if [ "$tries" -le 0 ]; then
      kill -KILL "$pid" 2>/dev/null || true
      break
    fi
    tries=$((tries - 1))
    sleep 0.1
  done
  wait "$pid" 2>/dev/null || true
}

clean_up() {
  trap '' INT TERM HUP
  if [ -n "$payload" ]; then
    kill -TERM -- "-$payload" 2>/dev/null || true
    stop_pid "$payload" 100
  fi
  [ -z "$watch" ] || stop_pid "$watch" 10
  [ -z "$registry" ] || stop_pid "$registry" 50
  if [ "$engine" = existing ]; then
    [ ${#images[@]} -eq 0 ] || docker rmi "${images[@]}" >/dev/null 2>&1 || true
    return 0
  fi
  stop_engine
  sweep
}

# The engine is asked for its containers only as long as it answers.
stop_engine() {
  [ -n "$dockerd" ] || return 0
  # A test may have started it anew (tests/engine/own_engine.sh).
  dockerd=$(cat "$dir/pid" 2>/dev/null || echo "$dockerd")
  local left=()
  mapfile -t left < <(timeout 20 docker ps -aq 2>/dev/null)
  [ ${#left[@]} -eq 0 ] || timeout 60 docker rm -f "${left[@]}" >/dev/null 2>&1 || true
  stop_pid "$dockerd" 200
  dockerd=
}

sweep() {
  local mount
  while read -r mount; do
    umount -l "$mount" 2>/dev/null || true
  done < <(awk -v d="$dir/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | tac)
  find /sys/fs/cgroup -depth -type d -path "*$parent*" -exec rmdir {} + 2>/dev/null || true
  rm -rf --one-file-system "${dir:?}"/*
}

free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

make_certificates() {
  local to="$dir/certs" name usage
  mkdir -p "$to"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
    -subj '/CN=Cofferdam test CA' -keyout "$to/ca-key.pem" -out "$to/ca.pem" 2>/dev/null
  for name in server client; do
    usage=${name}Auth
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$name" \
      -keyout "$to/$name-key.pem" -out "$to/$name.csr" 2>/dev/null
    printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=%s\n' "$usage" \
      >"$to/$name.ext"
    openssl x509 -req -in "$to/$name.csr" -CA "$to/ca.pem" -CAkey "$to/ca-key.pem" \
      -CAcreateserial -days 2 -extfile "$to/$name.ext" -out "$to/$name.pem" 2>/dev/null
  done
  mv "$to/client.pem" "$to/cert.pem"
  mv "$to/client-key.pem" "$to/key.pem"
  chown -R "$uid:$gid" "$to"
}

prepare_room() {
  ip link set lo up
  # Other engines keep their sockets below /run, and this one would leave things there.
  mount -t tmpfs -o mode=755 tmpfs /run
  mount --bind "$dir" "$dir"
  mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup
  mkdir -p "$dir/data" "$dir/exec" "$dir/tmp"
  cat >"$dir/daemon.json" <<JSON
{
  "deprecated-key-path": "$dir/key.json",
  "cgroup-parent": "$parent",
  "exec-opts": ["native.cgroupdriver=cgroupfs"]
}
JSON
}

# True when the engine answers; false when it has ended, or takes more than 60 s.
launch() {
  local try
  TMPDIR="$dir/tmp" setsid dockerd --config-file "$dir/daemon.json" --data-root "$dir/data" \
    --exec-root "$dir/exec" --pidfile "$dir/pid" --group "$gid" -H "unix://$dir/docker.sock" "$@" \
    >"$dir/log" 2>&1 </dev/null {leash_in}<&- &
  dockerd=$!
  for ((try = 0; try < 600; try++)); do
    kill -0 "$dockerd" 2>/dev/null || break
    if [ -S "$dir/docker.sock" ] && docker version >/dev/null 2>&1; then
      return 0
    fi
    sleep 0.1
  done
  stop_pid "$dockerd" 100
  dockerd=
  rm -rf "$dir/pid" "$dir/docker.sock"
  return 1
}

use_legacy_tables() {
  local name
  mkdir -p "$dir/bin"
  for name in iptables ip6tables; do
    ln -sf "$(command -v "$name-legacy")" "$dir/bin/$name"
  done
  PATH="$dir/bin:$PATH"
}

start_engine() {
  local flags=() try
  export DOCKER_HOST="unix://$dir/docker.sock"
  unset DOCKER_TLS_VERIFY DOCKER_CERT_PATH DOCKER_CONTEXT
  case $wants in *" tls "*)
    make_certificates
    export COFFERDAM_TEST_TLS_HOST="tcp://127.0.0.1:2376" COFFERDAM_TEST_TLS_CERTS="$dir/certs"
    flags+=(-H "$COFFERDAM_TEST_TLS_HOST" --tlsverify --tlscacert "$dir/certs/ca.pem"
      --tlscert "$dir/certs/server.pem" --tlskey "$dir/certs/server-key.pem") ;;
  esac
  for try in 1 2 3 4; do
    launch "${flags[@]}" && return 0
    if grep -qiE 'iptables|nf_tables' "$dir/log" && [ ! -e "$dir/bin/iptables" ] &&
      command -v iptables-legacy >/dev/null; then
      say "iptables failed; trying its legacy tables"
      use_legacy_tables
    elif grep -qiE 'graphdriver|storage.driver|overlay' "$dir/log" && [ "$try" -lt 3 ]; then
      say "the usual storage driver failed; trying vfs"
      flags+=(--storage-driver vfs)
      rm -rf --one-file-system "$dir/data"
    else
      break
    fi
  done
  tail -15 "$dir/log" >&2
  if grep -qiE 'iptables|bridge' "$dir/log"; then
    say "Docker's default bridge cannot be made here; iptables and a kernel that has it are needed"
  fi
  die "the private Docker engine did not start; its log is above"
}

# What was not there before is removed again afterwards.
import_image() {
  local name=$1 kind=$2 changes=(--change 'ENV PATH=/bin' --change 'CMD ["/bin/sh"]')
  docker image inspect "$name" >/dev/null 2>&1 && return 0
  [ "$kind" != empty ] || changes=()
  "$COFFERDAM_ROOT/tools/test-image.sh" "$kind" |
    docker import "${changes[@]}" - "$name" >/dev/null
  images+=("$name")
}

start_registry() {
  local port try at
  port=$(free_port)
  cat >"$dir/registry.yml" <<YAML
version: 0.1
log: {level: warn}
storage: {filesystem: {rootdirectory: $dir/registry}}
http: {addr: 127.0.0.1:$port}
YAML
  docker-registry serve "$dir/registry.yml" >"$dir/registry.log" 2>&1 </dev/null {leash_in}<&- &
  registry=$!
  for ((try = 0; try < 100; try++)); do
    (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
  done
  at=127.0.0.1:$port/cofferdam-test
  docker tag cofferdam-test:latest "$at:latest"
  "$COFFERDAM_ROOT/tools/test-image.sh" full | docker import --change 'ENV PATH=/bin' \
    --change 'LABEL test.image=two' --message "$(date +%s%N)" - "$at:two" >/dev/null
  if docker push -q "$at:latest" >/dev/null && docker push -q "$at:two" >/dev/null; then
    export COFFERDAM_TEST_REGISTRY=127.0.0.1:$port
  else
    say "the engine cannot reach a registry on this machine's loopback; its tests will skip"
  fi
  docker rmi "$at:latest" "$at:two" >/dev/null
}

run_as_caller() {
  if [ "$(id -u)" -eq "$uid" ]; then
    exec setsid "$@"
  fi
  exec setsid setpriv --reuid "$uid" --regid "$gid" --init-groups "$@"
}

trap clean_up EXIT
trap 'exit 143' INT TERM HUP
exec {leash_in}<"$dir/leash"
me=$BASHPID
# The other end of the leash is held by whoever started us.
(
  trap - EXIT INT TERM HUP
  read -r -u "$leash_in" || true
  kill -TERM "$me"
) &
watch=$!

# No credentials of the caller's, and no files in the caller's home.
export DOCKER_CONFIG="$dir/docker-cli"
if [ "$engine" = private ]; then
  prepare_room
  start_engine
elif [[ $wants == *" tls "* ]]; then
  say "using the engine that is there; tests of TLS need a private one (COFFERDAM_ENGINE=private)"
fi
import_image busybox:test bare
import_image cofferdam-test:latest full
import_image cofferdam-empty:latest empty
import_image cofferdam-debian:latest debian
import_image cofferdam-bash:latest bash
[[ $wants != *" registry "* ]] || start_registry

run_as_caller "$@" </dev/null {leash_in}<&- &
payload=$!
status=0
wait "$payload" || status=$?
payload=
exit "$status"
