# SPDX-License-Identifier: Apache-2.0
"""Freezes the schema as its next released revision: schema/released/rN.binpb and its sum.

To be run once for each release that changes the schema, when `## rN` is in HISTORY.md.
"""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import sys

import compat
import model
from descriptors import compile_schema
from problems import Problems, SchemaError

ROOT = pathlib.Path(__file__).resolve().parent.parent


def freeze(schema: pathlib.Path) -> pathlib.Path:
    problems = Problems()
    released = schema / "released"
    frozen = compat.frozen_files(problems, released)
    files = compile_schema(schema)
    number = model.build(files).revision
    if number != len(frozen) + 1:
        problems.add(
            str(schema), f"the newest since_revision is {number}; r{len(frozen)} is frozen"
        )
    compat.check_history(problems, schema, number)
    problems.raise_if_any()
    compat.check(schema, files)
    for file in files.file:
        file.ClearField("source_code_info")
    path = released / f"r{number}.binpb"
    path.write_bytes(files.SerializeToString(deterministic=True))
    with open(released / "SHA256SUMS", "a", encoding="utf-8") as sums:
        sums.write(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description="Freezes the schema as its next revision.")
    parser.add_argument("--schema", type=pathlib.Path, default=ROOT / "schema", metavar="DIR")
    args = parser.parse_args()
    try:
        print(f"{freeze(args.schema)} is frozen")
    except SchemaError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
