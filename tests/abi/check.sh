#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the library exports and needs is what it was: check.sh ROOT BUILD
set -euo pipefail
root=$1 build=$2
# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"
# shellcheck source=tests/abi/lib.sh
. "$root/tests/abi/lib.sh"

same_symbols() {
  diff -u --label 'tests/abi/symbols.txt' --label 'the library' "$here/symbols.txt" <(exported) ||
    {
      echo "Exported symbols have changed. When they were added on purpose: ./dev regen --abi"
      echo "A symbol that was removed breaks programs that use it: put it back."
      return 1
    }
}

only_ours() {
  ! exported | grep -vE '^cdam_'
}

declared() {
  local missing
  missing=$(comm -3 <(exported) <(cat "$root"/{runtime,generated}/include/cofferdam/*.h |
    tr '\n' ' ' | grep -oE 'CDAM_API[^;]*;' | grep -oE '\bcdam_[a-z0-9_]+ *\(' | tr -d ' (' |
    sort -u))
  [ -z "$missing" ] || {
    echo "exported but not declared (left), declared but not exported (right):"
    echo "$missing"
    return 1
  }
}

same_abi() {
  local new status=0
  new=$(mktemp)
  dump "$new" && compare "$new" || status=$?
  rm -f "$new"
  [ "$status" = 0 ] || {
    echo "The ABI has changed: programs that were built with the library as it was would break."
    echo "Undo that, or give the library a new soversion and say ./dev regen --abi-break"
    return 1
  }
}

static_names() {
  ! nm -g --defined-only "$build/libcofferdam.a" 2>/dev/null | awk 'NF == 3 { print $3 }' |
    grep -vE '^(cdam_|cofferdam__v1__|cofferdam__agent__v1__)'
}

# libc and what dependency() names in meson.build; a new one is a decision.
needs() {
  diff <(readelf -d "$library" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | sort) - <<'LIST'
libarchive.so.13
libc.so.6
libcrypto.so.3
libcurl.so.4
libjansson.so.4
libprotobuf-c.so.1
libuuid.so.1
LIST
}

soname() {
  readelf -d "$library" | grep -F 'soname: [libcofferdam.so.0]'
}

hardened() {
  local headers
  headers=$(readelf -lW "$library")
  ! grep -E 'GNU_STACK.*RWE' <<<"$headers" && grep -q GNU_RELRO <<<"$headers" &&
    ! readelf -d "$library" | grep TEXTREL
}

tap "exported symbols are those of tests/abi/symbols.txt" same_symbols
tap "exported symbols begin with cdam_" only_ours
tap "what is exported is what the public headers declare" declared
tap "names in the static library are our own" static_names
tap "the soname" soname
tap "the shared library needs the libraries that it should" needs
tap "no executable stack, no text relocations" hardened
if command -v abidw >/dev/null; then
  tap "the ABI is that of tests/abi/cofferdam.abi" same_abi
else
  tap_skip "the ABI is that of tests/abi/cofferdam.abi" "abidw is missing (abigail-tools)"
fi
tap_plan
