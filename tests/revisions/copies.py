# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree, for tests that change it."""

from __future__ import annotations

import pathlib
import re
import shutil

from libraries import ROOT

NOT_COPIED = shutil.ignore_patterns("build", "build-*", ".git", "__pycache__", "target",
                                    "node_modules")


def copy_tree(to: pathlib.Path, parts: tuple[str, ...] = ()) -> pathlib.Path:
    """All of the tree, or some parts of it."""
    if not parts:
        shutil.copytree(ROOT, to, ignore=NOT_COPIED, symlinks=True)
    for part in parts:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, to / part, ignore=NOT_COPIED)
        else:
            (to / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / part, to / part)
    return to


def files_of(tree: pathlib.Path) -> dict[str, bytes]:
    return {path.relative_to(tree).as_posix(): path.read_bytes()
            for path in sorted(tree.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts}


# ---- edits, as docs/changing-the-schema.md words them ----

EDIT = re.compile(r"(?:(?P<where>Before|Last in) `(?P<what>[^`]+)`(?: under `(?P<under>[^`]+)`)?"
                  r" (?:of|in)|At the end of) `(?P<file>[^`]+)`:")


def _index(lines: list[str], text: str, begin: int = 0) -> int:
    for index in range(begin, len(lines)):
        if text in lines[index]:
            return index
    raise AssertionError(f"no line has {text!r}")


def apply(tree: pathlib.Path, edit: re.Match, block: str) -> str:
    """Puts a block where the sentence says; the name of the file."""
    path = tree / edit["file"]
    lines = path.read_text("utf-8").splitlines(keepends=True)
    at = len(lines)
    if edit["where"]:
        begin = _index(lines, edit["under"]) if edit["under"] else 0
        at = _index(lines, edit["what"], begin)
    if edit["where"] == "Last in":
        # What it closes with stands as far to the left as what it begins with.
        indent = re.match(" *", lines[at]).group()
        at = next(index for index in range(at + 1, len(lines))
                  if re.match(indent + r"[}\]]", lines[index]))
    path.write_text("".join([*lines[:at], block, *lines[at:]]), "utf-8")
    return edit["file"]
