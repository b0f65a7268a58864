# SPDX-License-Identifier: Apache-2.0
"""What the generator demands of a schema. Every finding names a place and a reason."""

from __future__ import annotations

import re

from descriptors import Places

IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
CAMEL = re.compile(r"([A-Z][a-z0-9]+)+")
CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
PATH = re.compile(r"[A-Z][A-Za-z0-9]*(\.[A-Z][A-Za-z0-9]*)*")
FLAG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

# Names that C or C++ has taken, or that the accessors use for other things.
RESERVED_NAMES = frozenset("""
    alignas alignof and asm auto bool break case catch char class const continue default delete do
    double else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new not nullptr operator or private protected public register return short signed
    sizeof static struct switch template this throw true try typedef typename union unsigned using
    virtual void volatile while xor base copy free validate err index length key value
    """.split())

# Flags that the command line has by itself.
RESERVED_FLAGS = frozenset(("help", "version", "state", "key-file", "json", "unpause", "timeout",
                            "workdir", "pull", "host"))

SCALAR_KINDS = ("bool", "string", "uint32", "uint64", "enum")

# The kinds that each shape can show: (kind, repeated).
SHAPES = {
    "SCALAR": {(kind, False) for kind in SCALAR_KINDS},
    "ARRAY": {("string", True), ("uint32", True)},
    "OBJECT": {("map", False)},
    "ENV_ARRAY": {("map", False)},
    "PORT_SET": {("uint32", True)},
    "PORT_BINDINGS": {("uint32", True)},
}

# The comparisons that each shape allows.
COMPARISONS = {
    "SCALAR": ("EXACT", "ABSENT_OR_EQUAL"),
    "ARRAY": ("EXACT", "SUBSET"),
    "OBJECT": ("EXACT", "SUBSET"),
    "ENV_ARRAY": ("SUBSET",),
    "PORT_SET": ("SUBSET",),
    "PORT_BINDINGS": ("SUBSET",),
}

# Formats that bound a text by themselves.
FIXED_FORMATS = ("UUID", "CONTAINER_ID", "IMAGE_ID")

# What the runtime relies on: the field's kind and whether it is repeated.
STATE_FIELDS = {
    "schema_revision": ("uint32", False), "required_features": ("enum", True),
    "session_id": ("string", False), "options": ("message", False), "image_id": ("string", False),
    "container_id": ("string", False), "engine": ("message", False),
    "workspace_ready": ("bool", False), "seal": ("message", False),
}


# ---- files, messages and enums, as protobuf has them ----

def file_level(problems, file, package) -> None:
    if file.syntax != "proto3":
        problems.add(f"{file.name}:1", "only proto3 is supported")
    if file.package != package:
        problems.add(f"{file.name}:1", f"the package must be {package}")
    places = Places(file)
    for index, _ in enumerate(file.service):
        problems.add(places.at((6, index), file.service[index].name), "services are not supported")
    for index, extension in enumerate(file.extension):
        problems.add(places.at((7, index), extension.name), "extensions are not supported")


def message_level(problems, where, message, places, index) -> None:
    if not CAMEL.fullmatch(message.name):
        problems.add(where, f"the message name {message.name} is not in CamelCase")
    for at, oneof in enumerate(message.oneof_decl):
        if any(field.proto3_optional and field.oneof_index == at for field in message.field):
            continue
        problems.add(places.at((4, index, 8, at), f"{message.name}.{oneof.name}"),
                     f"{oneof.name}: oneof is not supported; readers disagree on which member wins")
    for at, enum in enumerate(message.enum_type):
        problems.add(places.at((4, index, 4, at), f"{message.name}.{enum.name}"),
                     f"{enum.name}: enums stand at the top level")
    for at, nested in enumerate(message.nested_type):
        place = places.at((4, index, 3, at), f"{message.name}.{nested.name}")
        if not nested.options.map_entry:
            problems.add(place, f"{nested.name}: messages stand at the top level")
            continue
        kinds = [field.type for field in nested.field]
        if kinds != [9, 9]:
            field = next(i for i, f in enumerate(message.field)
                         if f.type_name.endswith(f".{message.name}.{nested.name}"))
            problems.add(places.at((4, index, 2, field), f"{message.name}.{nested.name}"),
                         f"{message.field[field].name}: only map<string, string> is supported")


