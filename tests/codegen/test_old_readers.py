# SPDX-License-Identifier: Apache-2.0
"""The library as it was at each older revision, built from the frozen schema: it reads what it
knows and refuses what needs more."""

from __future__ import annotations

import pathlib
import shutil
import tempfile
import unittest

from support import ROOT, build_tree, copy_tree, python, run

RELEASED = ROOT / "schema/released"
GOLDENS = ROOT / "tests/golden/states"


def older_revisions() -> list[int]:
    return list(range(1, len(list(RELEASED.glob("r*.binpb")))))


class OldReaders(unittest.TestCase):
    """One test for each older revision is added below."""

    def build(self, revision: int) -> pathlib.Path:
        directory = pathlib.Path(tempfile.mkdtemp(prefix="cofferdam-old-"))
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        copy_tree(directory / "tree")
        frozen = RELEASED / f"r{revision}.binpb"
        done = python(directory / "tree/codegen/generate.py", "--descriptor-set", frozen)
        self.assertEqual(done.returncode, 0, done.stderr)
        return build_tree(directory / "tree", directory / "build")

    def check(self, revision: int) -> None:
        cli = self.build(revision)
        read = refused = 0
        for state in sorted(GOLDENS.glob("r*.binpb")):
            number = int(state.name[1:].split("-")[0])
            if "hmac" in state.name:
                continue
            done = run(cli, "state", "check", state)
            if number > revision and "none" in state.name:
                self.assertEqual(done.returncode, 10, state.name)
                self.assertRegex(done.stderr, r"needs feature \d+ \(schema revision", state.name)
                refused += 1
            else:
                self.assertEqual(done.returncode, 0, f"{state.name}: {done.stderr}")
                read += 1
        self.assertTrue(read and refused)


for _revision in older_revisions():
    setattr(OldReaders, f"test_r{_revision}", lambda self, number=_revision: self.check(number))

if __name__ == "__main__":
    unittest.main()
