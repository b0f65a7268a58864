# SPDX-License-Identifier: Apache-2.0
"""What was released never changes: each case breaks a copy of the schema and must be found out."""

from __future__ import annotations

import hashlib
import re
import unittest

from support import CODEGEN, ROOT, SCHEMA, Scratch, python, run

from compat import RULES

O, S = "options.proto", "state.proto"

# The newest frozen revision, and those that would follow.
NEWEST = len(list((ROOT / "schema/released").glob("r*.binpb")))
NEXT, AFTER = NEWEST + 1, NEWEST + 2
LATER = f'  bool later = 900 [(field) = {{ since_revision: {NEXT} help: "x" }}];\n'

READY = """  bool workspace_ready = 8 [(field) = {
    since_revision: 1
    help: "The caller has filled the workspace of this container; recreating clears it."
  }];
"""
NONE = """  NETWORK_MODE_NONE = 1 [(value) = {
    since_revision: 2
    docker: "none"
    help: "No network: the sandbox has a loopback interface and nothing else."
  }];
"""
KEY_ID = """  string key_id = 2 [(field) = {
    since_revision: 1
    help: "Which key, for HMAC; a name, not a secret."
    rules: { string: { max_bytes: 128 format: STRING_FORMAT_TOKEN } }
  }];
"""
SHA256 = (
    "  SEAL_ALGORITHM_SHA256 = 1 [(value) = { since_revision: 1 "
    'help: "SHA-256: finds damage, not forgery." }];\n'
)