def enum_level(problems, enum, proto) -> None:
    prefix = enum.snake.upper() + "_"
    if not CAMEL.fullmatch(enum.name):
        problems.add(enum.where, f"the enum name {enum.name} is not in CamelCase")
    if proto.options.allow_alias:
        problems.add(enum.where, f"{enum.name}: two names for one number are not supported")
    for value in enum.values:
        if value.number < 0:
            problems.add(value.where, f"{value.name}: negative enum numbers are not supported; "
                                      "encoders disagree on them")
        if not value.name.startswith(prefix) or not CONSTANT.fullmatch(value.name):
            problems.add(value.where, f"{value.name} must begin with {prefix}")
        if value.number == 0 and value.short not in ("UNSET", "UNSPECIFIED"):
            problems.add(value.where, f"the value 0 must be {prefix}UNSET or {prefix}UNSPECIFIED")
        if "\n" in value.help:
            problems.add(value.where, f"{value.name}: help must be one line")


def presence(problems, where, field) -> None:
    if field.proto3_optional:
        problems.add(where, f"{field.name}: `optional` is not supported; protoc-c refuses it")
    if not IDENTIFIER.fullmatch(field.name) or field.name in RESERVED_NAMES:
        problems.add(where, f"{field.name} cannot name a field; take another lower_snake_case name")


# ---- fields, as the annotations have them ----

def _rules_fit(problems, where, name, kind, repeated, rules) -> None:
    """The rules are of the field's kind, and they bound what needs a bound."""
    wanted = {"string": "string", "bytes": "bytes", "uint32": "uint", "uint64": "uint",
              "enum": "enum", "map": "map"}.get(kind)
    if repeated:
        wanted = "repeated"
    for word in ("string", "bytes", "uint", "enum", "repeated", "map"):
        if word != wanted and getattr(rules, word) is not None:
            problems.add(where, f"{name}: {word} rules do not fit its type")
    if repeated:
        _repeated_rules(problems, where, name, kind, rules.repeated)
    elif kind == "map":
        _map_rules(problems, where, name, rules.map)
    elif kind == "string":
        _string_rules(problems, where, name, rules.string)
    elif kind == "bytes":
        if rules.bytes is None or rules.bytes.max_len == 0:
            problems.add(where, f"{name}: bytes need a max_len")
        elif rules.bytes.min_len > rules.bytes.max_len:
            problems.add(where, f"{name}: min_len is above max_len")
    elif kind in ("uint32", "uint64") and rules.uint is not None:
        _uint_rules(problems, where, name, kind, rules.uint)
    elif kind == "enum" and (rules.enum is None or not rules.enum.defined_only):
        problems.add(where, f"{name}: an enum must have the rule defined_only")


def _string_rules(problems, where, name, rules) -> None:
    if rules is None or (rules.max_bytes == 0 and rules.format not in FIXED_FORMATS):
        problems.add(where, f"{name}: a string needs max_bytes")
    elif rules.max_bytes and rules.min_bytes > rules.max_bytes:
        problems.add(where, f"{name}: min_bytes is above max_bytes")


def _uint_rules(problems, where, name, kind, rules) -> None:
    top = 2**32 - 1 if kind == "uint32" else 2**64 - 1
    if rules.lte and rules.gte > rules.lte:
        problems.add(where, f"{name}: gte is above lte")
    if rules.gte > top or rules.lte > top:
        problems.add(where, f"{name}: a bound is above what {kind} holds")


def _repeated_rules(problems, where, name, kind, rules) -> None:
    if rules is None or rules.max_items == 0:
        problems.add(where, f"{name}: a repeated field needs max_items")
        return
    if rules.unique and kind not in ("string", "uint32", "enum"):
        problems.add(where, f"{name}: unique is not supported for {kind}")
    if kind in ("message", "bool", "uint64", "bytes"):
        problems.add(where, f"{name}: repeated {kind} is not supported")
    elif rules.items is None and kind in ("string", "enum"):
        problems.add(where, f"{name}: rules for the items are missing")
    elif rules.items is not None:
        if rules.items.required:
            problems.add(where, f"{name}: required is not for items")
        _rules_fit(problems, where, name, kind, False, rules.items)


def _map_rules(problems, where, name, rules) -> None:
    if rules is None or rules.max_pairs == 0:
        problems.add(where, f"{name}: a map needs max_pairs")
        return
    for word, inner in (("keys", rules.keys), ("values", rules.values)):
        if inner is None:
            problems.add(where, f"{name}: rules for the {word} are missing")
        else:
            _rules_fit(problems, where, f"{name} ({word})", "string", False, inner)


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
    _rules_fit(problems, where, name, field.kind, field.repeated, field.rules)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _state_only(problems, field) -> None:
    """What only options may say."""
    for word, given in (("create", field.create), ("inspect", field.inspect),
                        ("isolates", field.isolates), ("feature", field.feature),
                        ("flag", field.flag), ("notes", field.notes)):
        if given:
            problems.add(field.where, f"{field.name}: {word} is for the fields of SandboxOptions")


