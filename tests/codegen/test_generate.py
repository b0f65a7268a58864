# SPDX-License-Identifier: Apache-2.0
"""What the generator writes: the committed files, the same bytes everywhere, C that compiles."""

from __future__ import annotations

import shutil
import unittest

from support import CODEGEN, HERE, ROOT, SCHEMA, Scratch, python, run, tree

GENERATED = ROOT / "generated"
MADE_BY = "Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen"


class Committed(unittest.TestCase):
    def test_generated_is_up_to_date(self) -> None:
        done = python(CODEGEN / "generate.py", "--check")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_file_says_what_made_it(self) -> None:
        for name, content in tree(GENERATED).items():
            self.assertIn(MADE_BY, content.decode().split("\n", 1)[0], name)

    def test_the_schema_keeps_its_promises(self) -> None:
        done = python(CODEGEN / "compat.py")
        self.assertEqual(done.returncode, 0, done.stderr)


class Stale(Scratch):
    def check(self) -> list[str]:
        done = python(CODEGEN / "generate.py", "--check", "--out", self.directory / "generated")
        self.assertEqual(done.returncode, 1 if done.stderr else 0)
        return done.stderr.splitlines()

    def setUp(self) -> None:
        super().setUp()
        self.copy = self.directory / "generated"
        shutil.copytree(GENERATED, self.copy)

    def test_a_copy_is_fine(self) -> None:
        self.assertEqual(self.check(), [])

    def test_an_edited_file_is_found(self) -> None:
        path = self.copy / "c/compare.c"
        path.write_text(
            path.read_text("utf-8").replace("CDAM_COMPARE_EXACT", "CDAM_COMPARE_ABSENT_OR_EQUAL"),
            "utf-8",
        )
        self.assertIn("c/compare.c: differs from what the schema gives", self.check())

    def test_a_missing_file_is_found(self) -> None:
        (self.copy / "docs/options.md").unlink()
        self.assertIn("docs/options.md: is missing", self.check())

    def test_a_file_too_many_is_found(self) -> None:
        (self.copy / "c/more.c").write_text("", "utf-8")
        self.assertIn("c/more.c: is made by no emitter", self.check())

    def test_a_changed_schema_is_found(self) -> None:
        schema = self.copy_of(ROOT / "schema")
        self.edit(schema, "options.proto", "max_items: 256", "max_items: 255")
        done = self.generate(schema, "--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("c/validate.c: differs", done.stderr)

    def test_writing_mends_it(self) -> None:
        (self.copy / "c/more.c").write_text("", "utf-8")
        (self.copy / "c/compare.c").unlink()
        done = python(CODEGEN / "generate.py", "--out", self.copy)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(tree(self.copy), tree(GENERATED))


class SameBytes(Scratch):
    """Neither locale, hash seed nor directory changes a byte."""

    def made(self, name: str, cwd, **env) -> dict[str, bytes]:
        out = self.directory / name
        done = python(
            CODEGEN / "generate.py", "--schema", self.schema, "--out", out, cwd=cwd, env=env
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return tree(out)

    def test_same_bytes(self) -> None:
        self.schema = self.small_schema()
        first = self.made("first", ROOT, PYTHONHASHSEED="1", LC_ALL="C")
        for number, (cwd, env) in enumerate(
            (
                ("/", {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8"}),
                (
                    self.directory,
                    {"PYTHONHASHSEED": "77", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Tokyo"},
                ),
                (ROOT, {"PYTHONHASHSEED": "3", "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}),
            )
        ):
            self.assertEqual(self.made(str(number), cwd, **env), first)

    def test_source_positions_do_not_matter(self) -> None:
        self.schema = self.small_schema()
        first = self.made("first", ROOT)
        plain = self.directory / "plain.binpb"
        done = run(
            "protoc",
            f"-I{self.schema}",
            "-I/usr/include",
            "--include_imports",
            f"--descriptor_set_out={plain}",
            *[f"{SCHEMA}/{name}.proto" for name in ("annotations", "options", "state")],
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        out = self.directory / "second"
        done = python(
            CODEGEN / "generate.py", "--schema", self.schema, "--descriptor-set", plain, "--out", out
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(tree(out), first)


class Compiled(Scratch):
    def test_the_small_schema_compiles(self) -> None:
        done = self.generate(self.small_schema())
        self.assertEqual(done.returncode, 0, done.stderr)
        for compiler in ("gcc", "clang"):
            if shutil.which(compiler):
                self.compile(self.directory / "generated", compiler)

    def test_long_names_compile(self) -> None:
        """Wherever a line has to be broken."""
        schema = self.small_schema()
        long = "_with_a_name_that_is_longer_than_most"
        for name in ("bool read_only", "string user", "string drops", "uint32 groups", "> tmpfs"):
            self.edit(schema, "options.proto", f"{name} = ", f"{name}{long} = ")
        done = self.generate(schema)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.compile(self.directory / "generated")

    def test_every_released_revision_generates_and_compiles(self) -> None:
        frozen = sorted((ROOT / "schema/released").glob("*.binpb"))
        self.assertGreaterEqual(len(frozen), 2)
        for path in frozen:
            out = self.directory / path.stem
            done = python(CODEGEN / "generate.py", "--descriptor-set", path, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.compile(out)

    def test_what_is_no_descriptor_set_is_refused(self) -> None:
        done = python(
            CODEGEN / "generate.py",
            "--descriptor-set",
            ROOT / "LICENSE",
            "--out",
            self.directory / "out",
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a descriptor set", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_every_kind_of_option_works(self) -> None:
        done = self.generate(self.small_schema())
        self.assertEqual(done.returncode, 0, done.stderr)
        generated, program = self.directory / "generated", self.directory / "every_kind"
        sources = [
            *sorted((generated / "c").rglob("*.c")),
            *sorted((generated / "cli").glob("*.c")),
            *sorted((ROOT / "runtime/options").glob("*.c")),
            *sorted((ROOT / "runtime/base").glob("*.c")),
            ROOT / "runtime/engine/image_reference.c",
            ROOT / "runtime/engine/answer.c",
            ROOT / "runtime/state/message.c",
            ROOT / "runtime/state/schema.c",
            ROOT / "runtime/state/values.c",
        ]
        includes = [
            f"-I{path}"
            for path in (
                ROOT / "runtime",
                ROOT / "runtime/include",
                generated / "c",
                generated / "include",
            )
        ]
        done = run(
            "gcc",
            "-std=gnu11",
            "-D_GNU_SOURCE",
            "-g",
            "-fsanitize=address,undefined",
            *includes,
            HERE / "every_kind.c",
            *sources,
            "-o",
            program,
            "-ljansson",
            "-lprotobuf-c",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(program)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


if __name__ == "__main__":
    unittest.main()
