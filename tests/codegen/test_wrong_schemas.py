# SPDX-License-Identifier: Apache-2.0
"""Wrong schemas fail with file, line and reason. Each case edits the small schema; `@@` stands in
the line that must be named."""

from __future__ import annotations

import unittest

from support import SCHEMA, Scratch

O, S = "options.proto", "state.proto"
IMAGE = "string image = 1 [(field) = {\n    since_revision: 1\n"
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

# name: file, what to replace, by what, the reason. The line named is the marked one, or the one
# with the text at the end, or else that of the field around the edit.
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
    # ---- annotations that are missing ----
    "no_annotation": (O, *option("@@string extra = 20;"), "extra has no (field) annotation"),
    "no_revision": (
        O,
        *option(plain("@@string extra = 20", TEXT, since="")),
        "extra: since_revision is missing",
    ),
    "no_help": (O, *option(plain("@@string extra = 20", TEXT, help="")), "extra: help is missing"),
    "no_create": (
        O,
        *option(plain("@@string extra = 20", TEXT, create="")),
        "extra: create is missing: the option would not be sent",
    ),
    "no_inspect": (
        O,
        *option(plain("@@string extra = 20", TEXT, inspect="")),
        "extra: inspect is missing: the option would not be compared",
    ),
    "no_flag": (O, *option(plain("@@string extra = 20", TEXT, flag="")), "extra: flag is missing"),
    "no_metavar": (
        O,
        *option(plain("@@string extra = 20", TEXT, flag='flag: { name: "extra" }')),
        "extra: the flag needs a metavar",
    ),
    "bool_metavar": (
        O,
        'flag: { name: "read-only" }',
        'flag: { name: "read-only" metavar: "X" }',
        "read_only: the flag of a bool has no metavar",
    ),
    "no_singular": (
        O,
        '    help: "Ports."\n    singular: "port"\n',
        '    help: "Ports."\n',
        "ports: singular is missing",
    ),
    "sensitive_number": (
        O,
        *option(plain("@@uint32 extra = 20", more="sensitive: true")),
        "extra: sensitive is for strings and maps only",
    ),
    "needless_singular": (
        O,
        *option(plain("@@string extra = 20", TEXT, more='singular: "x"')),
        "extra: singular is for repeated fields",
    ),
    "no_value_annotation": (
        O,
        "  NETWORK_MODE_NONE = 1",
        "  NETWORK_MODE_X = 2;@@\n  NETWORK_MODE_NONE = 1",
        "NETWORK_MODE_X has no (value) annotation",
    ),
    "no_docker_word": (
        O,
        "  NETWORK_MODE_NONE = 1",
        "  NETWORK_MODE_X = 2 [(value) = { since_revision: 1 }];@@\n" "  NETWORK_MODE_NONE = 1",
        "NETWORK_MODE_X: a docker word is missing",
    ),
    "docker_word_of_zero": (
        O,
        "NETWORK_MODE_UNSET = 0 [(value) = { since_revision: 1 }];",
        'NETWORK_MODE_UNSET = 0 [(value) = { since_revision: 1 docker: "x" }];@@',
        "the value 0 sends no key",
    ),
    "docker_word_twice": (
        O,
        "  NETWORK_MODE_NONE = 1",
        "  NETWORK_MODE_X = 2 [(value) = { since_revision: 1 "
        'docker: "none" }];\n  @@NETWORK_MODE_NONE = 1',
        "NETWORK_MODE_NONE: the docker word none is NETWORK_MODE_X's already",
    ),
    # ---- annotations that contradict ----
    "isolates_without_feature": (
        O,
        '    feature: "FEATURE_READ_ONLY"\n',
        "",
        "read_only isolates and needs a feature",
    ),
    "feature_without_isolates": (
        O,
        *option(plain("@@string extra = 20", TEXT, more='feature: "FEATURE_USER"')),
        "extra has a feature and does not isolate",
    ),
    "feature_unknown": (
        O,
        'feature: "FEATURE_READ_ONLY"',
        'feature: "FEATURE_ODD"',
        "read_only: FEATURE_ODD is no value of Feature",
    ),
    "feature_twice": (
        O,
        'feature: "FEATURE_USER"',
        'feature: "FEATURE_READ_ONLY"',
        "user: feature FEATURE_READ_ONLY is read_only's already",
    ),
    "feature_orphan": (
        S,
        "  FEATURE_TMPFS = 7",
        "  FEATURE_ODD = 90 [(value) = { since_revision: 1 }];@@\n" "  FEATURE_TMPFS = 7",
        "FEATURE_ODD is the feature of no option",
    ),
    "feature_revision": (
        O,
        "bool read_only = 5 [(field) = {\n    since_revision: 1",
        "@@bool read_only = 5 [(field) = {\n    since_revision: 2",
        "read_only is since revision 2, its feature FEATURE_READ_ONLY since 1",
    ),
    "isolates_may_be_absent": (
        O,
        'inspect: { path: "HostConfig.ReadonlyRootfs" compare: COMPARE_EXACT }',
        'inspect: { path: "HostConfig.ReadonlyRootfs" compare: COMPARE_ABSENT_OR_EQUAL }',
        "absent would be taken for safe",
    ),
    "shape": (
        O,
        'path: "HostConfig.ReadonlyRootfs" shape: SHAPE_SCALAR',
        'path: "HostConfig.ReadonlyRootfs" shape: SHAPE_ARRAY',
        "read_only: SHAPE_ARRAY does not fit its type",
    ),
    "no_shape": (
        O,
        'path: "HostConfig.ReadonlyRootfs" shape: SHAPE_SCALAR',
        'path: "HostConfig.ReadonlyRootfs"',
        "create HostConfig.ReadonlyRootfs has no known",
    ),
    "create_path": (
        O,
        'create: { path: "User"',
        'create: { path: "Us er"',
        "create path 'Us er' is no path",
    ),
    "create_path_twice": (
        O,
        *option(
            plain(
                "@@string extra = 20",
                TEXT,
                create='create: { path: "Image" shape: SHAPE_SCALAR }',
                inspect='inspect: { path: "Image" compare: COMPARE_EXACT }',
            )
        ),
        "extra: create path Image is image's already",
    ),
    "create_path_inside": (
        O,
        *option(
            plain(
                "@@string extra = 20",
                TEXT,
                create='create: { path: "HostConfig" shape: SHAPE_SCALAR }',
                inspect='inspect: { path: "HostConfig" compare: COMPARE_EXACT }',
            )
        ),
        "extra: create path HostConfig contains HostConfig.PortBindings of ports",
    ),
    "compare": (
        O,
        'path: "HostConfig.ReadonlyRootfs" compare: COMPARE_EXACT',
        'path: "HostConfig.ReadonlyRootfs" compare: COMPARE_SUBSET',
        "read_only: COMPARE_SUBSET does not fit SHAPE_SCALAR",
    ),
    "no_compare": (
        O,
        'path: "HostConfig.ReadonlyRootfs" compare: COMPARE_EXACT',
        'path: "HostConfig.ReadonlyRootfs"',
        "has no known comparison",
    ),
    "inspect_elsewhere": (
        O,
        'inspect: { path: "Config.User"',
        'inspect: { path: "Config.Who"',
        "user: inspect path Config.Who has no counterpart in `create`",
    ),
    "only_network": (
        O,
        'path: "HostConfig.ReadonlyRootfs" compare: COMPARE_EXACT',
        'path: "HostConfig.ReadonlyRootfs" compare: COMPARE_ONLY_NETWORK',
        "read_only: COMPARE_ONLY_NETWORK is for enums",
    ),
    "resolved_unknown": (
        O,
        'resolved: "image_id"',
        'resolved: "image"',
        "image: `image` is no string of SessionState",
    ),
    "resolved_missing": (
        O,
        'compare: COMPARE_RESOLVED resolved: "image_id"',
        "compare: COMPARE_RESOLVED",
        "image: `resolved` goes with COMPARE_RESOLVED",
    ),
    "flag_twice": (
        O,
        'flag: { name: "user" metavar: "USER" }',
        'flag: { name: "port" metavar: "USER" }',
        "user: flag --port is ports's already",
    ),
    "flag_reserved": (
        O,
        'flag: { name: "user" metavar: "USER" }',
        'flag: { name: "state" metavar: "USER" }',
        "user: --state cannot be a flag",
    ),
    "flag_prefix": (
        O,
        'flag: { name: "user" metavar: "USER" }',
        'flag: { name: "require-x" metavar: "USER" }',
        "--require-x cannot be a flag",
    ),
    "note_with": (O, 'with: "ports"', 'with: "port"', "the note is about 'port'"),
    "note_text": (
        O,
        'text: "no port can be reached"',
        'text: ""',
        "the text of a note must be one line",
    ),
    "help_lines": (O, 'help: "The user."', 'help: "The\\nuser."', "user: help must be one line"),
    "accessor_twice": (
        O,
        '    help: "Groups."\n    singular: "group"',
        '    help: "Groups."\n    singular: "drop"',
        "groups: accessor drop is drops's",
    ),
    "state_with_flag": (
        S,
        WORKSPACE,
        "bool workspace_ready = 8 [(field) = { since_revision: 1 "
        'help: "Ready." flag: { name: "x" } }];@@',
        "workspace_ready: flag is for the fields of SandboxOptions",
    ),
    "state_isolates": (
        S,
        WORKSPACE,
        "bool workspace_ready = 8 [(field) = { since_revision: 1 "
        'help: "Ready." isolates: true }];@@',
        "workspace_ready: isolates is for the fields of SandboxOptions",
    ),
    # ---- rules ----
    "rules_kind": (
        O,
        *option(plain("@@string extra = 20", "rules: { uint: { lte: 9 } }")),
        "extra: uint rules do not fit its type",
    ),
    "string_bound": (O, *option(plain("@@string extra = 20")), "extra: a string needs max_bytes"),
    "string_bounds": (
        O,
        *option(plain("@@string extra = 20", "rules: { string: { min_bytes: 9 max_bytes: 8 } }")),
        "extra: min_bytes is above max_bytes",
    ),
    "uint_bounds": (
        O,
        *option(plain("@@uint32 extra = 20", "rules: { uint: { gte: 9 lte: 8 } }")),
        "extra: gte is above lte",
    ),
    "uint_type": (
        O,
        *option(plain("@@uint32 extra = 20", "rules: { uint: { lte: 4294967296 } }")),
        "extra: a bound is above what uint32 holds",
    ),
    "uint64_json": (O, *option(plain("@@uint64 extra = 20")), "extra: a uint64 option needs lte"),
    "enum_defined": (
        O,
        "    rules: { enum: { defined_only: true } }\n",
        "",
        "network_mode: an enum must have the rule defined_only",
    ),
    "max_items": (
        O,
        "rules: { repeated: { max_items: 8 } }",
        "rules: { repeated: { unique: true } }",
        "groups: a repeated field needs max_items",
    ),
    "items_rules": (
        O,
        "unique: true items: { string: { min_bytes: 1 max_bytes: 32 } }",
        "unique: true",
        "drops: rules for the items are missing",
    ),
    "items_required": (
        O,
        "items: { string: { min_bytes: 1 max_bytes: 32 } }",
        "items: { required: true string: { min_bytes: 1 max_bytes: 32 } }",
        "drops: required is not for items",
    ),
    "max_pairs": (
        O,
        "        max_pairs: 8\n        keys: { string: { min_bytes: 1 max_bytes: 64 } }",
        "        keys: { string: { min_bytes: 1 max_bytes: 64 } }",
        "tmpfs: a map needs max_pairs",
    ),
    "map_rules": (
        O,
        '        keys: { string: { min_bytes: 1 max_bytes: 64 not_contains: "=" } }\n',
        "",
        "env: rules for the keys are missing",
    ),
    "repeated_bool": (
        O,
        *option(
            plain(
                "@@repeated bool extra = 20",
                "rules: { repeated: { max_items: 2 } }",
                more='singular: "one"',
            )
        ),
        "extra: repeated bool is not supported",
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


# ---- labels, words, queries, units, strictness ----

LABEL = 'create: { path: "Labels" shape: SHAPE_LABEL label: "io.cofferdam.extra" }'
LABEL_LOOK = 'inspect: { path: "Config.Labels" compare: COMPARE_LABEL label: "io.cofferdam.extra" }'
QUERY = 'create: { shape: SHAPE_QUERY query: "platform" }'


def labelled(**change: str) -> tuple[str, str]:
    parts = {"create": LABEL, "inspect": LABEL_LOOK, **change}
    return option(plain("@@string extra = 20", TEXT, **parts))


def numbered(**change: str) -> tuple[str, str]:
    rules = "rules: { uint: { gte: 1 lte: 9 } }"
    return option(plain("@@uint64 extra = 20", change.pop("rules", rules), **change))


CASES.update(
    {
        "label_without_its_key": (
            O,
            *labelled(create='create: { path: "Labels" shape: SHAPE_LABEL }'),
            "`label` goes with its shape",
        ),
        "label_of_a_scalar": (
            O,
            *labelled(create='create: { path: "Extra" shape: SHAPE_SCALAR label: "io.cofferdam.extra" }'),
            "`label` goes with its shape",
        ),
        "label_elsewhere": (
            O,
            *labelled(create=LABEL.replace('"Labels"', '"HostConfig.Labels"')),
            "a label stands at Labels",
        ),
        "label_of_somebody_else": (
            O,
            *labelled(create=LABEL.replace("io.cofferdam.extra", "team")),
            "'team' cannot be a label of an option",
        ),
        "label_of_the_session": (
            O,
            *labelled(create=LABEL.replace("io.cofferdam.extra", "io.cofferdam.session-id")),
            "'io.cofferdam.session-id' cannot be a label of an option",
        ),
        "label_twice": (
            O,
            *labelled(create=LABEL.replace("extra", "until"), inspect=LABEL_LOOK.replace("extra", "until")),
            "create path io.cofferdam.until is until's already",
        ),
        "label_compared_with_another": (
            O,
            *labelled(inspect=LABEL_LOOK.replace("extra", "other")),
            "the label 'io.cofferdam.other' has no counterpart",
        ),
        "label_compared_as_a_scalar": (
            O,
            *labelled(inspect='inspect: { path: "Config.Labels" compare: COMPARE_EXACT }'),
            "COMPARE_EXACT does not fit SHAPE_LABEL",
        ),
        "word_of_a_string": (
            O,
            *option(plain("@@string extra = 20", TEXT, create='create: { path: "Extra" shape: SHAPE_WORD word: "x" }')),
            "SHAPE_WORD does not fit its type",
        ),
        "word_without_its_word": (
            O,
            *option(plain("@@bool extra = 20", create='create: { path: "Extra" shape: SHAPE_WORD }',
                          inspect='inspect: { path: "Config.Extra" compare: COMPARE_NO_CAPABILITIES }',
                          flag='flag: { name: "extra" }')),
            "`word` goes with its shape",
        ),
        "capabilities_of_a_scalar": (
            O,
            *option(plain("@@bool extra = 20",
                          inspect='inspect: { path: "Config.Extra" compare: COMPARE_NO_CAPABILITIES }',
                          flag='flag: { name: "extra" }')),
            "COMPARE_NO_CAPABILITIES does not fit",
        ),
        "query_with_a_path": (
            O,
            *option(plain("@@string extra = 20", TEXT, create=QUERY.replace("shape", 'path: "X" shape').replace("platform", "other"),
                          inspect="inspect: { compare: COMPARE_IMAGE_PLATFORM }")),
            "a parameter of the query has no path",
        ),
        "query_twice": (
            O,
            *option(plain("@@string extra = 20", TEXT, create=QUERY, inspect="inspect: { compare: COMPARE_IMAGE_PLATFORM }")),
            "create path platform is platform's already",
        ),
        "platform_with_a_path": (
            O,
            *option(plain("@@string extra = 20", TEXT, inspect='inspect: { path: "Config.Extra" compare: COMPARE_IMAGE_PLATFORM }')),
            "COMPARE_IMAGE_PLATFORM is for strings, without a path",
        ),
        "unit_of_a_string": (
            O,
            *option(plain("@@string extra = 20", TEXT, flag='flag: { name: "extra" metavar: "X" unit: FLAG_UNIT_BYTES }')),
            "the unit of a flag is for uint64",
        ),
        "step_beside_the_bounds": (
            O,
            *numbered(rules="rules: { uint: { gte: 2 lte: 9 multiple_of: 2 } }"),
            "a bound is no multiple of 2",
        ),
        "stricter_of_a_string": (
            O,
            *option(plain("@@string extra = 20", TEXT, more="stricter: STRICTER_LOWER")),
            "`stricter` is for numbers",
        ),
        "stricter_of_what_does_not_isolate": (
            O,
            *numbered(more="stricter: STRICTER_LOWER"),
            "`stricter` is for what isolates",
        ),
        "unprofiled_and_does_not_isolate": (
            O,
            *numbered(more='unprofiled: "why"'),
            "`unprofiled` is for what isolates",
        ),
        "profiled_number": (
            O,
            *numbered(more="profiled: { uint: { gte: 1 lte: 2 } }"),
            "`profiled` is for strings",
        ),
        "profiled_without_a_bound": (
            O,
            *option(plain("@@string extra = 20", TEXT, more="profiled: { string: { min_bytes: 1 } }")),
            "a string needs max_bytes",
        ),
        "no_flag_of_a_field_that_is_none": (
            O,
            *option(plain("@@bool extra = 20", flag='flag: { name: "no-extra" }')),
            "--no-extra cannot be a flag",
        ),
        "stricter_in_the_state": (
            S,
            WORKSPACE,
            WORKSPACE.replace('help: "Ready."', 'help: "Ready." stricter: STRICTER_LOWER'),
            "stricter is for the fields of SandboxOptions",
        ),
    }
)


class WrongSchemas(Scratch):
    """One test for each case is added below."""

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


def _add(name, case) -> None:
    setattr(WrongSchemas, f"test_{name}", lambda self: self.check(*case))


for _name, _case in CASES.items():
    _add(_name, _case)

if __name__ == "__main__":
    unittest.main()
