# SPDX-License-Identifier: Apache-2.0
"""What the tests of wrong schemas share: edits of the small schema, and what each must lead to."""

from __future__ import annotations

from support import Scratch

O, S = "options.proto", "state.proto"
LAST = '    flag: { name: "tmpfs" metavar: "PATH=OPTIONS" }\n  }];\n'
WORKSPACE = 'bool workspace_ready = 8 [(field) = { since_revision: 1 help: "Ready." }];'


def option(text: str) -> tuple[str, str]:
    """An edit that adds a field behind the last option."""
    return LAST, LAST + "  " + text + "\n"


def plain(declaration: str, rules: str = "", **change: str) -> str:
    """A whole scalar option, with some parts replaced."""
    parts = {
        "since": "since_revision: 1",
        "help": 'help: "x"',
        "rules": rules,
        "create": 'create: { path: "Extra" shape: SHAPE_SCALAR }',
        "inspect": 'inspect: { path: "Config.Extra" compare: COMPARE_EXACT }',
        "flag": 'flag: { name: "extra" metavar: "X" }',
        "more": "",
    }
    parts.update(change)
    return f"{declaration} [(field) = {{ {' '.join(parts.values())} }}];"


TEXT = "rules: { string: { max_bytes: 9 } }"


class WrongSchema(Scratch):
    """Wrong schemas fail with file, line and reason, and nothing is written."""

    def check(self, file: str, old: str, new: str, reason: str, there: str = "[(field)") -> None:
        schema = self.small_schema()
        line = self.edit(schema, file, old, new, there)
        done = self.generate(schema)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        found = [text for text in done.stderr.splitlines() if reason in text]
        self.assertEqual(len(found), 1, f"{reason!r} is not said once in:\n{done.stderr}")
        self.assertRegex(found[0], rf"^cofferdam/v1/{file}:{line}: ")
        self.assertFalse((self.directory / "generated").exists(), "something was written")


def cases(table):
    """A class decorator: a test for each row, which is a file, what to replace, by what, and the
    reason. The line that must be named is the one marked with `@@`, or else the last one with the
    fifth column, or else that of the field around the edit."""

    def add(to):
        for name, case in table.items():
            setattr(to, f"test_{name}", lambda self, case=case: self.check(*case))
        return to

    return add
