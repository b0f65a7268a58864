#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev lint: everything that can be said about the sources without running them.
set -euo pipefail
# shellcheck source=tools/common.sh
. "$COFFERDAM_ROOT/tools/common.sh"

need_packages "${BUILD_PACKAGES[@]}" "${LINT_PACKAGES[@]}" git
failed=0

check() {
  local what=$1
  shift
  if "$@"; then
    echo "ok      $what"
  else
    echo "FAILED  $what"
    failed=1
  fi
}

# Written by hand, and known to git or about to be.
by_hand() {
  git ls-files --cached --others --exclude-standard -- "$@" | grep -v '^generated/' |
    while read -r file; do [ ! -s "$file" ] || echo "$file"; done
}

scripts() {
  by_hand '*.sh'
  by_hand dev .ci/run tests codegen tools | grep -v '\.sh$' | while read -r file; do
    if head -n 1 "$file" | grep -qE '^#!.*\b(ba)?sh$'; then echo "$file"; fi
  done
}

long_lines() {
  ! by_hand '*.c' '*.h' '*.sh' dev | xargs grep -nE '^.{101,}$'
}

# The exit status of grep -L differs between its versions.
licensed() {
  local without
  without=$(by_hand '*.c' '*.h' '*.sh' '*.py' dev |
    xargs grep -L 'SPDX-License-Identifier: Apache-2.0' || true)
  [ -z "$without" ] || { echo "$without"; return 1; }
}

# Leaks are for the sanitizer and the tests out of memory; gcc 12 sees too many.
analysed() {
  rm -rf build-analyze
  local log status=0 flags='-fanalyzer -O1 -Wno-analyzer-malloc-leak -DCDAM_ANALYZE'
  log=$(mktemp)
  CFLAGS=$flags meson setup build-analyze . -Dwerror=false >"$log" 2>&1 &&
    ninja -C build-analyze libcofferdam.so."$(meson introspect --projectinfo build-analyze |
      sed -E 's/.*"version": "([^"]*)".*/\1/')" >"$log" 2>&1 || status=1
  grep -A12 -E 'warning:.*\[-Wanalyzer' "$log" && status=1
  [ "$status" = 0 ] || tail -3 "$log"
  rm -rf "$log" build-analyze
  return "$status"
}

mapfile -t sources < <(by_hand '*.c' '*.h')
mapfile -t shell < <(scripts)
check "clang-format" clang-format --dry-run -Werror "${sources[@]}"
check "shellcheck" shellcheck "${shell[@]}"
check "lines of 100 columns at most" long_lines
check "licence lines" licensed
check "gcc -fanalyzer" analysed
[ ! -e codegen/compat.py ] || check "schema compatibility" python3 codegen/compat.py
[ ! -e codegen/generate.py ] || check "generated/ is up to date" tools/regen.sh --check
if command -v buf >/dev/null; then
  check "buf lint" buf lint schema
else
  echo "skipped buf lint: there is no buf on this machine"
fi
exit "$failed"
