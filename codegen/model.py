# SPDX-License-Identifier: Apache-2.0
"""A descriptor set as a checked, immutable model. Emitters read nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional, Tuple

from google.protobuf import descriptor_pb2

import check_protobuf
import checks
import profile_texts
from descriptors import Places, own_files
from problems import Problems
from vocabulary import FieldAnnotation, Flag, CreatePlace, Inspection, Note, Reader, Rules

FieldProto = descriptor_pb2.FieldDescriptorProto

PACKAGE = "cofferdam.v1"
OPTIONS = "SandboxOptions"
STATE = "SessionState"
FEATURE = "Feature"
PROFILE = "Profile"
SEAL_NUMBER = 2047

SCALARS = {
    FieldProto.TYPE_BOOL: "bool",
    FieldProto.TYPE_STRING: "string",
    FieldProto.TYPE_BYTES: "bytes",
    FieldProto.TYPE_UINT32: "uint32",
    FieldProto.TYPE_UINT64: "uint64",
}


@dataclass(frozen=True)
class EnumValue:
    name: str  # NETWORK_MODE_NONE
    short: str  # NONE
    number: int
    since: int
    docker: str
    help: str
    where: str


@dataclass(frozen=True)
class Enum:
    name: str  # NetworkMode
    file: str
    values: Tuple[EnumValue, ...]
    where: str

    @property
    def snake(self) -> str:
        return snake(self.name)


@dataclass(frozen=True)
class Field:
    name: str
    number: int
    kind: str  # bool, string, bytes, uint32, uint64, enum, message, map (string to string)
    repeated: bool  # not for maps
    json_name: str
    where: str
    enum: Optional[Enum]
    message: str  # the name of the field's message
    since: int
    help: str
    rules: Rules
    create: Tuple[CreatePlace, ...]
    inspect: Tuple[Inspection, ...]
    isolates: bool
    feature: str
    singular: str
    flag: Optional[Flag]
    notes: Tuple[Note, ...]
    sensitive: bool
    stricter: str
    profiled: Optional[Rules]
    unprofiled: str

    @property
    def many(self) -> bool:
        return self.repeated or self.kind == "map"

    def shape_of(self, inspection: Inspection) -> str:
        """The shape that inspect shows: that of the same place in the create body, whose top
        level inspect calls Config."""
        for place in self.create:
            if place.path and inspection.path in (place.path, "Config." + place.path):
                return place.shape
        return ""


@dataclass(frozen=True)
class Message:
    name: str
    file: str
    fields: Tuple[Field, ...]  # by number
    where: str

    @property
    def snake(self) -> str:
        return snake(self.name)

    def field(self, name: str) -> Optional[Field]:
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True)
class Profile:
    """What one value of the enum Profile sets: fields of SandboxOptions with their values, by
    number. A value is a bool, an int, a str, an EnumValue, or a sorted tuple of pairs."""

    value: EnumValue
    settings: Tuple[Tuple[Field, object], ...]
    where: str


@dataclass(frozen=True)
class Model:
    revision: int
    files: Tuple[str, ...]
    enums: Tuple[Enum, ...]
    messages: Tuple[Message, ...]
    profiles: Tuple[Profile, ...] = ()

    def message(self, name: str) -> Optional[Message]:
        return next((message for message in self.messages if message.name == name), None)

    def enum(self, name: str) -> Optional[Enum]:
        return next((enum for enum in self.enums if enum.name == name), None)

    @property
    def options(self) -> Message:
        return self.message(OPTIONS)

    @property
    def state(self) -> Message:
        return self.message(STATE)

    @property
    def features(self) -> Enum:
        return self.enum(FEATURE)

    @property
    def profile(self) -> Optional[Field]:
        """The option that names a profile."""
        return next((f for f in self.options.fields if f.enum and f.enum.name == PROFILE), None)

    @property
    def isolating(self) -> Tuple[Field, ...]:
        return tuple(field for field in self.options.fields if field.isolates)

    def feature_number(self, field: Field) -> int:
        return next(v.number for v in self.features.values if v.name == field.feature)


def snake(camel: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", camel).lower()


class _Builder:
    """Walks the descriptors of one set."""

    def __init__(self, files):
        self.files = own_files(files)
        self.reader = Reader(files)
        self.problems = Problems()
        self.enums: dict[str, Enum] = {}
        self.entries: set[str] = set()

    def build(self) -> Model:
        for file in self.files:
            check_protobuf.file_level(self.problems, file, PACKAGE)
        self.problems.raise_if_any()
        for file in self.files:
            places = Places(file)
            for index, enum in enumerate(file.enum_type):
                self._enum(file, places, index, enum)
            for message in file.message_type:
                for nested in message.nested_type:
                    if nested.options.map_entry:
                        self.entries.add(f".{PACKAGE}.{message.name}.{nested.name}")
        messages = [
            self._message(file, Places(file), index, message)
            for file in self.files
            for index, message in enumerate(file.message_type)
        ]
        everything = [field.since for message in messages for field in message.fields]
        everything += [value.since for enum in self.enums.values() for value in enum.values]
        model = Model(
            revision=max(everything, default=0),
            files=tuple(file.name for file in self.files),
            enums=tuple(self.enums.values()),
            messages=tuple(messages),
        )
        checks.whole(self.problems, model)
        self.problems.raise_if_any()
        return model

    def _enum(self, file, places, index, enum) -> None:
        where = places.at((5, index), enum.name)
        values = []
        for at, value in enumerate(enum.value):
            place = places.at((5, index, 2, at), f"{enum.name}.{value.name}")
            note = self.reader.value(value.options)
            if note is None or note.since_revision == 0:
                self.problems.add(
                    place, f"{value.name} has no (value) annotation with a " "since_revision"
                )
                since, docker, text = 0, "", ""
            else:
                since, docker, text = note.since_revision, note.docker, note.help
            prefix = snake(enum.name).upper() + "_"
            values.append(
                EnumValue(
                    value.name,
                    value.name.removeprefix(prefix),
                    value.number,
                    since,
                    docker,
                    text,
                    place,
                )
            )
        made = Enum(enum.name, file.name, tuple(values), where)
        check_protobuf.enum_level(self.problems, made, enum)
        self.enums[f".{PACKAGE}.{enum.name}"] = made

    def _message(self, file, places, index, message) -> Message:
        where = places.at((4, index), message.name)
        check_protobuf.message_level(self.problems, where, message, places, index)
        fields = [
            self._field(places, (4, index, 2, at), message, field)
            for at, field in enumerate(message.field)
        ]
        made = Message(
            message.name,
            file.name,
            tuple(sorted((field for field in fields if field), key=lambda f: f.number)),
            where,
        )
        return made

    def _kind(self, where: str, field) -> Tuple[str, bool]:
        repeated = field.label == FieldProto.LABEL_REPEATED
        if field.type in SCALARS:
            return SCALARS[field.type], repeated
        if field.type == FieldProto.TYPE_ENUM:
            return "enum", repeated
        if field.type == FieldProto.TYPE_MESSAGE:
            if field.type_name in self.entries:
                return "map", False
            return "message", repeated
        word = FieldProto.Type.Name(field.type).removeprefix("TYPE_").lower()
        self.problems.add(where, f"{field.name}: the type {word} is not supported")
        return "", repeated

    def _field(self, places, path, message, field) -> Optional[Field]:
        where = places.at(path, f"{message.name}.{field.name}")
        check_protobuf.presence(self.problems, where, field)
        kind, repeated = self._kind(where, field)
        note = self.reader.field(field.options)
        if note is None:
            self.problems.add(where, f"{field.name} has no (field) annotation")
        if note is None or not kind:
            return None
        return self._annotated(where, field, kind, repeated, note)

    def _annotated(self, where, field, kind, repeated, note: FieldAnnotation) -> Field:
        return Field(
            name=field.name,
            number=field.number,
            kind=kind,
            repeated=repeated,
            json_name=field.json_name,
            where=where,
            enum=self.enums.get(field.type_name),
            message=field.type_name.rsplit(".", 1)[-1] if kind == "message" else "",
            since=note.since_revision,
            help=note.help,
            rules=note.rules or Rules(),
            create=note.create,
            inspect=note.inspect,
            isolates=note.isolates,
            feature=note.feature,
            singular=note.singular,
            flag=note.flag,
            notes=note.notes,
            sensitive=note.sensitive,
            stricter=note.stricter,
            profiled=note.profiled,
            unprofiled=note.unprofiled,
        )


def build(
    files: descriptor_pb2.FileDescriptorSet,
    profiles: dict[str, str] | None = None,
    older: bool = False,
) -> Model:
    """The model of a descriptor set, or SchemaError with all that is wrong. `profiles` are the
    texts of the profiles, by the name of the file; without them the model has none. `older`: the
    set may be of an older schema than these."""
    made = _Builder(files).build()
    return made if profiles is None else profile_texts.add(made, files, profiles, older)
