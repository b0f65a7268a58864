# SPDX-License-Identifier: Apache-2.0
"""Wrong schemas as a whole: what protobuf allows and this generator does not, and the state."""

from __future__ import annotations

import unittest

from support import SCHEMA
from wrong_support import O, S, TEXT, WORKSPACE, WrongSchema, cases, option, plain

CASES = {
    # ---- what protobuf allows and this generator does not ----
    "proto3_optional": (
        O,
        *option(plain("@@optional string extra = 20", TEXT)),
        "extra: `optional` is not supported",
    ),
    "oneof": (
        O,
        *option("oneof either {@@\n    " + plain("string extra = 20", TEXT) + "\n  }"),
        "either: oneof is not supported",
    ),
    "scalar_kind": (
        O,
        *option(plain("@@int32 extra = 20")),
        "extra: the type int32 is not supported",
    ),
    "float": (O, *option(plain("@@double extra = 20")), "extra: the type double is not supported"),
    "bytes_option": (
        O,
        *option(plain("@@bytes extra = 20", "rules: { bytes: { max_len: 9 } }")),
        "extra: bytes is not supported in SandboxOptions",
    ),
    "map_value": (
        O,
        *option(plain("@@map<string, uint32> extra = 20")),
        "extra: only map<string, string> is supported",
    ),
    "nested_message": (O, *option("message Inner { }@@"), "Inner: messages stand at the top level"),
    "nested_enum": (
        O,
        *option("enum Inner { INNER_UNSET = 0; }@@"),
        "Inner: enums stand at the top level",
    ),
    "negative_enum": (
        O,
        "  NETWORK_MODE_NONE = 1",
        '  NETWORK_MODE_ODD = -1 [(value) = { since_revision: 1 docker: "odd" }];@@\n'
        "  NETWORK_MODE_NONE = 1",
        "NETWORK_MODE_ODD: negative enum numbers are not supported",
    ),
    "enum_alias": (
        O,
        "  NETWORK_MODE_NONE = 1",
        "  option allow_alias = true;\n"
        '  NETWORK_MODE_OTHER = 1 [(value) = { since_revision: 1 docker: "x" }];\n'
        "  NETWORK_MODE_NONE = 1",
        "two names for one number",
        "enum NetworkMode {",
    ),
    "enum_prefix": (
        O,
        "  NETWORK_MODE_NONE = 1",
        '  MODE_OTHER = 2 [(value) = { since_revision: 1 docker: "x" }];@@\n'
        "  NETWORK_MODE_NONE = 1",
        "MODE_OTHER must begin with NETWORK_MODE_",
    ),
    "enum_zero": (O, "NETWORK_MODE_UNSET = 0", "NETWORK_MODE_BRIDGE = 0@@", "the value 0 must be"),
    "service": (
        S,
        "message EngineIdentity",
        "service Odd {@@\n}\n\nmessage EngineIdentity",
        "services are not supported",
    ),
    "keyword": (O, *option(plain("@@string class = 20", TEXT)), "class cannot name a field"),
    "field_case": (O, *option(plain("@@string Extra = 20", TEXT)), "Extra cannot name a field"),
    "json_name": (
        O,
        "repeated uint32 ports = 2 [(field) = {",
        'repeated uint32 ports = 2 [json_name = "Ports", (field) = {@@',
        "ports: json_name must be the default",
    ),
    # ---- the state ----
    "state_field": (
        S,
        WORKSPACE,
        "",
        "SessionState needs workspace_ready",
        "message SessionState {",
    ),
    "seal_number": (
        S,
        "Seal seal = 2047",
        "@@Seal seal = 2046",
        "seal must be the last field, number 2047",
    ),
    "seal_last": (
        S,
        "  Seal seal = 2047",
        '  bool later = 2048 [(field) = { since_revision: 1 help: "x" }];\n' "  @@Seal seal = 2047",
        "seal must be the last field, number 2047",
    ),
    "nesting": (
        S,
        "message EngineIdentity {",
        "message EngineIdentity {\n  Seal deep = 9 [(field) = { since_revision: 1 "
        'help: "x" }];@@',
        "deep: only SessionState holds messages",
    ),
    "recursion": (
        S,
        WORKSPACE,
        'SessionState again = 9 [(field) = { since_revision: 1 help: "x" }];@@\n' + WORKSPACE,
        "again: messages must not hold themselves",
    ),
}


@cases(CASES)
class WrongSchemas(WrongSchema):
    def test_the_small_schema_is_right(self) -> None:
        done = self.generate(self.small_schema())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_all_findings_are_told_at_once(self) -> None:
        schema = self.small_schema()
        self.edit(schema, O, 'help: "The user."', 'help: ""')
        self.edit(schema, O, '    feature: "FEATURE_READ_ONLY"\n', "")
        done = self.generate(schema)
        self.assertIn("user: help is missing", done.stderr)
        self.assertIn("read_only isolates and needs a feature", done.stderr)

    def test_what_protoc_refuses_is_passed_on(self) -> None:
        schema = self.small_schema()
        self.edit(schema, O, "string image = 1", "strin image = 1")
        done = self.generate(schema)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(
            done.stderr, r"cofferdam/v1/options.proto:\d+:\d+: \"strin\" is not defined"
        )

    def test_a_message_is_missing(self) -> None:
        schema = self.small_schema()
        self.edit(schema, O, "message SandboxOptions {", "message OtherOptions {")
        self.edit(schema, S, "SandboxOptions options", "OtherOptions options")
        done = self.generate(schema)
        self.assertEqual(done.returncode, 1)
        self.assertIn("SandboxOptions is missing", done.stderr)

    def test_other_files_are_checked(self) -> None:
        schema = self.small_schema()
        extra = schema / SCHEMA / "extra.proto"
        for text, reason in (
            ('syntax = "proto2"; package cofferdam.v1;', "only proto3 is supported"),
            ('syntax = "proto3"; package other;', "the package must be cofferdam.v1"),
        ):
            extra.write_text(text, "utf-8")
            done = self.generate(schema)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"cofferdam/v1/extra.proto:1: {reason}", done.stderr)

    def test_no_schema_at_all(self) -> None:
        done = self.generate(self.directory)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no .proto file", done.stderr)


if __name__ == "__main__":
    unittest.main()
