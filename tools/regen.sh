#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev regen [--check | --abi | --abi-break]
set -euo pipefail
# shellcheck source=tools/common.sh
. "$COFFERDAM_ROOT/tools/common.sh"

need_packages "${BUILD_PACKAGES[@]}"
case ${1:-} in
  --abi | --abi-break)
    need_packages abigail-tools
    build_tree release
    exec tests/abi/update.sh "$1" build-release ;;
  '' | --check) exec python3 codegen/generate.py "$@" ;;
  *) die "usage: ./dev regen [--check | --abi | --abi-break]" ;;
esac
