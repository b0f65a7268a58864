#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev release-revision: freezes the schema, its goldens and its history as the next revision.
set -euo pipefail
# shellcheck source=tools/common.sh
. "$COFFERDAM_ROOT/tools/common.sh"

[ $# -eq 0 ] || die "usage: ./dev release-revision"
need_packages "${BUILD_PACKAGES[@]}"
python3 codegen/release.py
# The tables have a column for each released revision.
python3 tests/revisions/matrix.py --write-docs >/dev/null
