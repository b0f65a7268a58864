# SPDX-License-Identifier: Apache-2.0
"""docs/changing-the-schema.md, followed word by word in a copy of the tree: its edits are made and
its commands run, in their order, and what they print is compared with what it says.

Two things differ. The copy has only those of its tests that look at the schema and the goldens;
the others take long to build. And `./dev test interop`, which needs the network at first, is the
interop suite for the languages that are at hand here.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from copies import EDIT, apply, copy_tree, files_of
from libraries import ROOT, released

sys.path.insert(0, str(ROOT / "codegen"))
import compat  # pylint: disable=wrong-import-position

DOCUMENT = ROOT / "docs/changing-the-schema.md"
ELSEWHERE = "Then, in a directory of one's own:"
FENCE = re.compile(r"(?m)^```(\w+)\n(.*?)^```$", re.DOTALL)

TESTS = """\
foreach part : ['codegen', 'golden']
  subdir(part)
endforeach
"""
DEV_TEST = """\
#!/bin/sh
# Stands for `./dev test` in the copy.
if [ "$*" = "codegen golden" ]; then
  meson test -C build-release --no-rebuild --print-errorlogs codegen_compat codegen_generate \
    goldens make_goldens states_with_python_cpp || exit
  echo "5 passed, 0 failed"
  exit
fi
[ "$*" = interop ] || exit 3
COFFERDAM_CLI=$PWD/build-release/runtime/cli/cofferdam DOCKER_HOST= CI= \
  codegen/python tests/interop/run.py "$PWD/../interop" python-debian {languages} >../interop.tap
status=$?
echo "$(grep -c '^ok' ../interop.tap) passed, $(grep -c '^not ok' ../interop.tap) failed"
grep -A9 '^not ok' ../interop.tap
exit $status
"""


@dataclasses.dataclass
class Step:
    line: int
    kind: str
    lead: str  # the sentence before the block
    text: str

    def commands(self) -> tuple[str, list[str]]:
        """A script, and what it should print."""
        script, wanted = [], []
        for line in self.text.splitlines():
            if line.startswith(("$ ", "> ")) and (line[0] == "$" or script and not wanted_since(
                    self.text, line)):
                script.append(line[2:])
            else:
                wanted.append(line)
        return "\n".join(script) + "\n", wanted


def wanted_since(text: str, line: str) -> bool:
    """Is this line output (which may begin with "> ", as diff's does), not a continuation?"""
    before = text[:text.index(line)].splitlines()
    return not (before and before[-1].startswith(("$ ", "> ")) and before[-1].count("'") % 2)


def steps() -> list[Step]:
    text = DOCUMENT.read_text("utf-8")
    out = []
    for block in FENCE.finditer(text):
        before = text[:block.start()].rstrip().splitlines()
        out.append(Step(text.count("\n", 0, block.start()) + 1, block[1],
                        before[-1] if before else "", block[2]))
    return out


def missing_lines(wanted: list[str], output: str) -> list[str]:
    """What should have been printed and was not; `…` stands for anything."""
    lines = [line for line in output.splitlines() if line.strip()]
    at, missing, strict = 0, [], True
    for line in wanted:
        if line.strip() == "…":
            strict = False
            continue
        pattern = re.compile(".*".join(re.escape(part.strip()) for part in line.split("…")))
        found = next((i for i in range(at, len(lines)) if pattern.fullmatch(lines[i].strip())),
                     None)
        if found is None or (strict and found != at):
            missing.append(line)
        else:
            at = found + 1
        strict = True
    if strict and wanted and at != len(lines):
        missing.append(f"nothing after line {at}: {lines[at]}")
    return missing


class Document(unittest.TestCase):
    def setUp(self) -> None:
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="cofferdam-document-"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.revision = len(released()) + 1

    def make_copy(self) -> None:
        self.tree = copy_tree(self.home / "tree")
        (self.tree / "tests/meson.build").write_text(TESTS, "utf-8")
        self.elsewhere = self.home / "elsewhere"
        self.elsewhere.mkdir()
        prefix = self.home / "prefix"
        # Debian's, as ./dev has it.
        path = "/usr/sbin:/usr/bin:/sbin:/bin:" + os.environ["PATH"]
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8", "PATH": path,
                            "PYTHONDONTWRITEBYTECODE": "1",
                            "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
        for name in ("LD_LIBRARY_PATH", "MESON_BUILD_ROOT", "MESON_SOURCE_ROOT", "COFFERDAM_ROOT"):
            self.environment.pop(name, None)
        self.bash("meson setup build-release --buildtype=debug -Ddefault_library=both "
                  f"--prefix={prefix} --libdir=lib", self.tree)
        languages = "go" if shutil.which("go", path=path) else ""
        (self.tree / "tools/test.sh").write_text(DEV_TEST.format(languages=languages), "utf-8")

    def bash(self, script: str, cwd: pathlib.Path) -> str:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=cwd,
                              env=self.environment, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900,
                              check=False)
        self.assertEqual(done.returncode, 0, f"{script}\n{done.stdout[-8000:]}")
        return done.stdout

    def numbered(self, text: str) -> str:
        """N is the revision to come."""
        return re.sub(r"\b(r?)N\b", rf"\g<1>{self.revision}", text)

    def follow(self, step: Step) -> None:
        edit = EDIT.fullmatch(step.lead)
        if edit:
            self.edited.add(apply(self.tree, edit, self.numbered(step.text)))
            return
        self.assertEqual(step.kind, "console", f"{DOCUMENT.name}:{step.line}: what is this for?")
        script, wanted = step.commands()
        cwd = self.elsewhere if step.lead == ELSEWHERE else self.tree
        output = self.bash(self.numbered(script), cwd)
        missing = missing_lines([self.numbered(line) for line in wanted], output)
        self.assertEqual(missing, [], f"{DOCUMENT.name}:{step.line}: {script}printed\n{output}")

    def test_it_works(self) -> None:
        self.make_copy()
        self.edited: set[str] = set()
        before = files_of(self.tree)
        for step in steps():
            self.follow(step)
        self.check_after(before)

    def check_after(self, before: dict[str, bytes]) -> None:
        after = {name: data for name, data in files_of(self.tree).items()
                 if not name.startswith("build-release/")}
        changed = {name for name, data in after.items() if before.get(name) != data}
        for name in before:
            if name.startswith("build-release/"):
                continue
            self.assertIn(name, after)
            if name.startswith(("tests/golden/states/r", "schema/released/r", "runtime/")):
                self.assertEqual(after[name], before[name], name)
        made = {name for name in changed if name.startswith("generated/")}
        self.assertIn("generated/include/cofferdam/options.h", made)
        self.assertIn("Since 0.2 (schema r",
                      after["generated/include/cofferdam/options.h"].decode())
        self.assertEqual(changed - made - self.edited, {
            f"schema/released/r{self.revision}.binpb", "schema/released/SHA256SUMS",
            f"tests/golden/states/r{self.revision}-cpuset.binpb",
            f"tests/golden/states/r{self.revision}-cpuset.json",
            f"tests/golden/states/r{self.revision}-cpuset.txtpb",
            "tests/golden/states/SHA256SUMS", "tests/revisions/README.md",
            "tests/abi/symbols.txt", "tests/abi/cofferdam.abi"})
        symbols = [set(tree["tests/abi/symbols.txt"].split()) for tree in (before, after)]
        self.assertEqual(symbols[0] - symbols[1], set(), "symbols are only added")
        row = rf"\| r{self.revision}-cpuset .*\| refuses: feature 500 (\| resumes ){{2}}\|"
        self.assertRegex(after["tests/revisions/README.md"].decode(), row)

    def test_the_rules(self) -> None:
        rows = re.findall(r"(?m)^\| `([a-z-]+)` \| (.*) \|$", DOCUMENT.read_text("utf-8"))
        self.assertEqual(dict(rows), compat.RULES)

    def test_what_was_not_printed_is_found(self) -> None:
        output = "a 1\nb 2\nc 3\n"
        for wanted in (["a 1", "b 2", "c 3"], ["…", "c …"], ["a …", "…"], ["a 1", "…", "c 3"]):
            self.assertEqual(missing_lines(wanted, output), [], wanted)
        for wanted in (["a 1", "b 2"], ["b 2", "c 3"], ["…", "d"], ["a 1", "c 3"], ["a", "…"]):
            self.assertNotEqual(missing_lines(wanted, output), [], wanted)


if __name__ == "__main__":
    unittest.main()
