#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh SECONDS: both fuzz targets, with clang, in a scratch directory.
set -euo pipefail
seconds=${1:-30}
here=$(cd "$(dirname "$0")" && pwd)
agent="$here/../../../runtime/agent"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
protoc-c -I"$here/../../../schema" --c_out="$work" \
  "$here/../../../schema/cofferdam/agent/v1/agent.proto"
# shellcheck disable=SC2054 # the commas are the compiler's
flags=(-std=gnu11 -D_GNU_SOURCE -DAGENT_NO_SHARED_MEMORY -g -O1 -fsanitize=fuzzer,address,undefined
  -fno-sanitize-recover=undefined -I"$work" -I"$agent")
generated="$work/cofferdam/agent/v1/agent.pb-c.c"
sources=()
for source in "$agent"/*.c; do
  case ${source##*/} in
    main.c | init.c | relay.c | listener.c | spawn.c) ;;
    *) sources+=("$source") ;;
  esac
done
clang "${flags[@]}" "$here/fuzz_frame.c" "$agent/frame.c" "$generated" -lprotobuf-c -o "$work/frame"
clang "${flags[@]}" "$here/fuzz_session.c" "${sources[@]}" "$generated" -lprotobuf-c \
  -o "$work/session"
mkdir "$work/workspace" "$work/corpus"
PYTHONPATH="$here/.." /usr/bin/python3 "$here/seeds.py" "$work/corpus"
cd "$work"
ASAN_OPTIONS=detect_leaks=1 ./frame -max_total_time="$seconds" -max_len=8192 -verbosity=0
AGENT_FUZZ_DIR="$work/workspace" ASAN_OPTIONS=detect_leaks=0 ./session \
  -max_total_time="$seconds" -max_len=8192 -verbosity=0 corpus
