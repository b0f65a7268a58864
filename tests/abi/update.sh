#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes symbols.txt and cofferdam.abi again: update.sh --abi|--abi-break BUILD
# With --abi only additions are accepted.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$2
# shellcheck source=tests/abi/lib.sh
. "$root/tests/abi/lib.sh"

new=$(mktemp)
trap 'rm -f "$new"' EXIT
dump "$new"
if [ -e "$here/cofferdam.abi" ] && [ "$1" = --abi ] && ! compare "$new"; then
  echo "The changes above break programs that use the library. Nothing was written." >&2
  echo "On purpose, with a new soversion: ./dev regen --abi-break" >&2
  exit 1
fi
[ ! -e "$here/symbols.txt" ] || diff "$here/symbols.txt" <(exported) || true
exported >"$here/symbols.txt"
cp "$new" "$here/cofferdam.abi"
chmod 644 "$here/cofferdam.abi"
echo "$(wc -l <"$here/symbols.txt") symbols"
