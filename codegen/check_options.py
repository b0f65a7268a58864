# SPDX-License-Identifier: Apache-2.0
"""What an option says about itself: sent, compared, isolating, on the command line."""

from __future__ import annotations

import re

from check_rules import rules_fit

PATH = re.compile(r"[A-Z][A-Za-z0-9]*(\.[A-Z][A-Za-z0-9]*)*")
FLAG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

# Flags that the command line has by itself.
RESERVED_FLAGS = frozenset(
    "help version state key-file out json unpause timeout host allow-plain-tcp pull".split()
)

SCALAR_KINDS = ("bool", "string", "uint32", "uint64", "enum")

# The kinds that each shape can show: (kind, repeated).
SHAPES = {
    "SCALAR": {(kind, False) for kind in SCALAR_KINDS},
    "ARRAY": {("string", True), ("uint32", True)},
    "OBJECT": {("map", False)},
    "ENV_ARRAY": {("map", False)},
    "PORT_SET": {("uint32", True)},
    "PORT_BINDINGS": {("uint32", True)},
    "LABEL": {("string", False), ("uint32", False), ("uint64", False), ("enum", False)},
    "WORD": {("bool", False)},
    "ULIMITS": {("map", False)},
    "QUERY": {("string", False)},
}

# What a shape needs to be told, besides its path.
SHAPE_WORDS = {"LABEL": "label", "WORD": "word", "QUERY": "query"}

# Labels of ours.
LABEL = re.compile(r"io\.cofferdam(\.[a-z][a-z0-9-]*)+")
TAKEN_LABELS = (
    "io.cofferdam.session-id",
    "io.cofferdam.creation-id",
    "io.cofferdam.agent",
    "io.cofferdam.isolation",
)


# The comparisons that each shape allows.
COMPARISONS = {
    "SCALAR": ("EXACT", "ABSENT_OR_EQUAL"),
    "ARRAY": ("EXACT", "SUBSET"),
    "OBJECT": ("EXACT", "SUBSET"),
    "ENV_ARRAY": ("SUBSET",),
    "PORT_SET": ("SUBSET",),
    "PORT_BINDINGS": ("SUBSET",),
    "ULIMITS": ("SUBSET",),
}

# The comparisons that go with one kind of field, or one shape, alone.
SPECIAL = {
    "NO_CAPABILITIES": ("bool", "WORD"),
    "NO_NEW_PRIVILEGES": ("bool", "WORD"),
    "TMPFS": ("map", "OBJECT"),
}


def _create(problems, field) -> None:
    if not field.create:
        problems.add(field.where, f"{field.name}: create is missing: the option would not be sent")
    for place in field.create:
        _place(problems, field, place)
        if place.shape != "QUERY" and not PATH.fullmatch(place.path):
            problems.add(
                field.where, f"{field.name}: create path {place.path!r} is no path of keys"
            )
        if place.shape not in SHAPES:
            problems.add(field.where, f"{field.name}: create {place.path} has no known shape")
        elif (field.kind, field.repeated) not in SHAPES[place.shape]:
            problems.add(field.where, f"{field.name}: SHAPE_{place.shape} does not fit its type")


def _place(problems, field, place) -> None:
    where, name = field.where, field.name
    needed = SHAPE_WORDS.get(place.shape)
    for word in SHAPE_WORDS.values():
        if bool(getattr(place, word)) != (word == needed):
            problems.add(where, f"{name}: `{word}` goes with its shape, and only with it")
    if place.shape == "LABEL":
        if place.path != "Labels":
            problems.add(where, f"{name}: a label stands at Labels")
        if not LABEL.fullmatch(place.label) or place.label in TAKEN_LABELS:
            problems.add(where, f"{name}: {place.label!r} cannot be a label of an option")
    if place.shape == "QUERY" and place.path:
        problems.add(where, f"{name}: a parameter of the query has no path")


def _inspect(problems, field, model) -> None:
    if not field.inspect:
        problems.add(
            field.where, f"{field.name}: inspect is missing: the option would not be compared"
        )
    for look in field.inspect:
        _look(problems, field, look, model)
        if field.isolates and look.compare == "ABSENT_OR_EQUAL":
            problems.add(
                field.where,
                f"{field.name} isolates, so {look.path} must not be compared "
                "by ABSENT_OR_EQUAL: absent would be taken for safe",
            )


