#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `meson install` puts down is enough for an outside project: check.sh ROOT BUILD
set -euo pipefail
root=$1 build=$2
# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/tests/install/outside" "$work/project"
unset CFLAGS LDFLAGS CC CXX MAKEFLAGS MESON_BUILD_ROOT MESON_SOURCE_ROOT

install_it() {
  meson install -C "$build" --no-rebuild --destdir "$work/root"
}

pkg_config() {
  PKG_CONFIG_PATH=$pc_dir PKG_CONFIG_SYSROOT_DIR=$work/root pkg-config "$@"
}

installed_headers() {
  diff <(cd "$prefix/include" && find . -type f | sort) \
    <(cd "$root" && find runtime/include generated/include -name '*.h' |
      sed -E 's,^(runtime|generated)/include,.,' | sort)
}

schema_is_there() {
  local directory
  directory=$(pkg_config --variable=schemadir cofferdam)
  directory=$work/root${directory#"$work/root"}
  ls "$directory/cofferdam/v1/"{annotations,options,state}.proto &&
    mkdir -p "$work/python" &&
    protoc -I "$directory" --python_out="$work/python" "$directory"/cofferdam/v1/*.proto &&
    ls "$work/python/cofferdam/v1/state_pb2.py"
}

# The Makefile knows pkg-config and nothing else.
by_make() {
  make -C "$work/project" clean &&
    PKG_CONFIG_PATH=$pc_dir PKG_CONFIG_SYSROOT_DIR=$work/root make -C "$work/project" "$@" &&
    LD_LIBRARY_PATH=$lib_dir "$work/project/outside"
}

by_meson() {
  PKG_CONFIG_PATH=$pc_dir PKG_CONFIG_SYSROOT_DIR=$work/root \
    meson setup "$work/project/build" "$work/project" &&
    ninja -C "$work/project/build" &&
    LD_LIBRARY_PATH=$lib_dir "$work/project/build/outside"
}

statically() {
  local flags
  read -ra flags <<<"$(pkg-config --libs libcurl jansson libprotobuf-c libcrypto uuid libarchive)"
  gcc -std=c11 -I "$prefix/include" "$work/project/main.c" "$lib_dir/libcofferdam.a" \
    "${flags[@]}" -pthread -o "$work/static" &&
    ! readelf -d "$work/static" | grep -F libcofferdam &&
    "$work/static"
}

# The private libraries are the library's own business.
links_nothing_private() {
  local flags
  flags=$(pkg_config --libs cofferdam)
  echo "$flags"
  [[ $flags == *-lcofferdam* ]] && [[ ! $flags =~ -l(curl|jansson|protobuf|crypto|uuid|archive) ]]
}

manual_pages() {
  local man
  man=$(find "$work/root" -type d -name man)
  grep -F '.Sh SYNOPSIS' "$man/man1/cofferdam.1" "$man/man3/libcofferdam.3" &&
    grep -F '.It Fl Fl image' "$man/man7/cofferdam-options.7"
}

# Where the library looks for it, whole, and not larger than it is meant to be.
agent_is_there() {
  local agent name
  name=cofferdam-agent-$(dpkg --print-architecture)
  agent=$(find "$work/root" -path "*/cofferdam/$name")
  [ "$(stat -c '%a %F' "$agent")" = '755 regular file' ] &&
    [ "$(stat -c %s "$agent")" -lt $((256 * 1024)) ] &&
    "$agent" --version | grep -F "cofferdam-agent " &&
    cmp "$agent" "$build/runtime/agent/${agent##*/}" &&
    grep -qF "${agent#"$work/root"}" <(printf '%s/%s\n' \
      "$(strings -n 8 "$lib_dir/libcofferdam.so" | grep -x '/.*/cofferdam')" "${agent##*/}")
}

# Debian's loader looks in /usr/local/lib. There ldconfig is all that is needed.
where_the_loader_looks() {
  [ "$lib_dir" = "$prefix/lib" ] && [ -e "$lib_dir/libcofferdam.so" ]
}

command_line() {
  LD_LIBRARY_PATH=$lib_dir "$prefix/bin/cofferdam" --help | grep -F 'state show' &&
    ! readelf -d "$prefix/bin/cofferdam" | grep -E 'RPATH|RUNPATH'
}

tap "meson install" install_it
prefix=$work/root$(meson introspect --buildoptions "$build" |
  python3 -c 'import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
pc_file=$(find "$work/root" -name cofferdam.pc)
pc_dir=${pc_file%/*}
lib_dir=${pc_dir%/pkgconfig}
tap "the public headers are installed, and no others" installed_headers
tap "pkg-config's schemadir has the schema, and protoc reads it" schema_is_there
tap "pkg-config names no private library" links_nothing_private
tap "an outside program by make" by_make
tap "the same as C++" by_make CC=g++ STANDARD=c++11
tap "an outside program by meson" by_meson
tap "with the static library" statically
tap "the library is installed where the loader looks" where_the_loader_looks
tap "the installed command" command_line
tap "the agent is installed where the library looks for it" agent_is_there
tap "the manual pages are installed" manual_pages
tap_plan
