# SPDX-License-Identifier: Apache-2.0
"""Makes generated/ from schema/. Run it by `./dev regen`, or by
`codegen/python codegen/generate.py`."""

from __future__ import annotations

import argparse
import pathlib
import sys

import model
import profile_texts
from descriptors import compile_agent, compile_schema, read_set
from emit import emit_all
from problems import SchemaError

ROOT = pathlib.Path(__file__).resolve().parent.parent


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Makes generated/ from schema/.")
    parser.add_argument(
        "--schema",
        type=pathlib.Path,
        default=ROOT / "schema",
        metavar="DIR",
        help="the directory of the .proto files (default: schema/)",
    )
    parser.add_argument(
        "--descriptor-set",
        type=pathlib.Path,
        metavar="FILE",
        help="read this descriptor set instead, such as schema/released/r1.binpb",
    )
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=ROOT / "generated",
        metavar="DIR",
        help="where to write (default: generated/)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; list what is stale, and exit with 1 if anything is",
    )
    return parser.parse_args()


def generate(schema: pathlib.Path, descriptor_set: pathlib.Path | None) -> dict[str, bytes]:
    """Every generated file, by its path under generated/."""
    files = read_set(descriptor_set) if descriptor_set else compile_schema(schema)
    agent = compile_agent(schema)  # it is always today's
    made = model.build(files, profile_texts.read(schema), descriptor_set is not None)
    return {name: text.encode("utf-8") for name, text in emit_all(made, files, agent).items()}


def existing(out: pathlib.Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}


def stale(files: dict[str, bytes], out: pathlib.Path) -> list[str]:
    """What differs from the files in `out`, one line each."""
    lines = []
    for name, content in files.items():
        path = out / name
        if not path.is_file():
            lines.append(f"{name}: is missing")
        elif path.read_bytes() != content:
            lines.append(f"{name}: differs from what the schema gives")
    lines += [f"{name}: is made by no emitter" for name in sorted(existing(out) - set(files))]
    return lines


def write(files: dict[str, bytes], out: pathlib.Path) -> int:
    """Writes what has changed, deletes what is made no more; the number of changes."""
    changes = 0
    for name, content in files.items():
        path = out / name
        if path.is_file() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        changes += 1
    for name in existing(out) - set(files):
        (out / name).unlink()
        changes += 1
    return changes


def main() -> int:
    args = arguments()
    try:
        files = generate(args.schema, args.descriptor_set)
    except SchemaError as error:
        print(error, file=sys.stderr)
        return 1
    if args.check:
        lines = stale(files, args.out)
        for line in lines:
            print(line, file=sys.stderr)
        if lines:
            print("generated/ is stale; ./dev regen makes it again", file=sys.stderr)
        return 1 if lines else 0
    print(f"{len(files)} files, {write(files, args.out)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
