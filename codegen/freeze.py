# SPDX-License-Identifier: Apache-2.0
"""Freezes the schema as its next released revision: schema/released/rN.binpb and its sum.

release.py (`./dev release-revision`) does that together with the goldens. Alone it is for schemas
that have none.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import pathlib
import sys

import compat
import model
from descriptors import compile_schema
from problems import Problems, SchemaError

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Frozen:
    """What would be written. `files` is the descriptor set with its source positions."""

    number: int
    path: pathlib.Path
    data: bytes
    files: object


def prepare(schema: pathlib.Path) -> Frozen:
    """The newest revision that the schema speaks of."""
    files = compile_schema(schema)
    number = model.build(files).revision
    bare = type(files)()
    bare.CopyFrom(files)
    for file in bare.file:
        file.ClearField("source_code_info")
    data = bare.SerializeToString(deterministic=True)
    return Frozen(number, schema / f"released/r{number}.binpb", data, files)


def check(problems: Problems, schema: pathlib.Path, frozen: Frozen) -> bool:
    """Adds what keeps the revision from being frozen. Whether it is one that is not yet frozen."""
    try:
        newest = len(compat.frozen_files(problems, schema / "released"))
        if frozen.number not in (newest, newest + 1):
            problems.add(
                str(schema), f"the newest since_revision is {frozen.number}; r{newest} is frozen"
            )
        compat.check_history(problems, schema, frozen.number)
        compat.check(schema, frozen.files)
    except SchemaError as error:
        for line in error.problems:
            where, _, reason = line.partition(": ")
            problems.add(where, reason)
    return frozen.number == newest + 1


def listed(schema: pathlib.Path) -> str:
    sums_file = schema / "released/SHA256SUMS"
    return sums_file.read_text("utf-8") if sums_file.is_file() else ""


def sums(schema: pathlib.Path, frozen: Frozen) -> bytes:
    digest = hashlib.sha256(frozen.data).hexdigest()
    return f"{listed(schema)}{digest}  {frozen.path.name}\n".encode("utf-8")


def freeze(schema: pathlib.Path) -> pathlib.Path:
    problems = Problems()
    frozen = prepare(schema)
    if not check(problems, schema, frozen):
        problems.add(
            str(schema),
            f"the newest since_revision is {frozen.number}; r{frozen.number} is frozen",
        )
    problems.raise_if_any()
    frozen.path.write_bytes(frozen.data)
    (schema / "released/SHA256SUMS").write_bytes(sums(schema, frozen))
    return frozen.path


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
