# SPDX-License-Identifier: Apache-2.0
"""The release step, in a copy of the tree that is ready for a release: what it refuses, that it
does all or nothing, and that it can be run again."""

from __future__ import annotations

import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from copies import apply, copy_tree, files_of, EDIT
from libraries import ROOT, released

NEXT = len(released()) + 1
PARTS = ("codegen", "generated", "schema", "tests/golden")
OPTIONS, STATE = "schema/cofferdam/v1/options.proto", "schema/cofferdam/v1/state.proto"
HISTORY, STATES = "schema/HISTORY.md", "tests/golden/states.py"
RELEASES = "codegen/emit/describe.py"

OPTION = f"""
  string release_test = 1600 [(field) = {{
    since_revision: {NEXT}
    help: "Something."
    rules: {{ string: {{ max_bytes: 64 }} }}
    create: {{ path: "Domainname" shape: SHAPE_SCALAR }}
    inspect: {{ path: "Config.Domainname" compare: COMPARE_EXACT }}
    isolates: true
    feature: "FEATURE_RELEASE_TEST"
    unprofiled: "it is a test"
    flag: {{ name: "release-test" metavar: "X" }}
  }}];
"""
FEATURE = f"""
  FEATURE_RELEASE_TEST = 1600 [(value) = {{ since_revision: {NEXT} }}];
"""
GOLDEN = f"""
def goldens_of_test():
    revision = Revision({NEXT})
    state = revision.minimal(release_test="x")
    state.required_features.append(1600)
    return [("r{NEXT}-test", revision, revision.sealed(state))]

"""
PARAGRAPH = f"\n## r{NEXT}\n\nBrings something.\n"

EDITS = {
    "option": (f"Last in `message SandboxOptions` of `{OPTIONS}`:", OPTION),
    "feature": (f"Last in `enum Feature` of `{STATE}`:", FEATURE),
    "golden": (f"Before `def goldens():` in `{STATES}`:", GOLDEN),
    "listed": (f"Last in `return [` under `def goldens():` in `{STATES}`:",
               "        *goldens_of_test(),\n"),
    "history": (f"At the end of `{HISTORY}`:", PARAGRAPH),
    "release": (f"Last in `RELEASES = {{` of `{RELEASES}`:", f'    {NEXT}: "9.9",\n'),
}

# Ends the process, or fails, at the Nth replacement of a file.
STOPPED = """\
import os, sys
sys.path.insert(0, "codegen")
sys.argv = ["release.py"]
import release
real, count = os.replace, 0
def replace(*arguments):
    global count
    count += 1
    if count == {at}:
        {what}
    real(*arguments)
os.replace = replace
sys.exit(release.main())
"""


