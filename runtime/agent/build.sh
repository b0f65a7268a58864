#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the agent as a static binary for each architecture that has its tools here:
#   build.sh OUTDIR [amd64] [arm64]
# Needs musl-tools, protobuf-c-compiler and libprotobuf-c-dev; for arm64 gcc-aarch64-linux-gnu and
# the packages musl-dev:arm64 and libprotobuf-c-dev:arm64 (else only unpacked, see fetch_arm64). The
# same sources and packages give the same bytes.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:?usage: build.sh OUTDIR [amd64] [arm64]}
shift
if [ $# -eq 0 ]; then
  case $(uname -m) in
    aarch64) set -- arm64 ;;
    *) set -- amd64 ;;
  esac
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
export LC_ALL=C SOURCE_DATE_EPOCH=0

protoc-c -I"$root/schema" --c_out="$out" "$root/schema/cofferdam/agent/v1/agent.proto"

# shellcheck disable=SC2054,SC2191 # commas and = are the linker's and the compiler's
flags=(-std=gnu11 -D_GNU_SOURCE -Os -g0 -static -fno-pie -no-pie
  -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-unwind-tables
  -fstack-protector-strong -fvisibility=hidden -Wall -Wextra -Wshadow -Wstrict-prototypes
  -Wmissing-prototypes -Wformat=2 -Wpointer-arith -Wundef -Wvla -Werror
  -ffile-prefix-map="$root"=. -ffile-prefix-map="$out"=. -fno-ident
  -Wl,--gc-sections -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,relro -Wl,-z,now -s)

# The foreign packages hold nothing that runs, so they are unpacked and not installed. apt has lists
# of its own for them, as the machine's need not know that architecture.
fetch_arm64() {
  local packages="$out/arm64-packages" deb
  [ -e "$packages/root/usr/lib/aarch64-linux-musl/libc.a" ] && return
  mkdir -p "$packages/root" "$packages/lists/partial" "$packages/cache/archives/partial"
  local apt=(apt-get -qq -o APT::Architectures::=amd64 -o APT::Architectures::=arm64
    -o APT::Sandbox::User=root -o Dir::State::lists="$packages/lists"
    -o Dir::Cache="$packages/cache")
  (cd "$packages" && "${apt[@]}" update &&
    "${apt[@]}" download musl-dev:arm64 libprotobuf-c-dev:arm64) >&2
  for deb in "$packages"/*.deb; do dpkg-deb -x "$deb" "$packages/root"; done
}

# protobuf-c's header needs nothing but the C library; the rest of its directory is not musl's.
link() {
  local cc=$1 target=$2 include=$3 lib=$4 protobuf_include=$5 protobuf_lib=$6 name=$7
  mkdir -p "$out/include"
  ln -sfn "$protobuf_include/protobuf-c" "$out/include/protobuf-c"
  "$cc" "${flags[@]}" -nostdinc -isystem "$include" \
    -isystem "$("$cc" -print-file-name=include)" \
    -isystem "$out/include" -I"$out" -I"$here" -nostdlib -nostartfiles -o "$name" \
    "$lib/crt1.o" "$lib/crti.o" "$here"/*.c "$out/cofferdam/agent/v1/agent.pb-c.c" \
    "$protobuf_lib/libprotobuf-c.a" "$lib/libc.a" "$("$cc" -print-libgcc-file-name)" "$lib/crtn.o"
  chmod 0555 "$name"
  printf '%s %s bytes %s\n' "$target" "$(stat -c %s "$name")" "$(sha256sum "$name" | cut -c1-64)"
}

for target; do
  case $target in
    amd64)
      link x86_64-linux-gnu-gcc amd64 /usr/include/x86_64-linux-musl /usr/lib/x86_64-linux-musl \
        /usr/include /usr/lib/x86_64-linux-gnu "$out/cofferdam-agent-amd64" ;;
    arm64)
      base=/usr
      if [ ! -e $base/lib/aarch64-linux-musl/libc.a ] ||
        [ ! -e $base/lib/aarch64-linux-gnu/libprotobuf-c.a ]; then
        fetch_arm64
        base="$out/arm64-packages/root/usr"
      fi
      link aarch64-linux-gnu-gcc arm64 "$base/include/aarch64-linux-musl" \
        "$base/lib/aarch64-linux-musl" "$base/include" "$base/lib/aarch64-linux-gnu" \
        "$out/cofferdam-agent-arm64" ;;
    *) echo "build.sh: unknown architecture $target" >&2; exit 2 ;;
  esac
done
