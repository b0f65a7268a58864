# SPDX-License-Identifier: Apache-2.0
"""What the generator demands of files, messages, enums and field declarations."""

from __future__ import annotations

import re

from descriptors import Places

IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
CAMEL = re.compile(r"([A-Z][a-z0-9]+)+")
CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")

# Names that C or C++ has taken, or that the accessors use for other things.
RESERVED_NAMES = frozenset("""
    alignas alignof and asm auto bool break case catch char class const continue default delete do
    double else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new not nullptr operator or private protected public register return short signed
    sizeof static struct switch template this throw true try typedef typename union unsigned using
    virtual void volatile while xor base copy free validate err index length key value
    """.split())


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
        problems.add(
            places.at((4, index, 8, at), f"{message.name}.{oneof.name}"),
            f"{oneof.name}: oneof is not supported; readers disagree on which member wins",
        )
    for at, enum in enumerate(message.enum_type):
        problems.add(
            places.at((4, index, 4, at), f"{message.name}.{enum.name}"),
            f"{enum.name}: enums stand at the top level",
        )
    for at, nested in enumerate(message.nested_type):
        place = places.at((4, index, 3, at), f"{message.name}.{nested.name}")
        if not nested.options.map_entry:
            problems.add(place, f"{nested.name}: messages stand at the top level")
            continue
        kinds = [field.type for field in nested.field]
        if kinds != [9, 9]:
            field = next(
                i
                for i, f in enumerate(message.field)
                if f.type_name.endswith(f".{message.name}.{nested.name}")
            )
            problems.add(
                places.at((4, index, 2, field), f"{message.name}.{nested.name}"),
                f"{message.field[field].name}: only map<string, string> is supported",
            )


def enum_level(problems, enum, proto) -> None:
    prefix = enum.snake.upper() + "_"
    if not CAMEL.fullmatch(enum.name):
        problems.add(enum.where, f"the enum name {enum.name} is not in CamelCase")
    if proto.options.allow_alias:
        problems.add(enum.where, f"{enum.name}: two names for one number are not supported")
    for value in enum.values:
        if value.number < 0:
            problems.add(
                value.where,
                f"{value.name}: negative enum numbers are not supported; "
                "encoders disagree on them",
            )
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