def _look(problems, field, look, model) -> None:
    where, name = field.where, field.name
    if look.compare == "IMAGE_PLATFORM":
        if look.path or field.kind != "string" or field.repeated:
            problems.add(where, f"{name}: COMPARE_IMAGE_PLATFORM is for strings, without a path")
        return
    if bool(look.label) != (look.compare == "LABEL"):
        problems.add(where, f"{name}: `label` goes with COMPARE_LABEL, and only with it")
    if not PATH.fullmatch(look.path):
        problems.add(where, f"{name}: inspect path {look.path!r} is no path of keys")
        return
    if bool(look.resolved) != (look.compare == "RESOLVED"):
        problems.add(where, f"{name}: `resolved` goes with COMPARE_RESOLVED, and only with it")
    if look.compare == "ONLY_NETWORK":
        if field.kind != "enum" or field.repeated:
            problems.add(where, f"{name}: COMPARE_ONLY_NETWORK is for enums")
    elif look.compare == "RESOLVED":
        target = model.state.field(look.resolved) if model.state else None
        if field.kind != "string" or field.repeated:
            problems.add(where, f"{name}: COMPARE_RESOLVED is for strings")
        elif target is None or target.kind != "string" or target.repeated:
            problems.add(where, f"{name}: `{look.resolved}` is no string of SessionState")
    elif look.compare == "LABEL":
        if all(place.label != look.label for place in field.create):
            problems.add(where, f"{name}: the label {look.label!r} has no counterpart in `create`")
    elif look.compare in SPECIAL:
        if (field.kind, field.shape_of(look)) != SPECIAL[look.compare]:
            problems.add(where, f"{name}: COMPARE_{look.compare} does not fit")
    elif look.compare in ("EXACT", "SUBSET", "ABSENT_OR_EQUAL"):
        shape = field.shape_of(look)
        if not shape:
            problems.add(where, f"{name}: inspect path {look.path} has no counterpart in `create`")
        elif look.compare not in COMPARISONS.get(shape, ()):
            problems.add(where, f"{name}: COMPARE_{look.compare} does not fit SHAPE_{shape}")
    else:
        problems.add(where, f"{name}: inspect {look.path} has no known comparison")


def _isolation(problems, field, model) -> None:
    where, name = field.where, field.name
    if field.isolates and not field.feature:
        problems.add(where, f"{name} isolates and needs a feature: an old reader would drop it")
    if field.feature and not field.isolates:
        problems.add(where, f"{name} has a feature and does not isolate")
    if not field.feature or not model.features:
        return
    value = next((v for v in model.features.values if v.name == field.feature), None)
    if value is None or value.number == 0:
        problems.add(where, f"{name}: {field.feature} is no value of Feature")
    elif value.since != field.since:
        problems.add(
            where,
            f"{name} is since revision {field.since}, its feature "
            f"{field.feature} since {value.since}",
        )


def _flag(problems, field) -> None:
    where, name = field.where, field.name
    if field.flag is None or not field.flag.name:
        problems.add(where, f"{name}: flag is missing")
        return
    flag = field.flag.name
    no = flag.startswith("no-") and not name.startswith("no_")
    if not FLAG.fullmatch(flag) or flag in RESERVED_FLAGS or flag.startswith("require-") or no:
        problems.add(where, f"{name}: --{flag} cannot be a flag")
    if field.kind == "bool" and not field.repeated:
        if field.flag.metavar:
            problems.add(where, f"{name}: the flag of a bool has no metavar")
    elif not field.flag.metavar:
        problems.add(where, f"{name}: the flag needs a metavar")
    if field.flag.unit and (field.kind != "uint64" or field.repeated):
        problems.add(where, f"{name}: the unit of a flag is for uint64")


def _strictness(problems, field) -> None:
    where, name = field.where, field.name
    if field.stricter and (field.repeated or field.kind not in ("uint32", "uint64")):
        problems.add(where, f"{name}: `stricter` is for numbers")
    if field.stricter and not field.isolates:
        problems.add(where, f"{name}: `stricter` is for what isolates")
    if field.unprofiled and not field.isolates:
        problems.add(where, f"{name}: `unprofiled` is for what isolates")
    if field.profiled is not None:
        if field.kind != "string" or field.repeated:
            problems.add(where, f"{name}: `profiled` is for strings")
        else:
            rules_fit(problems, where, f"{name} (profiled)", "string", False, field.profiled)


def _docker_words(problems, enum) -> None:
    seen = {}
    for value in enum.values:
        if value.number == 0 and value.docker:
            problems.add(
                value.where, f"{value.name}: the value 0 sends no key, so it has no docker " "word"
            )
        if value.number != 0 and not value.docker:
            problems.add(
                value.where,
                f"{value.name}: a docker word is missing: the value would not " "be sent",
            )
        if value.docker and value.docker in seen:
            problems.add(
                value.where,
                f"{value.name}: the docker word {value.docker} is "
                f"{seen[value.docker]}'s already",
            )
        seen.setdefault(value.docker, value.name)


def _option_kind(problems, field) -> None:
    where, name = field.where, field.name
    if field.kind in ("message", "bytes") or (field.repeated and field.kind == "enum"):
        what = f"repeated {field.kind}" if field.repeated else field.kind
        problems.add(where, f"{name}: {what} is not supported in SandboxOptions")
    if field.kind == "uint64" and not (field.rules.uint and 0 < field.rules.uint.lte < 2**63):
        problems.add(where, f"{name}: a uint64 option needs lte below 2^63, what JSON can carry")
    if field.enum:
        _docker_words(problems, field.enum)


def _notes(problems, field, model) -> None:
    for note in field.notes:
        other = model.options.field(note.with_)
        if other is None or other is field:
            problems.add(
                field.where,
                f"{field.name}: the note is about {note.with_!r}, which is no " "other option",
            )
        if not note.text or "\n" in note.text:
            problems.add(field.where, f"{field.name}: the text of a note must be one line")


def option(problems, field, model) -> None:
    _option_kind(problems, field)
    _create(problems, field)
    _inspect(problems, field, model)
    _isolation(problems, field, model)
    _flag(problems, field)
    _strictness(problems, field)
    _notes(problems, field, model)
