# SPDX-License-Identifier: Apache-2.0
"""The one-field test: a new isolating option, by its field, its feature and annotations alone, is
validated, sent, persisted, listed, applied again, compared, shown and documented; no line of the
runtime changes, and a library without it refuses its states.

COFFERDAM_CLI names the command line of the unchanged library. The parts that need an engine are
skipped unless DOCKER_HOST names one.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import tempfile
import unittest

from support import HERE, SCHEMA, build_tree, copy_tree, must, python, run, tree

IMAGE = "cofferdam-test:latest"

FIELD = """
  uint32 cpu_shares = 1000 [(field) = {{
    since_revision: {revision}
    help: "The sandbox's share of a busy processor; 1024 is usual."
    rules: {{ uint: {{ gte: 2 lte: 262144 }} }}
    create: {{ path: "HostConfig.CpuShares" shape: SHAPE_SCALAR }}
    inspect: {{ path: "HostConfig.CpuShares" compare: COMPARE_EXACT }}
    isolates: true
    feature: "FEATURE_CPU_SHARES"
    unprofiled: "what a share is worth depends on the machine"
    flag: {{ name: "cpu-shares" metavar: "SHARES" }}
  }}];
}}
"""

FEATURE = """
  FEATURE_CPU_SHARES = 1000 [(value) = {{ since_revision: {revision} }}];
}}
"""


def insert(path: pathlib.Path, opening: str, text: str) -> None:
    """Puts a text in the place of the brace that ends what begins with `opening`."""
    before = path.read_text("utf-8")
    after, count = re.subn(
        rf"(?s)({re.escape(opening)} \{{.*?)\n\}}\n",
        lambda match: match.group(1) + text,
        before,
        count=1,
    )
    assert count == 1, opening
    path.write_text(after, "utf-8")


class OneField(unittest.TestCase):
    directory: pathlib.Path
    copy: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="cofferdam-one-field-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        cls.copy = cls.directory / "tree"
        copy_tree(cls.copy)
        cls.runtime = tree(cls.copy / "runtime")
        cls.add_the_field()
        cls.out = cls.directory / "build"
        cls.cli = build_tree(cls.copy, cls.out)
        cls.state = cls.directory / "with-cpu-shares.state"

    @classmethod
    def add_the_field(cls) -> None:
        schema = cls.copy / "schema"
        revision = len(list((schema / "released").glob("r*.binpb"))) + 1
        insert(
            schema / SCHEMA / "options.proto",
            "message SandboxOptions",
            FIELD.format(revision=revision),
        )
        insert(schema / SCHEMA / "state.proto", "enum Feature", FEATURE.format(revision=revision))
        must(python(cls.copy / "codegen/generate.py"))
        must(python(cls.copy / "codegen/compat.py"))

    def cofferdam(self, *args, cli=None, ok=0):
        done = run(cli or self.cli, *args)
        self.assertEqual(done.returncode, ok, done.stdout + done.stderr)
        return done

    # ---- without an engine ----

    def test_1_validated_sent_persisted_listed_compared_and_demanded(self) -> None:
        program = self.directory / "one_field"
        includes = [
            f"-I{self.copy / path}"
            for path in ("runtime", "runtime/include", "generated/c", "generated/include")
        ]
        must(
            run(
                "gcc",
                "-std=gnu11",
                "-D_GNU_SOURCE",
                "-g",
                "-Wall",
                "-Wextra",
                "-Werror",
                *includes,
                HERE / "one_field.c",
                self.out / "libcofferdam_internal.a",
                "-o",
                program,
                "-lcurl",
                "-ljansson",
                "-lprotobuf-c",
                "-lcrypto",
                "-luuid",
                "-larchive",
                "-lpthread",
            )
        )
        done = run(program, self.state)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_2_a_library_without_it_refuses_its_states(self) -> None:
        self.cofferdam("state", "check", self.state)
        done = self.cofferdam("state", "check", self.state, cli=os.environ["COFFERDAM_CLI"], ok=10)
        self.assertIn("feature 1000", done.stderr)

    def test_3_the_command_line_shows_it(self) -> None:
        self.assertRegex(self.cofferdam("create", "--help").stdout, r"--cpu-shares SHARES")
        done = self.cofferdam(
            "create", "--image", "x", "--cpu-shares", "1", "--state", self.directory / "none", ok=10
        )
        self.assertIn("cpu_shares", done.stderr)
        self.assertIn(
            '"cpuShares":512', self.cofferdam("state", "show", self.state).stdout.replace(" ", "")
        )

    def test_4_the_documentation_has_it(self) -> None:
        table = (self.copy / "generated/docs/options.md").read_text("utf-8")
        self.assertRegex(
            table, r"(?m)^\| `cpu_shares` \| `--cpu-shares SHARES` .*FEATURE_CPU_SHARES"
        )

    def test_9_no_line_of_the_runtime_has_changed(self) -> None:
        self.assertEqual(tree(self.copy / "runtime"), self.runtime)

    # ---- on an engine ----

    def docker(self, *args) -> str:
        done = run("docker", *args)
        must(done)
        return done.stdout.strip()

    @unittest.skipUnless(
        os.environ.get("DOCKER_HOST"), "DOCKER_HOST is not set: no engine to test on"
    )
    def test_5_applied_again_and_caught_as_drift(self) -> None:
        state = self.directory / "sandbox.state"
        made = self.cofferdam(
            "create", "--image", IMAGE, "--network", "none", "--cpu-shares", "512", "--state", state
        )
        self.addCleanup(run, self.cli, "rm", "--state", state)
        first = made.stdout.strip()
        self.assertEqual(self.docker("inspect", "-f", "{{.HostConfig.CpuShares}}", first), "512")
        self.assertEqual(
            self.cofferdam("resume", "--state", state).stdout.split(), ["reattached", first]
        )
        self.docker("rm", "-f", first)
        verb, second = self.cofferdam("resume", "--state", state).stdout.split()
        self.assertEqual(verb, "recreated")
        self.assertNotEqual(second, first)
        self.assertEqual(self.docker("inspect", "-f", "{{.HostConfig.CpuShares}}", second), "512")
        self.docker("update", "--cpu-shares", "1024", second)
        before = state.read_bytes()
        done = self.cofferdam("resume", "--state", state, ok=11)
        self.assertIn("HostConfig.CpuShares should be 512 and is 1024", done.stderr)
        self.assertEqual(state.read_bytes(), before)
        self.docker("update", "--cpu-shares", "512", second)
        self.assertEqual(
            self.cofferdam("resume", "--state", state).stdout.split(), ["reattached", second]
        )
        done = self.cofferdam("resume", "--state", state, cli=os.environ["COFFERDAM_CLI"], ok=10)
        self.assertIn("feature 1000", done.stderr)


if __name__ == "__main__":
    unittest.main()
