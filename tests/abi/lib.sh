# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What check.sh and update.sh share; sourced with `root` and `build` set.

# shellcheck disable=SC2154
library=$(echo "$build"/libcofferdam.so.*.*.*[0-9])
# shellcheck disable=SC2154
here=$root/tests/abi

exported() {
  nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | sort
}

# The public interface only; nothing of where the sources stood.
dump() {
  abidw --exported-interfaces-only --drop-private-types \
    --headers-dir "$root/runtime/include" --headers-dir "$root/generated/include" \
    --no-show-locs --no-comp-dir-path --no-corpus-path --out-file "$1" "$library"
}

# abidiff's status has bit 4 for any change, bit 8 for one that breaks programs.
compare() {
  abidiff --no-added-syms --suppressions "$here/opaque.abignore" "$here/cofferdam.abi" "$1"
}