# name: file, what to replace, by what, the reason, the text whose line is named.
BROKEN = {
    "number_changed": (
        O,
        "string image = 1",
        "@@string image = 99",
        "image: its number was 1 and is now 99",
    ),
    "number_reused": (
        S,
        "bool workspace_ready = 8",
        "@@bool workspace_full = 8",
        "workspace_full: the number 8 is workspace_ready's",
    ),
    "field_removed": (
        S,
        READY,
        "",
        "SessionState.workspace_ready is gone; reserve its number 8 and "
        'its name "workspace_ready"',
        "message SessionState {",
    ),
    "only_the_number_reserved": (
        S,
        READY,
        "  reserved 8;\n",
        "workspace_ready is gone",
        "message SessionState {",
    ),
    "only_the_name_reserved": (
        S,
        READY,
        '  reserved "workspace_ready";\n',
        "workspace_ready is gone",
        "message SessionState {",
    ),
    "another_number_reserved": (
        S,
        READY,
        '  reserved "workspace_ready";\n  reserved 909 to 920;\n',
        "workspace_ready is gone",
        "message SessionState {",
    ),
    "type_changed": (
        S,
        "uint32 schema_revision = 1",
        "@@uint64 schema_revision = 1",
        "schema_revision: its type has changed",
    ),
    "made_repeated": (
        S,
        "string image_id = 5",
        "@@repeated string image_id = 5",
        "image_id: its cardinality has changed",
    ),
    "made_single": (
        O,
        "repeated uint32 exposed_ports = 2",
        "@@uint32 exposed_ports = 2",
        "exposed_ports: its cardinality has changed",
    ),
    "map_values_changed": (
        O,
        "map<string, string> env = 4",
        "@@map<string, bytes> env = 4",
        "env: its type has changed",
    ),
    "unpacked": (
        O,
        "repeated uint32 exposed_ports = 2 [(field)",
        "@@repeated uint32 exposed_ports = 2 [packed = false, (field)",
        "exposed_ports: its packing has changed",
    ),
    "json_name": (
        S,
        "string image_id = 5 [(field)",
        '@@string image_id = 5 [json_name = "image", (field)',
        "image_id: its JSON name has changed",
    ),
    "value_removed": (
        S,
        SHA256,
        "",
        "SealAlgorithm.SEAL_ALGORITHM_SHA256 is gone; reserve",
        "enum SealAlgorithm {",
    ),
    "value_renumbered": (
        O,
        "NETWORK_MODE_NONE = 1",
        "@@NETWORK_MODE_NONE = 16",
        "NETWORK_MODE_NONE: its number was 1 and is now 16",
    ),
    "value_renamed": (
        O,
        "NETWORK_MODE_NONE = 1",
        "@@NETWORK_MODE_NOTHING = 1",
        "NETWORK_MODE_NOTHING: the number 1 is NETWORK_MODE_NONE's",
    ),
    "create_path": (
        O,
        'create: { path: "HostConfig.NetworkMode"',
        'create: { path: "NetworkMode"',
        "network_mode: its place in the create body has changed",
    ),
    "create_gone": (
        O,
        'create: { path: "HostConfig.PortBindings" shape: SHAPE_PORT_BINDINGS }',
        "",
        "exposed_ports: its place in the create body has changed",
    ),
    "comparison_gone": (
        O,
        'inspect: { path: "NetworkSettings.Networks" compare: COMPARE_ONLY_NETWORK }',
        "",
        "network_mode: the comparison with NetworkSettings.Networks is gone",
    ),
    "comparison_changed": (
        O,
        'inspect: { path: "HostConfig.NetworkMode" compare: COMPARE_EXACT }',
        'inspect: { path: "HostConfig.NetworkMode" compare: COMPARE_ABSENT_OR_EQUAL }',
        "network_mode: the comparison with HostConfig.NetworkMode is gone or has changed",
    ),
    "isolates_no_more": (
        O,
        '    isolates: true\n    feature: "FEATURE_NETWORK_ISOLATION"\n',
        '    feature: "FEATURE_NETWORK_ISOLATION"\n',
        "network_mode: `isolates` has changed",
    ),
    "feature_gone": (
        O,
        '    feature: "FEATURE_NETWORK_ISOLATION"\n',
        "",
        "network_mode: `feature` has changed",
    ),
    "isolates_suddenly": (
        O,
        'flag: { name: "env"',
        'isolates: true feature: "FEATURE_ENV" flag: { name: "env"',
        "env: `isolates` has changed",
    ),
    "since_changed": (
        O,
        "NetworkMode network_mode = 5 [(field) = {\n    since_revision: 2",
        "@@NetworkMode network_mode = 5 [(field) = {\n    since_revision: 1",
        "network_mode: `since_revision` has changed",
    ),
    "singular_changed": (
        O,
        'singular: "label"',
        'singular: "tag"',
        "labels: `singular` has changed",
    ),
    "flag_changed": (
        O,
        'flag: { name: "network"',
        'flag: { name: "net"',
        "network_mode: its flag has changed",
    ),
    "docker_word": (
        O,
        'docker: "none"',
        'docker: "null"',
        "NETWORK_MODE_NONE: its docker word has changed",
        "  NETWORK_MODE_NONE = 1",
    ),
    "max_bytes_lower": (
        O,
        "string: { max_bytes: 512 ",
        "string: { max_bytes: 511 ",
        "image: max_bytes is lower than it was",
    ),
    "max_items_lower": (
        O,
        "max_items: 256",
        "max_items: 255",
        "exposed_ports: max_items is lower than it was",
    ),
    "items_narrower": (
        O,
        "gte: 1 lte: 65535",
        "gte: 1024 lte: 65535",
        "exposed_ports: gte is higher than it was",
    ),
    "keys_narrower": (
        O,
        'not_prefix: "io.cofferdam."',
        'not_prefix: "io."',
        "labels: not_prefix is another than it was",
    ),
    "values_narrower": (
        O,
        "max_bytes: 65536",
        "max_bytes: 65535",
        "env: max_bytes is lower than it was",
    ),
    "required_suddenly": (
        S,
        "rules: { string: { max_bytes: 256 format: STRING_FORMAT_TOKEN } }",
        "rules: { required: true string: { max_bytes: 256 format: " "STRING_FORMAT_TOKEN } }",
        "id: it is now required",
    ),
    "a_step_for_numbers": (
        O,
        "uint: { gte: 1 lte: 65535 }",
        "uint: { gte: 1 lte: 65535 multiple_of: 5 }",
        "exposed_ports: multiple_of is another than it was",
    ),
    "limited_with_a_profile": (
        O,
        "string: { max_bytes: 512 format: STRING_FORMAT_IMAGE_REFERENCE }\n    }\n",
        "string: { max_bytes: 512 format: STRING_FORMAT_IMAGE_REFERENCE }\n    }\n"
        "    profiled: { string: { max_bytes: 9 } }\n",
        "image: profiled is new",
    ),
    "new_field_of_old_revision": (
        S,
        READY,
        READY + LATER.replace(f"revision: {NEXT}", f"revision: {NEWEST}").replace("\n", "@@\n"),
        f"later is new, so its since_revision must be above {NEWEST}",
    ),
    "new_value_of_old_revision": (
        O,
        NONE,
        NONE + "  NETWORK_MODE_OTHER = 16 [(value) = { since_revision: 2 }];@@\n",
        f"NETWORK_MODE_OTHER is new, so its since_revision must be above {NEWEST}",
    ),
}

