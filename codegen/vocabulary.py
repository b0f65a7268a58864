# SPDX-License-Identifier: Apache-2.0
"""The annotations of annotations.proto as plain immutable values.

A descriptor set brings its own annotations.proto. What an older one lacks has its
default here, so frozen descriptor sets stay readable when the vocabulary grows.
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from typing import Optional, Tuple

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor

PACKAGE = "cofferdam.v1"


@dataclass(frozen=True)
class StringRules:
    min_bytes: int = 0
    max_bytes: int = 0
    format: str = ""
    not_contains: str = ""
    not_prefix: str = ""


@dataclass(frozen=True)
class BytesRules:
    min_len: int = 0
    max_len: int = 0


@dataclass(frozen=True)
class UintRules:
    gte: int = 0
    lte: int = 0
    multiple_of: int = 0


@dataclass(frozen=True)
class EnumRules:
    defined_only: bool = False


@dataclass(frozen=True)
class RepeatedRules:
    max_items: int = 0
    unique: bool = False
    items: Optional[Rules] = None


@dataclass(frozen=True)
class MapRules:
    max_pairs: int = 0
    keys: Optional[Rules] = None
    values: Optional[Rules] = None


@dataclass(frozen=True)
class Rules:
    required: bool = False
    string: Optional[StringRules] = None
    bytes: Optional[BytesRules] = None
    uint: Optional[UintRules] = None
    enum: Optional[EnumRules] = None
    repeated: Optional[RepeatedRules] = None
    map: Optional[MapRules] = None


@dataclass(frozen=True)
class CreatePlace:
    path: str = ""
    shape: str = ""
    label: str = ""
    word: str = ""
    query: str = ""


@dataclass(frozen=True)
class Inspection:
    path: str = ""
    compare: str = ""
    resolved: str = ""
    label: str = ""


@dataclass(frozen=True)
class Note:
    # `with` is a word of Python's.
    with_: str = ""
    text: str = ""


@dataclass(frozen=True)
class Flag:
    name: str = ""
    metavar: str = ""
    unit: str = ""


@dataclass(frozen=True)
class FieldAnnotation:
    since_revision: int = 0
    help: str = ""
    rules: Optional[Rules] = None
    create: Tuple[CreatePlace, ...] = ()
    inspect: Tuple[Inspection, ...] = ()
    isolates: bool = False
    feature: str = ""
    singular: str = ""
    flag: Optional[Flag] = None
    notes: Tuple[Note, ...] = ()
    sensitive: bool = False
    stricter: str = ""
    profiled: Optional[Rules] = None
    unprofiled: str = ""


@dataclass(frozen=True)
class ValueAnnotation:
    since_revision: int = 0
    docker: str = ""
    help: str = ""


# The names of the enum values lose these prefixes: "SHAPE_SCALAR" is "SCALAR".
ENUM_PREFIXES = {
    "Shape": "SHAPE_",
    "Compare": "COMPARE_",
    "StringFormat": "STRING_FORMAT_",
    "Stricter": "STRICTER_",
    "FlagUnit": "FLAG_UNIT_",
}


def _member(hint):
    """The dataclass inside Optional[X] or Tuple[X, ...]; None for a scalar."""
    for inner in typing.get_args(hint):
        if dataclasses.is_dataclass(inner):
            return inner
    return None


def _enum_word(field, number: int) -> str:
    if number == 0:
        return ""
    value = field.enum_type.values_by_number.get(number)
    if value is None:
        return f"unknown value {number}"
    return value.name.removeprefix(ENUM_PREFIXES.get(field.enum_type.name, ""))


def _convert(cls, message):
    """A dataclass with the values of a protobuf message that has fields of the same names."""
    hints = typing.get_type_hints(cls)
    values = {}
    for item in dataclasses.fields(cls):
        name = item.name.rstrip("_")
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            continue
        value = getattr(message, name)
        inner = _member(hints[item.name])
        if field.label == FieldDescriptor.LABEL_REPEATED:
            values[item.name] = tuple(_convert(inner, one) for one in value)
        elif inner is not None:
            there = message.HasField(name)
            values[item.name] = _convert(inner, value) if there else None
        elif field.enum_type is not None:
            values[item.name] = _enum_word(field, value)
        else:
            values[item.name] = value
    return cls(**values)


def _varint(data: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _extension(data: bytes, number: int) -> bytes:
    """The bytes of an extension that is a message; b"" without one. Read from the wire, since the
    parsers of the protobuf package differ in how they hand out extensions."""
    out, at = b"", 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == 2:
            size, at = _varint(data, at)
            if tag >> 3 == number:
                out += data[at : at + size]
            at += size
        elif tag & 7 == 0:
            _, at = _varint(data, at)
        else:
            at += {1: 8, 5: 4}[tag & 7]
    return out


class Reader:
    """Reads annotations with the messages that a descriptor set describes by itself."""

    def __init__(self, files):
        self._pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            self._pool.AddSerializedFile(file.SerializeToString())
        self._factory = message_factory.MessageFactory(self._pool)

    def _read(self, options, extension: str, cls):
        try:
            number = self._pool.FindExtensionByName(f"{PACKAGE}.{extension}").number
            kind = self._pool.FindMessageTypeByName(f"{PACKAGE}.{cls.__name__}")
        except KeyError:
            return None
        data = _extension(options.SerializeToString(), number)
        if not data:
            return None
        make = getattr(message_factory, "GetMessageClass", None) or self._factory.GetPrototype
        return _convert(cls, make(kind).FromString(data))

    def field(self, options) -> Optional[FieldAnnotation]:
        return self._read(options, "field", FieldAnnotation)

    def value(self, options) -> Optional[ValueAnnotation]:
        return self._read(options, "value", ValueAnnotation)
