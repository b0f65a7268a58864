# SPDX-License-Identifier: Apache-2.0
"""What the generator's tests share: copies of schemas, edited and run through codegen/."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CODEGEN = ROOT / "codegen"
HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = pathlib.PurePosixPath("cofferdam/v1")

sys.path.insert(0, str(CODEGEN))

# The flags of meson.build that make warnings of generated code errors.
C_FLAGS = (
    "-std=gnu11",
    "-D_GNU_SOURCE",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
    "-Wformat=2",
    "-Wpointer-arith",
    "-Wundef",
    "-Wvla",
    "-Werror",
)


def run(*command, cwd=None, env=None, timeout=300) -> subprocess.CompletedProcess:
    """Runs a program; its output as text. Each finds its library by itself: what Meson sets would
    lead a program of one build to the library of another."""
    environment = {**os.environ, **(env or {})}
    environment.pop("LD_LIBRARY_PATH", None)
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=environment,
        timeout=timeout,
    )


def python(*command, **options) -> subprocess.CompletedProcess:
    return run(CODEGEN / "python", *command, **options)


# What is needed to generate and build the library and its command line.
PARTS = ("codegen", "generated", "man", "runtime", "schema", "meson.build", "LICENSE")


def must(done: subprocess.CompletedProcess) -> subprocess.CompletedProcess:
    if done.returncode != 0:
        raise AssertionError(f"{done.args}\n{done.stdout}\n{done.stderr}")
    return done


def copy_tree(to: pathlib.Path) -> None:
    """A copy of the project without its tests."""
    to.mkdir()
    for part in PARTS:
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, to / part)
    meson = to / "meson.build"
    meson.write_text(meson.read_text("utf-8").replace("subdir('tests')\n", ""), "utf-8")


def build_tree(source: pathlib.Path, build: pathlib.Path) -> pathlib.Path:
    """Builds such a copy; the path of its command line."""
    must(run("meson", "setup", "--buildtype=debug", "--prefix=/usr", build, source))
    must(run("ninja", "-C", build, "-j2", timeout=1200))
    return build / "runtime/cli/cofferdam"


class Scratch(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self) -> None:
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="cofferdam-codegen-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def copy_of(self, schema: pathlib.Path, name: str = "schema") -> pathlib.Path:
        """A copy of a schema directory, with the real annotations.proto."""
        copy = self.directory / name
        shutil.copytree(schema, copy)
        shutil.copy(ROOT / "schema" / SCHEMA / "annotations.proto", copy / SCHEMA)
        return copy

    def small_schema(self) -> pathlib.Path:
        """A copy of the small schema, which has an option of every kind."""
        return self.copy_of(HERE / "schema")

    def edit(
        self, schema: pathlib.Path, file: str, old: str, new: str, there: str = "[(field)"
    ) -> int:
        """Replaces a text that is there once. Returns the number of a line: that with `@@` in the
        new text, or else the last one with `there` up to the edit."""
        path = schema / SCHEMA / file
        text = path.read_text("utf-8")
        self.assertEqual(text.count(old), 1, f"{old!r} in {file}")
        at = text.index(old) + len(old)
        text = text.replace(old, new)
        mark = text.index("@@") if "@@" in text else max(0, text.rfind(there, 0, at))
        path.write_text(text.replace("@@", ""), "utf-8")
        return text[:mark].count("\n") + 1

    def generate(self, schema: pathlib.Path, *more) -> subprocess.CompletedProcess:
        return python(
            CODEGEN / "generate.py",
            "--schema",
            schema,
            "--out",
            self.directory / "generated",
            *more,
        )

    def compile(self, generated: pathlib.Path, compiler: str = "gcc") -> None:
        """Every generated C file compiles without a warning."""
        includes = [
            f"-I{path}"
            for path in (
                ROOT / "runtime",
                ROOT / "runtime/include",
                generated / "c",
                generated / "include",
            )
        ]
        for source in sorted(generated.rglob("*.c")):
            done = run(compiler, *C_FLAGS, *includes, "-fsyntax-only", source)
            self.assertEqual(done.returncode, 0, done.stderr)


def tree(directory: pathlib.Path) -> dict[str, bytes]:
    """Every file under a directory."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }
