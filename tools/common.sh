# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts behind ./dev share; sourced with COFFERDAM_ROOT set.

# What was installed here comes before anything else of the same name on the machine.
export PATH="/usr/sbin:/usr/bin:/sbin:/bin:$PATH"
export LC_ALL=C.UTF-8

# shellcheck disable=SC2034
{
  BUILD_PACKAGES=(meson ninja-build gcc libc6-dev pkg-config libcurl4-openssl-dev libjansson-dev
    libprotobuf-c-dev libssl-dev uuid-dev libarchive-dev libcmocka-dev python3 musl-tools
    protobuf-compiler protobuf-c-compiler libprotobuf-dev python3-protobuf)
  ENGINE_PACKAGES=(docker.io iptables iproute2 busybox-static mount util-linux)
  ROOM_PACKAGES=(docker-registry openssl)
  TEST_PACKAGES=(g++ make clang libclang-rt-14-dev abigail-tools git libuv1-dev
    mandoc groff-base qemu-user-static gcc-aarch64-linux-gnu
    "${ROOM_PACKAGES[@]}")
  # For the programs of tests/interop; any toolchain that is there will do.
  LANGUAGE_TOOLS=(go:golang-go node:nodejs npm:npm javac:default-jdk-headless mvn:maven
    cargo:cargo-web rustc:rustc-web)
  LINT_PACKAGES=(clang-format shellcheck)
}

say() {
  echo "dev: $*" >&2
}

die() {
  say "$*"
  exit 1
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this needs root, and there is no sudo: $*"
  fi
}

# apt_get TRIES ARG…: mirrors and apt's lock have bad moments.
apt_get() {
  local tries=$1 try
  shift
  for ((try = 1; try <= tries; try++)); do
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" \
      </dev/null >"$apt_log" 2>&1 && return 0
    [ "$try" = "$tries" ] || sleep $((try * 5))
  done
  return 1
}

# Installs those of the named packages that are missing, and starts no service of theirs.
need_packages() {
  local missing=() package policy=/usr/sbin/policy-rc.d ours=no status=0 apt_log
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing Debian packages: ${missing[*]}"
  apt_log=$(mktemp)
  if [ ! -e "$policy" ]; then
    ours=yes
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
  fi
  # The package lists are fetched only when they turn out to be absent or too old.
  local install=(install -y --no-install-recommends "${missing[@]}")
  apt_get 1 "${install[@]}" || { apt_get 3 update && apt_get 3 "${install[@]}"; } || status=$?
  [ "$ours" = no ] || as_root rm -f "$policy"
  if [ "$status" != 0 ]; then
    tail -20 "$apt_log" >&2
    rm -f "$apt_log"
    die "the packages could not be installed; see above"
  fi
  rm -f "$apt_log"
}

# The packages of those TOOL:PACKAGE whose tool is not on the PATH.
need_tools() {
  local pair packages=()
  for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null || packages+=("${pair#*:}")
  done
  [ ${#packages[@]} -eq 0 ] || need_packages "${packages[@]}"
}

# build_tree NAME [TARGET…]: sets up build-NAME where it is missing and builds it, or those targets.
# Warnings are errors in these trees.
build_tree() {
  local name=$1 tree="$COFFERDAM_ROOT/build-$1" log
  local options=(-Dwerror=true)
  shift
  case $name in
    asan) options+=("-Db_sanitize=address,undefined" -Doptimization=1) ;;
    tsan) options+=(-Db_sanitize=thread) ;;
    release) options+=(-Ddefault_library=both) ;;
    clang) options+=(-Doptimization=0 -Ddebug=false) ;;
    *) die "no such build tree: $name" ;;
  esac
  log=$(mktemp)
  say "building build-$name"
  if ! { setup_tree "$name" "$tree" "${options[@]}" && run_ninja "$name" "$tree" "$@"; } \
    >"$log" 2>&1; then
    grep -vE '^\[[0-9]+/[0-9]+\] (Compiling|Linking|Generating)' "$log" | tail -60 >&2
    rm -f "$log"
    die "build-$name could not be built; see above"
  fi
  rm -f "$log"
}

# What clang makes is never run, so it is compiled and not linked.
run_ninja() {
  local name=$1 tree=$2 objects=()
  shift 2
  if [ "$name" = clang ]; then
    mapfile -t objects < <(ninja -C "$tree" -t targets rule c_COMPILER)
    [ ${#objects[@]} -gt 0 ] || return 1
  fi
  ninja -C "$tree" "$@" "${objects[@]}"
}

# A tree that a new meson or a moved checkout cannot use any more is made again.
setup_tree() {
  local name=$1 tree=$2 compiler=gcc
  shift 2
  [ "$name" != clang ] || compiler=clang
  if [ -f "$tree/build.ninja" ]; then
    meson configure "$tree" "$@" >/dev/null && return 0
  fi
  rm -rf "$tree"
  CC=$compiler meson setup "$tree" "$COFFERDAM_ROOT" "$@"
}
