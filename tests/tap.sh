# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# TAP for test scripts; sourced. Each case is a command; its output is shown when it fails.

tap_count=0

# tap NAME COMMAND…
tap() {
  local name=$1 output
  shift
  tap_count=$((tap_count + 1))
  if output=$("$@" 2>&1); then
    echo "ok $tap_count - $name"
  else
    echo "not ok $tap_count - $name"
    printf '%s\n' "$output" | sed 's/^/# /'
  fi
}

# tap_skip NAME REASON
tap_skip() {
  tap_count=$((tap_count + 1))
  echo "ok $tap_count - $1 # SKIP $2"
}

tap_plan() {
  echo "1..$tap_count"
}
