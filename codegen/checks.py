# SPDX-License-Identifier: Apache-2.0
"""What the generator demands of a schema. Every finding names a place and a reason."""

from __future__ import annotations

import check_options
from check_protobuf import IDENTIFIER
from check_rules import rules_fit

# What the runtime relies on: the field's kind and whether it is repeated.
STATE_FIELDS = {
    "schema_revision": ("uint32", False),
    "required_features": ("enum", True),
    "session_id": ("string", False),
    "options": ("message", False),
    "image_id": ("string", False),
    "container_id": ("string", False),
    "engine": ("message", False),
    "workspace_ready": ("bool", False),
    "seal": ("message", False),
}


def _common(problems, field) -> None:
    where, name = field.where, field.name
    if field.since == 0:
        problems.add(where, f"{name}: since_revision is missing")
    if not field.help:
        problems.add(where, f"{name}: help is missing")
    elif "\n" in field.help or "*/" in field.help:
        problems.add(where, f"{name}: help must be one line and no end of a C comment")
    if field.many and not IDENTIFIER.fullmatch(field.singular):
        problems.add(where, f"{name}: singular is missing or no lower_snake_case name")
    if not field.many and field.singular:
        problems.add(where, f"{name}: singular is for repeated fields and maps only")
    if field.json_name != _camel(name):
        problems.add(where, f"{name}: json_name must be the default, {_camel(name)}")
    if field.sensitive and field.kind not in ("string", "map"):
        problems.add(where, f"{name}: sensitive is for strings and maps only")
    rules_fit(problems, where, name, field.kind, field.repeated, field.rules)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _state_only(problems, field) -> None:
    """What only options may say."""
    for word, given in (
        ("create", field.create),
        ("inspect", field.inspect),
        ("isolates", field.isolates),
        ("feature", field.feature),
        ("flag", field.flag),
        ("notes", field.notes),
        ("stricter", field.stricter),
        ("profiled", field.profiled),
        ("unprofiled", field.unprofiled),
    ):
        if given:
            problems.add(field.where, f"{field.name}: {word} is for the fields of SandboxOptions")


def _distinct(problems, fields, what, values_of) -> None:
    seen = {}
    for field in fields:
        for value in values_of(field):
            if value in seen:
                problems.add(
                    field.where, f"{field.name}: {what} {value} is {seen[value]}'s already"
                )
            seen.setdefault(value, field.name)


def _create_paths(problems, fields) -> None:
    def places(field):
        return [place.label or place.query or place.path for place in field.create]

    _distinct(problems, fields, "create path", places)
    every = [(place.path, field) for field in fields for place in field.create if not place.label]
    for path, field in every:
        for other, owner in every:
            if other.startswith(path + "."):
                problems.add(
                    field.where,
                    f"{field.name}: create path {path} contains {other} of " f"{owner.name}",
                )


def accessor_names(field) -> list[str]:
    """The names that the accessors of a field take, behind the type's prefix."""
    if field.kind == "map":
        one = field.singular
        return [
            one,
            f"set_{one}",
            f"{one}_count",
            f"{one}_at",
            f"remove_{one}",
            f"clear_{field.name}",
        ]
    if field.repeated:
        one = field.singular
        return [one, f"add_{one}", f"{one}_count", f"clear_{field.name}"]
    return [field.name, f"set_{field.name}"]


def _features(problems, model) -> None:
    used = {field.feature for field in model.options.fields}
    for value in model.features.values:
        if value.number != 0 and value.name not in used:
            problems.add(value.where, f"{value.name} is the feature of no option")


def _state(problems, model) -> None:
    state = model.state
    for name, (kind, repeated) in STATE_FIELDS.items():
        field = state.field(name)
        if field is None or (field.kind, field.repeated) != (kind, repeated):
            problems.add(state.where, f"SessionState needs {name}, as the runtime knows it")
    options, features, seal = (
        state.field(name) for name in ("options", "required_features", "seal")
    )
    if options and options.kind == "message" and options.message != "SandboxOptions":
        problems.add(options.where, "options must be SandboxOptions")
    if features and features.enum and features.enum.name != "Feature":
        problems.add(features.where, "required_features must be of Feature")
    if seal and (seal.number != 2047 or seal is not state.fields[-1]):
        problems.add(seal.where, "seal must be the last field, number 2047")


def _nesting(problems, model) -> None:
    for message in model.messages:
        for field in message.fields:
            if field.kind != "message":
                continue
            if message.name != "SessionState":
                problems.add(field.where, f"{field.name}: only SessionState holds messages")
            elif field.message == "SessionState":
                problems.add(field.where, f"{field.name}: messages must not hold themselves")


def whole(problems, model) -> None:
    for name, found in (
        ("SandboxOptions", model.options),
        ("SessionState", model.state),
        ("Feature", model.features),
    ):
        if found is None:
            problems.add(model.files[0] if model.files else "schema", f"{name} is missing")
    if not (model.options and model.state and model.features):
        return
    for message in model.messages:
        for field in message.fields:
            _common(problems, field)
            if message is not model.options:
                _state_only(problems, field)
        _distinct(problems, message.fields, "accessor", accessor_names)
    for field in model.options.fields:
        check_options.option(problems, field, model)
    _distinct(
        problems, model.options.fields, "flag", lambda f: ["--" + f.flag.name] if f.flag else []
    )
    _distinct(problems, model.options.fields, "feature", lambda f: [f.feature] if f.feature else [])
    _create_paths(problems, model.options.fields)
    _features(problems, model)
    _state(problems, model)
    _nesting(problems, model)
