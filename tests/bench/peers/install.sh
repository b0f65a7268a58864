#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh DIRECTORY: dockerode for the bench, where node and its registry are at hand.
set -euo pipefail
mkdir -p "$1"
cp "$(dirname "$0")"/{package.json,dockerode.mjs} "$1"
cd "$1"
timeout 120 npm install --silent --no-audit --no-fund >/dev/null 2>&1
