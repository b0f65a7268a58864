#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command that makes goldens: what it refuses, and that it names what it changes."""

import contextlib
import io
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

import make_goldens
import states

GOLDENS = states.HERE / "states"


class MakeGoldens(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(states, "HERE", self.home))
        shutil.copytree(GOLDENS, self.home / "states")
        self.r2 = states.Revision(2)

    def path(self, name):
        return self.home / "states" / name

    def run_with(self, *arguments, goldens=None):
        said = io.StringIO()
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.object(sys, "argv", ["make_goldens.py", *arguments]))
            stack.enter_context(contextlib.redirect_stdout(said))
            if goldens is not None:
                stack.enter_context(mock.patch.object(states, "goldens", lambda: goldens))
            code = make_goldens.main()
        return code, said.getvalue()

    def unreleased(self, network_mode=1):
        """A golden of a revision that is not frozen yet, from the .proto files."""
        revision = states.Revision(999)
        state = revision.minimal(network_mode=network_mode)
        return [("r999-none", revision, revision.sealed(state))]

    def test_unchanged(self):
        for arguments in ([], ["--check"], ["--rebless"]):
            code, said = self.run_with(*arguments)
            self.assertEqual(code, 0)
            self.assertEqual(said.count(": unchanged\n"), len(said.splitlines()))

    def test_a_released_golden_is_never_written_again(self):
        was = self.path("r2-none-minimal.binpb").read_bytes()
        other = [("r2-none-minimal", self.r2, self.r2.sealed(self.r2.minimal()))]
        for arguments in ([], ["--check"], ["--rebless"]):
            code, said = self.run_with(*arguments, goldens=other)
            self.assertEqual(code, 1)
            self.assertIn("r2-none-minimal: REFUSED", said)
            self.assertIn("options.networkMode: 'NETWORK_MODE_NONE' -> None", said)
            self.assertEqual(self.path("r2-none-minimal.binpb").read_bytes(), was)

    def test_half_of_a_released_golden_is_not_made_up(self):
        self.path("r1-full.json").unlink()
        for arguments in ([], ["--check"], ["--rebless"]):
            code, said = self.run_with(*arguments)
            self.assertEqual(code, 1)
            self.assertIn("r1-full: ", said)
            self.assertFalse(self.path("r1-full.json").exists())

    def test_a_text_format_is_made_for_what_is_there(self):
        was = self.path("r1-full.txtpb").read_bytes()
        self.path("r1-full.txtpb").unlink()
        code, said = self.run_with("--check")
        self.assertEqual(code, 1)
        self.assertIn("r1-full: its text format is missing", said)
        self.assertFalse(self.path("r1-full.txtpb").exists())
        code, said = self.run_with()
        self.assertEqual(code, 0)
        self.assertIn("r1-full: text format made", said)
        self.assertEqual(self.path("r1-full.txtpb").read_bytes(), was)

    def test_a_damaged_text_format_is_found(self):
        path = self.path("r1-full.txtpb")
        path.write_text(path.read_text("utf-8").replace("8080", "8081"), "utf-8")
        for arguments in ([], ["--check"], ["--rebless"]):
            code, said = self.run_with(*arguments)
            self.assertEqual(code, 1)
            self.assertIn("r1-full: REFUSED, its revision is released. Would change: the text", said)

    def test_damage_is_found(self):
        data = bytearray(self.path("r1-full.binpb").read_bytes())
        data[40] ^= 1
        self.path("r1-full.binpb").write_bytes(data)
        code, said = self.run_with("--check")
        self.assertEqual(code, 1)
        self.assertIn("r1-full: REFUSED, its revision is released. Would change: the bytes", said)

    def test_a_new_golden_is_made_once(self):
        new = self.unreleased()
        code, said = self.run_with("--check", goldens=new)
        self.assertEqual((code, said), (1, "r999-none: missing\n"))
        self.assertFalse(self.path("r999-none.binpb").exists())
        self.assertEqual(self.run_with(goldens=new), (0, "r999-none: made\n"))
        self.assertEqual(self.path("r999-none.binpb").read_bytes(), new[0][2])
        self.assertEqual(self.run_with("--check", goldens=new), (0, "r999-none: unchanged\n"))

    def test_an_unreleased_golden_is_blessed_again_by_command_alone(self):
        self.run_with(goldens=self.unreleased())
        other = self.unreleased(network_mode=0)
        code, said = self.run_with(goldens=other)
        self.assertEqual(code, 1)
        self.assertIn("would change (--rebless): options.networkMode", said)
        self.assertNotEqual(self.path("r999-none.binpb").read_bytes(), other[0][2])
        code, said = self.run_with("--rebless", goldens=other)
        self.assertEqual(code, 0)
        self.assertIn("written again. Changed: options.networkMode: 'NETWORK_MODE_NONE' -> None",
                      said)
        self.assertIn("requiredFeatures", said)
        self.assertEqual(self.path("r999-none.binpb").read_bytes(), other[0][2])


if __name__ == "__main__":
    unittest.main()