FINE = {
    "nothing": (O, "max_items: 256", "max_items: 256"),
    "field_removed_and_reserved": (S, READY, '  reserved 8;\n  reserved "workspace_ready";\n'),
    "value_removed_and_reserved": (
        S,
        SHA256,
        '  reserved 1;\n  reserved "SEAL_ALGORITHM_SHA256";\n',
    ),
    "bounds_wider": (O, "max_items: 256", "max_items: 300"),
    "hidden_from_now_on": (
        O,
        '    flag: { name: "label" metavar: "KEY=VALUE" }\n',
        '    flag: { name: "label" metavar: "KEY=VALUE" }\n    sensitive: true\n',
    ),
    "help_changed": (O, "Environment variables of every process in the sandbox.", "Variables."),
    "comparison_added": (
        O,
        'inspect: { path: "Config.Labels" compare: COMPARE_SUBSET }',
        'inspect: { path: "Config.Labels" compare: COMPARE_SUBSET }\n'
        '    inspect: { path: "Labels" compare: COMPARE_SUBSET }',
    ),
    "new_field": (
        S,
        READY,
        READY + LATER,
    ),
}


class Compat(Scratch):
    """One test for each case is added below."""

    def setUp(self) -> None:
        super().setUp()
        self.schema = self.copy_of(ROOT / "schema")

    def problems(self) -> list[str]:
        done = python(CODEGEN / "compat.py", "--schema", self.schema)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(done.returncode, 1 if done.stderr else 0, done.stdout)
        return done.stderr.splitlines()

    def expect(self, *reasons: str) -> None:
        found = self.problems()
        for reason in reasons:
            self.assertTrue(any(reason in line for line in found), f"{reason!r} not in {found}")

    def check_broken(self, file, old, new, reason, there="[(field)") -> None:
        line = self.edit(self.schema, file, old, new, there)
        found = [text for text in self.problems() if reason in text]
        self.assertTrue(found, f"{reason!r} was not found")
        self.assertTrue(found[0].startswith(f"cofferdam/v1/{file}:{line}: "), (found, line))
        rule = re.search(r" \[([a-z-]+)\]$", found[0])
        self.assertIn(rule and rule.group(1), RULES)

    def check_fine(self, file, old, new) -> None:
        self.edit(self.schema, file, old, new)
        self.assertEqual(self.problems(), [])

    # ---- messages and enums ----

    def test_message_renamed(self) -> None:
        path = self.schema / SCHEMA / S
        path.write_text(path.read_text("utf-8").replace("EngineIdentity", "EngineName"), "utf-8")
        self.expect("the message EngineIdentity is gone", "engine: its type has changed")

    def test_enum_renamed(self) -> None:
        path = self.schema / SCHEMA / S
        path.write_text(path.read_text("utf-8").replace("SealAlgorithm", "SealKind"), "utf-8")
        self.expect("the enum SealAlgorithm is gone", "algorithm: its type has changed")

    def test_a_number_that_was_given_up_is_not_reused_later(self) -> None:
        self.release(
            KEY_ID,
            '  reserved 2;\n  reserved "key_id";\n' + LATER,
        )
        self.assertEqual(self.problems(), [])
        self.edit(
            self.schema,
            S,
            '  reserved 2;\n  reserved "key_id";\n',
            f'  bool other = 2 [(field) = {{ since_revision: {AFTER} help: "x" }}];\n',
        )
        self.expect("other: the number 2 is key_id's and must not be reused (against r1)")

    def test_a_reserved_mode_may_come(self) -> None:
        self.edit(self.schema, O, "  reserved 2 to 15;\n", "  reserved 3 to 15;\n")
        self.edit(
            self.schema,
            O,
            NONE,
            NONE
            + f'  NETWORK_MODE_OTHER = 2 [(value) = {{ since_revision: {NEXT} docker: "x" }}];\n',
        )
        self.assertEqual(self.problems(), [])

    # ---- frozen files ----

    def release(self, old: str, new: str) -> None:
        """Freezes the next revision after an edit of state.proto."""
        self.edit(self.schema, S, old, new)
        with open(self.schema / "HISTORY.md", "a", encoding="utf-8") as history:
            history.write(f"\n## r{NEXT}\n\nMore.\n")
        done = python(CODEGEN / "freeze.py", "--schema", self.schema)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_freezing(self) -> None:
        self.release(
            READY, READY + LATER
        )
        self.assertTrue((self.schema / f"released/r{NEXT}.binpb").is_file())
        self.assertEqual(self.problems(), [])
        self.edit(self.schema, S, "bool later = 900", "string later = 900")
        self.expect(f"later: its type has changed (against r{NEXT})")

    def test_nothing_new_cannot_be_frozen(self) -> None:
        self.release(READY, READY + LATER)
        done = python(CODEGEN / "freeze.py", "--schema", self.schema)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"the newest since_revision is {NEXT}; r{NEXT} is frozen", done.stderr)

    def test_freezing_needs_a_history(self) -> None:
        self.edit(
            self.schema,
            S,
            READY,
            READY + LATER,
        )
        done = python(CODEGEN / "freeze.py", "--schema", self.schema)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"the paragraph `## r{NEXT}` is missing", done.stderr)
        self.assertFalse((self.schema / f"released/r{NEXT}.binpb").exists())

    def test_a_changed_frozen_file(self) -> None:
        path = self.schema / "released/r1.binpb"
        content = bytearray(path.read_bytes())
        content[100] ^= 1
        path.write_bytes(content)
        self.expect("r1.binpb: has changed since it was frozen")

    def test_a_missing_frozen_file(self) -> None:
        (self.schema / "released/r1.binpb").unlink()
        self.expect("r1.binpb is missing", "r1.binpb is listed and missing")

    def test_an_unlisted_frozen_file(self) -> None:
        (self.schema / "released/SHA256SUMS").write_text("", "utf-8")
        self.expect("r1.binpb is not listed", "r2.binpb is not listed")

    def test_an_odd_name(self) -> None:
        (self.schema / "released/next.binpb").write_bytes(b"")
        self.expect("a frozen revision is called rN.binpb")

    def test_a_missing_paragraph(self) -> None:
        history = self.schema / "HISTORY.md"
        history.write_text(history.read_text("utf-8").split("## r2")[0] + "## r2\n", "utf-8")
        self.expect("the paragraph `## r2` is missing")

    def freeze_by_force(self, number: int) -> None:
        """Freezes the schema as it is, as somebody could by hand."""
        path = self.schema / f"released/r{number}.binpb"
        done = run(
            "protoc",
            f"-I{self.schema}",
            "-I/usr/include",
            "--include_imports",
            f"--descriptor_set_out={path}",
            f"{SCHEMA}/options.proto",
            f"{SCHEMA}/state.proto",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        sums = self.schema / "released/SHA256SUMS"
        lines = [
            line for line in sums.read_text("utf-8").splitlines() if not line.endswith(path.name)
        ]
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
        sums.write_text("\n".join(lines) + "\n", "utf-8")
        with open(self.schema / "HISTORY.md", "a", encoding="utf-8") as history:
            history.write(f"\n## r{number}\n\nMore.\n")

    def test_a_frozen_revision_keeps_what_the_one_before_it_had(self) -> None:
        self.edit(self.schema, S, "uint32 schema_revision = 1", "uint64 schema_revision = 1")
        self.freeze_by_force(NEXT)
        self.expect(f"schema_revision: its type has changed (against r{NEWEST})")

    def test_what_was_hidden_stays_hidden(self) -> None:
        self.freeze_by_force(NEXT)
        self.edit(self.schema, O, "    sensitive: true\n", "")
        self.expect(f"env: its values were hidden and would now be shown (against r{NEXT})")

    def test_a_frozen_revision_says_since_when(self) -> None:
        self.edit(
            self.schema,
            S,
            READY,
            READY + LATER.replace(f"revision: {NEXT}", f"revision: {AFTER}"),
        )
        self.freeze_by_force(NEXT)
        self.expect(f"later is of revision {AFTER}, yet in r{NEXT}")


def _add(name, check, case) -> None:
    setattr(Compat, f"test_{name}", lambda self: getattr(self, check)(*case))


for _name, _case in BROKEN.items():
    _add(_name, "check_broken", _case)
for _name, _case in FINE.items():
    _add(f"fine_{_name}", "check_fine", _case)

if __name__ == "__main__":
    unittest.main()
