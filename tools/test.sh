#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test: builds everything and runs all tests, or those that are named.
set -euo pipefail
# shellcheck source=tools/common.sh
. "$COFFERDAM_ROOT/tools/common.sh"

need_packages "${BUILD_PACKAGES[@]}" "${ENGINE_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
# Other languages' libraries come from their registries, and where the tests run there is no
# network. What could not be had is skipped there, and says so.
build_languages() {
  local folder
  need_tools "${LANGUAGE_TOOLS[@]}"
  need_packages python3-venv ca-certificates
  timeout 300 python3 tests/interop/agents_sdk/run.py \
    --build build-asan/tests/interop/agents_sdk/work >&2 || say "its tests will say so"
  say "building the programs of other languages"
  export COFFERDAM_CLI=$COFFERDAM_ROOT/build-asan/runtime/cli/cofferdam
  for folder in tests/interop tests/interop/agents_sdk; do
    npm_config_fetch_timeout=60000 timeout 600 \
      codegen/python "$folder/run.py" --build "build-asan/$folder/work" >&2 ||
      say "not all of them; their tests will say so"
  done
}

build_tree asan
languages=
if [ $# -eq 0 ] || [[ " $* " == *" interop "* ]]; then
  build_languages &
  languages=$!
fi
build_tree release
build_tree tsan programs_of_threads
# Compiled only: another compiler, other warnings.
[ $# -gt 0 ] || build_tree clang
[ -z "$languages" ] || wait "$languages" || die "other languages' tools could not be had; see above"

# The same holds for the foreign packages that the agent for arm64 is built with.
if [ $# -eq 0 ] || [[ " $* " == *" agent"* ]]; then
  runtime/agent/build.sh build-asan/tests/agent/arm64 arm64 >&2 || say "its tests will say so"
fi

library=$(echo "$COFFERDAM_ROOT"/build-release/libcofferdam.so.*.*.*[0-9])
stripped=$(mktemp)
strip -o "$stripped" "$library"
say "the stripped shared library has $(stat -c %s "$stripped") bytes"
rm -f "$stripped"

exec tools/with-engine.sh --tls --registry python3 tools/run_tests.py "$@"
