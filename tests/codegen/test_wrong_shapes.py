# SPDX-License-Identifier: Apache-2.0
"""Wrong labels, words, queries, units and strictness."""

from __future__ import annotations

import unittest

from wrong_support import O, S, TEXT, WORKSPACE, WrongSchema, cases, option, plain

LABEL = 'create: { path: "Labels" shape: SHAPE_LABEL label: "io.cofferdam.extra" }'
LABEL_LOOK = 'inspect: { path: "Config.Labels" compare: COMPARE_LABEL label: "io.cofferdam.extra" }'
QUERY = 'create: { shape: SHAPE_QUERY query: "platform" }'
PLATFORM = "inspect: { compare: COMPARE_IMAGE_PLATFORM }"
NO_CAPABILITIES = 'inspect: { path: "Config.Extra" compare: COMPARE_NO_CAPABILITIES }'


def worded(**change: str) -> tuple[str, str]:
    return option(plain("@@string extra = 20", TEXT, **change))


def switched(**change: str) -> tuple[str, str]:
    parts = {"inspect": NO_CAPABILITIES, "flag": 'flag: { name: "extra" }', **change}
    return option(plain("@@bool extra = 20", **parts))


def labelled(**change: str) -> tuple[str, str]:
    return worded(**{"create": LABEL, "inspect": LABEL_LOOK, **change})


def numbered(**change: str) -> tuple[str, str]:
    rules = "rules: { uint: { gte: 1 lte: 9 } }"
    return option(plain("@@uint64 extra = 20", change.pop("rules", rules), **change))


CASES = {
    "label_without_its_key": (
        O,
        *labelled(create='create: { path: "Labels" shape: SHAPE_LABEL }'),
        "`label` goes with its shape",
    ),
    "label_of_a_scalar": (
        O,
        *labelled(
            create='create: { path: "Extra" shape: SHAPE_SCALAR label: "io.cofferdam.extra" }'
        ),
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
    "label_of_the_isolation": (
        O,
        *labelled(create=LABEL.replace("io.cofferdam.extra", "io.cofferdam.isolation")),
        "'io.cofferdam.isolation' cannot be a label of an option",
    ),
    "label_twice": (
        O,
        *labelled(
            create=LABEL.replace("extra", "until"),
            inspect=LABEL_LOOK.replace("extra", "until"),
        ),
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
        *worded(create='create: { path: "Extra" shape: SHAPE_WORD word: "x" }'),
        "SHAPE_WORD does not fit its type",
    ),
    "word_without_its_word": (
        O,
        *switched(create='create: { path: "Extra" shape: SHAPE_WORD }'),
        "`word` goes with its shape",
    ),
    "capabilities_of_a_scalar": (
        O,
        *switched(),
        "COMPARE_NO_CAPABILITIES does not fit",
    ),
    "query_with_a_path": (
        O,
        *worded(
            create='create: { path: "X" shape: SHAPE_QUERY query: "other" }', inspect=PLATFORM
        ),
        "a parameter of the query has no path",
    ),
    "query_twice": (
        O,
        *worded(create=QUERY, inspect=PLATFORM),
        "create path platform is platform's already",
    ),
    "platform_with_a_path": (
        O,
        *worded(inspect='inspect: { path: "Config.Extra" compare: COMPARE_IMAGE_PLATFORM }'),
        "COMPARE_IMAGE_PLATFORM is for strings, without a path",
    ),
    "unit_of_a_string": (
        O,
        *worded(flag='flag: { name: "extra" metavar: "X" unit: FLAG_UNIT_BYTES }'),
        "the unit of a flag is for uint64",
    ),
    "step_beside_the_bounds": (
        O,
        *numbered(rules="rules: { uint: { gte: 2 lte: 9 multiple_of: 2 } }"),
        "a bound is no multiple of 2",
    ),
    "stricter_of_a_string": (
        O,
        *worded(more="stricter: STRICTER_LOWER"),
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
        *worded(more="profiled: { string: { min_bytes: 1 } }"),
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


@cases(CASES)
class WrongShapes(WrongSchema):
    pass


if __name__ == "__main__":
    unittest.main()