class Ready(unittest.TestCase):
    """Each test gets a copy of one copy that is ready."""

    home: pathlib.Path
    ready: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="cofferdam-release-"))
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)
        cls.ready = cls.make("ready", EDITS)

    @classmethod
    def make(cls, name: str, edits) -> pathlib.Path:
        tree = copy_tree(cls.home / name, PARTS)
        for edit in edits:
            sentence, block = EDITS[edit]
            apply(tree, EDIT.fullmatch(sentence), block)
        for program in ("codegen/generate.py", "tests/golden/make_goldens.py"):
            done = cls.run_in(tree, program)
            assert done.returncode == 0, done.stdout + done.stderr
        return tree

    @staticmethod
    def run_in(tree: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-B", *arguments], cwd=tree, capture_output=True,
                              text=True, check=False)

    def setUp(self) -> None:
        self.tree = self.home / self.id().rsplit(".", maxsplit=1)[-1]
        shutil.copytree(self.ready, self.tree)

    def without(self, edit: str) -> None:
        """The tree as if that had been forgotten."""
        shutil.rmtree(self.tree)
        self.make(self.tree.name, [name for name in EDITS if name != edit])

    def release(self, *script: str) -> subprocess.CompletedProcess:
        return self.run_in(self.tree, *(script or ["codegen/release.py"]))

    def refused(self, *reasons: str) -> None:
        before = files_of(self.tree)
        done = self.release()
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        for reason in reasons:
            self.assertRegex(done.stderr, reason)
        self.assertTrue(done.stderr.endswith("\nnothing was released\n"), done.stderr)
        self.assertEqual(files_of(self.tree), before)

    def replace(self, file: str, old: str, new: str) -> int:
        """The number of the line."""
        path = self.tree / file
        text = path.read_text("utf-8")
        self.assertEqual(text.count(old), 1)
        path.write_text(text.replace(old, new), "utf-8")
        return text[:text.index(old)].count("\n") + 1

    # ---- what it does ----

    def check_released(self) -> None:
        frozen = self.tree / f"schema/released/r{NEXT}.binpb"
        sums = (frozen.parent / "SHA256SUMS").read_text("utf-8")
        digest = hashlib.sha256(frozen.read_bytes()).hexdigest()
        self.assertEqual(sums.count(f"{digest}  r{NEXT}.binpb\n"), 1)
        listed = (self.tree / "tests/golden/states/SHA256SUMS").read_text("utf-8")
        for end in ("binpb", "json", "txtpb"):
            self.assertEqual(listed.count(f"  r{NEXT}-test.{end}\n"), 1)
        self.assertEqual([path for path in self.tree.rglob(".*.new")], [])

    def test_it_is_released_once(self) -> None:
        before = files_of(self.tree)
        done = self.release()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"r{NEXT} is released\n", done.stdout)
        self.check_released()
        after = files_of(self.tree)
        self.assertEqual({name for name in after if after[name] != before.get(name)},
                         {f"schema/released/r{NEXT}.binpb", "schema/released/SHA256SUMS",
                          "tests/golden/states/SHA256SUMS"})
        done = self.release()
        self.assertEqual((done.returncode, done.stdout),
                         (0, f"r{NEXT} is released already; nothing to do\n"))
        self.assertEqual(files_of(self.tree), after)

    def stopped(self, at: int, what: str) -> int:
        return self.release("-c", STOPPED.format(at=at, what=what)).returncode

    def test_what_fails_leaves_nothing(self) -> None:
        before = files_of(self.tree)
        for at in (1, 2, 3):
            self.assertEqual(self.stopped(at, "raise OSError('no space')"), 1)
            self.assertEqual(files_of(self.tree), before, f"at step {at}")
        self.assertEqual(self.stopped(4, "raise OSError('no space')"), 0)
        self.check_released()

    def test_what_was_killed_is_finished_by_the_next_run(self) -> None:
        self.assertEqual(self.release().returncode, 0)
        wanted = files_of(self.tree)
        for at in (1, 2, 3):
            shutil.rmtree(self.tree)
            shutil.copytree(self.ready, self.tree)
            self.assertEqual(self.stopped(at, "os._exit(9)"), 9)
            self.assertEqual(self.release().returncode, 0, f"at step {at}")
            self.assertEqual(files_of(self.tree), wanted, f"at step {at}")

    # ---- what it refuses ----

    def test_no_paragraph(self) -> None:
        self.without("history")
        self.refused(rf"schema/HISTORY.md: the paragraph `## r{NEXT}` is missing \[history\]")

    def test_no_release(self) -> None:
        self.without("release")
        self.refused(rf"describe.py: RELEASES does not say with which release r{NEXT} comes")

    def test_no_golden(self) -> None:
        self.without("listed")
        self.refused(f"states.py: there is no golden of r{NEXT}")

    def test_a_golden_that_was_not_made(self) -> None:
        (self.tree / f"tests/golden/states/r{NEXT}-test.json").unlink()
        self.refused(f"r{NEXT}-test: missing")

    def test_goldens_that_do_not_use_what_is_new(self) -> None:
        self.replace(STATES, 'revision.minimal(release_test="x")', "revision.minimal()")
        self.replace(STATES, "    state.required_features.append(1600)\n", "")
        self.run_in(self.tree, "tests/golden/make_goldens.py", "--rebless")
        self.refused(f"no golden of r{NEXT} uses SandboxOptions.release_test",
                     f"no golden of r{NEXT} uses Feature.FEATURE_RELEASE_TEST")

    def test_a_golden_that_is_no_longer_what_is_made(self) -> None:
        self.replace(STATES, 'release_test="x"', 'release_test="y"')
        self.refused(f"r{NEXT}-test: would change .*releaseTest: 'x' -> 'y'")

    def test_a_stale_tree(self) -> None:
        self.replace(OPTIONS, 'help: "Something."', 'help: "Something else."')
        self.refused(r"generated: include/cofferdam/options.h: differs .*\(./dev regen\)")

    def test_a_released_golden_that_was_written_again(self) -> None:
        """Together with the program that makes it, so nothing else can tell."""
        self.replace(STATES, '"registry.example:5000/team/tool:1.2"', '"busybox:2"')
        for path in (self.tree / "tests/golden/states").glob("r1-full.*"):
            path.unlink()
        self.run_in(self.tree, "tests/golden/make_goldens.py")
        self.refused(r"r1-full.binpb: has changed since it was released \[frozen-files\]")

    def test_a_released_golden_that_is_gone(self) -> None:
        for path in (self.tree / "tests/golden/states").glob("r1-minimal.*"):
            path.unlink()
        self.refused(r"r1-minimal.json: was released and is missing \[frozen-files\]")

    def test_a_frozen_set_that_has_changed(self) -> None:
        path = self.tree / "schema/released/r1.binpb"
        path.write_bytes(path.read_bytes() + b"\0")
        self.refused(r"r1.binpb: has changed since it was frozen \[frozen-files\]")

    def test_a_breaking_change(self) -> None:
        line = self.replace(OPTIONS, "string image = 1 ", "string image = 99 ")
        self.run_in(self.tree, "codegen/generate.py")
        self.refused(rf"cofferdam/v1/options.proto:{line}: image: its number was 1 and is now 99 "
                     r"\(against r1\) \[number-changed\]")

    def test_several_reasons_at_once(self) -> None:
        self.replace(OPTIONS, "max_items: 256", "max_items: 255")
        self.replace(STATES, "        *goldens_of_test(),\n", "")
        for path in (self.tree / "tests/golden/states").glob(f"r{NEXT}-*"):
            path.unlink()
        self.refused(r"exposed_ports: max_items is lower than it was; old states would be refused "
                     r"\(against r1\) \[rules-tightened\]", r"generated: c/validate.c: differs",
                     f"there is no golden of r{NEXT}")

    def test_a_revision_too_far(self) -> None:
        for file, text in ((OPTIONS, OPTION), (STATE, FEATURE)):
            self.replace(file, text, text.replace(f"revision: {NEXT}", f"revision: {NEXT + 1}"))
        self.refused(f"the newest since_revision is {NEXT + 1}; r{NEXT - 1} is frozen")


class Tree(unittest.TestCase):
    def test_the_tree_itself_has_its_released_goldens(self) -> None:
        """As they were, each of them listed."""
        states = ROOT / "tests/golden/states"
        lines = (states / "SHA256SUMS").read_text("utf-8").splitlines()
        for line in lines:
            digest, name = re.fullmatch(r"([0-9a-f]{64})  (\S+)", line).groups()
            self.assertEqual(hashlib.sha256((states / name).read_bytes()).hexdigest(), digest, name)
        for number in released():
            found = {path.name for path in states.glob(f"r{number}-*")}
            self.assertTrue(found, f"r{number} has no goldens")
            self.assertEqual(found - {line.split()[1] for line in lines}, set(),
                             "./dev release-revision lists them")


if __name__ == "__main__":
    unittest.main()
