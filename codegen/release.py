# SPDX-License-Identifier: Apache-2.0
"""Releases the schema's next revision: `./dev release-revision`.

Everything is checked first. Then the descriptor set and the sums of it and of the goldens are
written, all or none. When the revision is released already, nothing is done.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import compat
import freeze
import generate
import golden_files
from emit import describe
from problems import Problems, SchemaError

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "schema"
GOLDENS = ROOT / "tests/golden/states"


def undo_interrupted(frozen: freeze.Frozen) -> None:
    """A set that is there and not listed is of a release that was killed, when it is what this one
    would write."""
    if (
        frozen.path.is_file()
        and f"  {frozen.path.name}\n" not in freeze.listed(SCHEMA)
        and frozen.path.read_bytes() == frozen.data
    ):
        frozen.path.unlink()


def check_tree(problems: Problems, number: int) -> None:
    """What is made from the schema is up to date, and says since when."""
    if number not in describe.RELEASES:
        problems.add(
            "codegen/emit/describe.py", f"RELEASES does not say with which release r{number} comes"
        )
    for line in generate.stale(generate.generate(SCHEMA, None), ROOT / "generated"):
        problems.add("generated", f"{line} (./dev regen)")


def check_goldens(problems: Problems, frozen: freeze.Frozen) -> None:
    """The goldens of this revision use all that it brings; those of older ones are untouched."""
    golden_files.check_listed(problems, GOLDENS)
    golden_files.check_news(problems, GOLDENS, frozen.files, frozen.number)
    maker = ROOT / "tests/golden/make_goldens.py"
    done = subprocess.run(
        [sys.executable, str(maker), "--check"], capture_output=True, text=True, check=False
    )
    for line in (done.stdout + done.stderr).splitlines():
        if done.returncode and not line.endswith(": unchanged"):
            problems.add("tests/golden", line)


def write_all(files: dict[pathlib.Path, bytes]) -> None:
    """All or none: what has been replaced is put back when something fails."""
    before = {path: path.read_bytes() if path.exists() else None for path in files}
    written, done = {}, []
    try:
        for path, data in files.items():
            written[path] = path.with_name(f".{path.name}.new")
            with open(written[path], "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for path, new in written.items():
            os.replace(new, path)
            done.append(path)
    except BaseException:
        for path in done:
            if before[path] is None:
                path.unlink()
            else:
                path.write_bytes(before[path])
        for new in written.values():
            new.unlink(missing_ok=True)
        raise


def release() -> str:
    """What was done."""
    frozen = freeze.prepare(SCHEMA)
    undo_interrupted(frozen)
    problems = Problems()
    fresh = freeze.check(problems, SCHEMA, frozen)
    check_tree(problems, frozen.number)
    check_goldens(problems, frozen)
    problems.raise_if_any()
    files = {}
    if fresh:
        # In this order, so that a release that is killed in between can be run again.
        files[frozen.path] = frozen.data
        files[SCHEMA / "released/SHA256SUMS"] = freeze.sums(SCHEMA, frozen)
    files |= golden_files.sums(GOLDENS, frozen.number)
    changed = {
        path: data
        for path, data in files.items()
        if not path.exists() or path.read_bytes() != data
    }
    write_all(changed)
    name = f"r{frozen.number}"
    if not fresh and not changed:
        return f"{name} is released already; nothing to do"
    lines = [f"{name} is released" if fresh else f"{name} is released already; goldens were new"]
    lines += [str(path.relative_to(ROOT)) for path in changed]
    lines += [f"golden {path}" for path in golden_files.names(GOLDENS, frozen.number)]
    return "\n".join(lines)


def main() -> int:
    try:
        print(release())
    except SchemaError as error:
        print(error, file=sys.stderr)
        print("nothing was released", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
