# SPDX-License-Identifier: Apache-2.0
"""The manual pages hold what the command and the headers have."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from support import OK, CliTest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = {1: ROOT / "man/cofferdam.1", 3: ROOT / "man/libcofferdam.3",
         7: ROOT / "generated/docs/cofferdam-options.7"}
FLAG = re.compile(r"(?m)^  (?:-(\w), )?--([a-z-]+)")


def read(section):
    return PAGES[section].read_text("utf-8")


class Lint(CliTest):
    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc(self):
        for section, page in PAGES.items():
            place = self.dir / f"man{section}"
            place.mkdir()
            shutil.copy(page, place)
        # Manuals that are referred to are looked for there.
        done = subprocess.run(["mandoc", "-Tlint", "-Wstyle", *PAGES.values()], text=True,
                              env=dict(os.environ, MANPATH=f"{self.dir}:/usr/share/man"),
                              capture_output=True, check=False)
        said = [line for line in done.stdout.splitlines() if "referenced manual not found" not in
                line or not re.search(r"Xr (?!cofferdam|libcofferdam)", line)]
        self.assertEqual(said, [])

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff(self):
        for page in PAGES.values():
            done = subprocess.run(["groff", "-mandoc", "-ww", "-Tutf8", page], text=True,
                                  capture_output=True, check=True)
            self.assertEqual(done.stderr, "")
            self.assertGreater(len(done.stdout), 1000)


class Command(CliTest):
    def help(self, *words):
        return self.expect(OK, *words, "--help").stdout.decode()

    def commands(self):
        names = re.findall(r"(?m)^  ([a-z]+(?: [a-z]+)?)  ", self.help())
        self.assertIn("state show", names)
        return names

    def parts(self):
        """What stands at each command of cofferdam.1; "" is what holds for all."""
        text = read(1)
        description = text[text.index(".Sh DESCRIPTION"):text.index(".Sh OPTIONS")]
        pieces = re.split(r"(?m)^\.It Cm ([a-z ]+)$", description)
        parts = {name: re.split(r"(?m)^\.Ss ", part)[0]
                 for name, part in zip(pieces[1::2], pieces[2::2])}
        parts[""] = text[text.index(".Sh OPTIONS"):text.index(".Sh ENVIRONMENT")]
        return parts

    @staticmethod
    def flags(part):
        return set(re.findall(r"Fl Fl ([a-z][a-z-]+)", part))

    def test_every_command(self):
        self.assertEqual(sorted(name for name in self.parts() if name), sorted(self.commands()))

    def test_every_flag_at_its_command(self):
        parts, options = self.parts(), self.flags(read(7))
        common = self.flags(parts[""])
        for command in self.commands():
            text = self.help(*command.split())
            own = text[text.index("\nFlags:"):]
            for letter, flag in FLAG.findall(own):
                self.assertIn(flag, self.flags(parts[command]) | common, command)
                if letter:
                    self.assertIn(f".It Fl {letter} , Fl Fl {flag}", parts[command])
            told = {flag for _, flag in FLAG.findall(text)}
            items = "".join(re.findall(r"(?m)^\.It .*$", parts[command]))
            self.assertLessEqual(self.flags(items), told, command)
            self.assertLessEqual(told - {flag for _, flag in FLAG.findall(own)}, options)

    def test_values(self):
        """KEY=VALUE of --env, and the like."""
        text = read(1)
        for command in self.commands():
            own = self.help(*command.split()).partition("\nFlags:")[2]
            for flag, value in re.findall(r"(?m)^  (?:-\w, )?--([a-z-]+) ([A-Z=]+)", own):
                self.assertIn(f"Fl Fl {flag} Ar {value}", text)

    def test_exit_statuses(self):
        text = read(1)
        for command in [*self.commands(), ""]:
            told = self.help(*command.split()).partition("\nExit status:\n")[2]
            for status in re.findall(r"(?m)^  (\d+) ", told):
                self.assertRegex(text, rf"(?m)^\.It {status}$")

    def test_the_environment(self):
        header = (ROOT / "runtime/include/cofferdam/client.h").read_text("utf-8")
        for name in re.findall(r"(?m)^ \*   ((?:DOCKER|COFFERDAM)_[A-Z_]+) ", header):
            self.assertIn(f".It Ev {name}\n", read(1))
            self.assertIn(f".Ev {name}", read(3))


class Library(unittest.TestCase):
    def test_every_header(self):
        headers = {path.name for place in ("runtime", "generated")
                   for path in (ROOT / place / "include/cofferdam").glob("*.h")}
        named = re.findall(r"(?m)^\.It In cofferdam/(\S+)$", read(3))
        self.assertEqual(sorted(named), sorted(headers))

    def test_every_name_is_one(self):
        public = "".join(path.read_text("utf-8") for place in ("runtime", "generated")
                         for path in (ROOT / place / "include/cofferdam").glob("*.h"))
        for name in re.findall(r"\b(?:cdam|CDAM)_\w+", read(3)):
            self.assertRegex(public, rf"\b{name}\b")

    def test_every_option(self):
        table = (ROOT / "generated/docs/options.md").read_text("utf-8")
        flags = re.findall(r"(?m)^\| `\w+` \| `--([a-z-]+)", table)
        self.assertGreater(len(flags), 4)
        for flag in flags:
            self.assertRegex(read(7), rf"(?m)^\.It Fl Fl {flag}\b")