# ---- options ----

def _create(problems, field) -> None:
    if not field.create:
        problems.add(field.where, f"{field.name}: create is missing: the option would not be sent")
    for place in field.create:
        if not PATH.fullmatch(place.path):
            problems.add(field.where, f"{field.name}: create path {place.path!r} is no path of keys")
        if place.shape not in SHAPES:
            problems.add(field.where, f"{field.name}: create {place.path} has no known shape")
        elif (field.kind, field.repeated) not in SHAPES[place.shape]:
            problems.add(field.where, f"{field.name}: SHAPE_{place.shape} does not fit its type")


def _inspect(problems, field, model) -> None:
    if not field.inspect:
        problems.add(field.where,
                     f"{field.name}: inspect is missing: the option would not be compared")
    for look in field.inspect:
        _look(problems, field, look, model)
        if field.isolates and look.compare == "ABSENT_OR_EQUAL":
            problems.add(field.where, f"{field.name} isolates, so {look.path} must not be compared "
                                      "by ABSENT_OR_EQUAL: absent would be taken for safe")


def _look(problems, field, look, model) -> None:
    where, name = field.where, field.name
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
        problems.add(where, f"{name} is since revision {field.since}, its feature "
                            f"{field.feature} since {value.since}")


def _flag(problems, field) -> None:
    where, name = field.where, field.name
    if field.flag is None or not field.flag.name:
        problems.add(where, f"{name}: flag is missing")
        return
    flag = field.flag.name
    if not FLAG.fullmatch(flag) or flag in RESERVED_FLAGS or flag.startswith(("require-", "no-")):
        problems.add(where, f"{name}: --{flag} cannot be a flag")
    if field.kind == "bool" and not field.repeated:
        if field.flag.metavar:
            problems.add(where, f"{name}: the flag of a bool has no metavar")
    elif not field.flag.metavar:
        problems.add(where, f"{name}: the flag needs a metavar")


def _docker_words(problems, enum) -> None:
    seen = {}
    for value in enum.values:
        if value.number == 0 and value.docker:
            problems.add(value.where, f"{value.name}: the value 0 sends no key, so it has no docker "
                                      "word")
        if value.number != 0 and not value.docker:
            problems.add(value.where, f"{value.name}: a docker word is missing: the value would not "
                                      "be sent")
        if value.docker and value.docker in seen:
            problems.add(value.where, f"{value.name}: the docker word {value.docker} is "
                                      f"{seen[value.docker]}'s already")
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
            problems.add(field.where, f"{field.name}: the note is about {note.with_!r}, which is no "
                                      "other option")
        if not note.text or "\n" in note.text:
            problems.add(field.where, f"{field.name}: the text of a note must be one line")


# ---- the whole ----

def _distinct(problems, fields, what, values_of) -> None:
    seen = {}
    for field in fields:
        for value in values_of(field):
            if value in seen:
                problems.add(field.where, f"{field.name}: {what} {value} is {seen[value]}'s already")
            seen.setdefault(value, field.name)


def _create_paths(problems, fields) -> None:
    _distinct(problems, fields, "create path", lambda f: [place.path for place in f.create])
    every = [(place.path, field) for field in fields for place in field.create]
    for path, field in every:
        for other, owner in every:
            if other.startswith(path + "."):
                problems.add(field.where, f"{field.name}: create path {path} contains {other} of "
                                          f"{owner.name}")


def accessor_names(field) -> list[str]:
    """The names that the accessors of a field take, behind the type's prefix."""
    if field.kind == "map":
        one = field.singular
        return [one, f"set_{one}", f"{one}_count", f"{one}_at", f"remove_{one}",
                f"clear_{field.name}"]
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
    options, features, seal = (state.field(name)
                               for name in ("options", "required_features", "seal"))
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
    for name, found in (("SandboxOptions", model.options), ("SessionState", model.state),
                        ("Feature", model.features)):
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
        _option_kind(problems, field)
        _create(problems, field)
        _inspect(problems, field, model)
        _isolation(problems, field, model)
        _flag(problems, field)
        _notes(problems, field, model)
    _distinct(problems, model.options.fields, "flag",
              lambda f: ["--" + f.flag.name] if f.flag else [])
    _distinct(problems, model.options.fields, "feature", lambda f: [f.feature] if f.feature else [])
    _create_paths(problems, model.options.fields)
    _features(problems, model)
    _state(problems, model)
    _nesting(problems, model)
