#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone, as C11 and as C++, by every compiler at hand, and needs
# nothing but the standard library: check.sh INCLUDE-DIRECTORY…
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

includes=()
headers=()
for directory in "$@"; do
  includes+=(-I "$directory")
  for header in "$directory"/cofferdam/*.h; do
    headers+=("cofferdam/${header##*/}")
  done
done

# The search path is nothing but what an outside program would have.
compiles() {
  local language=$1 header=$2
  shift 2
  printf '#include <%s>\n#include <%s>\nextern int used;\n' "$header" "$header" |
    "$@" -x "$language" -pedantic -Wall -Wextra -Wundef -Werror -fsyntax-only "${includes[@]}" -
}

# In C++ a prototype without extern "C" compiles well, and fails to link later.
has_c_linkage() {
  ! printf '#include <%s>\n' "$1" | g++ -x c++ -E -P "${includes[@]}" - |
    sed -n '/extern "C" {/,/^}$/!p' | grep -E '\bcdam_[a-z_]+ *\('
}

# Third-party types in a public header would become part of the ABI.
includes_only_standard() {
  local directory
  ! for directory in "$@"; do
    grep -HE '^#include' "$directory"/cofferdam/*.h
  done | grep -vE '<(cofferdam/[a-z_]+|stdbool|stddef|stdint)\.h>'
}

for header in "${headers[@]}"; do
  for compiler in gcc clang; do
    if command -v "$compiler" >/dev/null; then
      tap "$header as C11 ($compiler)" compiles c "$header" "$compiler" -std=c11
    else
      tap_skip "$header as C11 ($compiler)" "there is no $compiler"
    fi
  done
  for compiler in g++ clang++; do
    if command -v "$compiler" >/dev/null; then
      tap "$header as C++11 ($compiler)" compiles c++ "$header" "$compiler" -std=c++11
      tap "$header as C++20 ($compiler)" compiles c++ "$header" "$compiler" -std=c++20
    else
      tap_skip "$header as C++ ($compiler)" "there is no $compiler"
    fi
  done
  tap "$header declares functions with C linkage" has_c_linkage "$header"
done
tap "public headers include nothing but ours and the standard library's" \
  includes_only_standard "$@"
tap_plan
