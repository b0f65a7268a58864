# SPDX-License-Identifier: Apache-2.0
"""Annotations that are missing, that contradict each other, or whose rules do not fit."""

from __future__ import annotations

import unittest

from wrong_support import O, S, TEXT, WORKSPACE, WrongSchema, cases, option, plain

CASES = {
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
}


@cases(CASES)
class WrongAnnotations(WrongSchema):
    pass


if __name__ == "__main__":
    unittest.main()
