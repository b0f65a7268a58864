#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes, as C, the script that is sent to sandboxes without an agent: a request carries all of it,
# so what only a reader needs is left out.
set -eu
cd "$(dirname "$0")"
printf '#include "file/engine.h"\n\nconst char cdam_file_engine_script[] =\n'
sed -e 's/^ *//' -e '/^#/d' -e '/^$/d' -e 's/["\\]/\\&/g' -e 's/.*/    "&\\n"/' \
  engine_walk.sh engine_tree.sh engine_calls.sh
printf '    ;\n'
