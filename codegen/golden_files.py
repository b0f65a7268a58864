# SPDX-License-Identifier: Apache-2.0
"""The golden states as a release sees them: which there are, whether the released ones are as they
were, and whether those of a new revision use all that it brings."""

from __future__ import annotations

import hashlib
import pathlib
import re

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from problems import Problems
from vocabulary import PACKAGE, Reader

SUMS = "SHA256SUMS"
NAME = re.compile(r"r([1-9][0-9]*)-.+\.(binpb|json|txtpb)")


def names(goldens: pathlib.Path, number: int) -> list[str]:
    """The files of one revision."""
    found = ((NAME.fullmatch(path.name), path.name) for path in sorted(goldens.iterdir()))
    return [name for match, name in found if match and int(match.group(1)) == number]


def listed(goldens: pathlib.Path) -> dict[str, str]:
    """Digests by name."""
    path = goldens / SUMS
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_listed(problems: Problems, goldens: pathlib.Path) -> None:
    """Goldens that were released are as they were."""
    for name, wanted in listed(goldens).items():
        path = goldens / name
        if not path.is_file():
            problems.add(str(path), "was released and is missing [frozen-files]")
        elif digest(path) != wanted:
            problems.add(str(path), "has changed since it was released [frozen-files]")


def sums(goldens: pathlib.Path, newest: int) -> dict[pathlib.Path, bytes]:
    """The list with every golden of the revisions up to the newest."""
    found = [name for number in range(1, newest + 1) for name in names(goldens, number)]
    text = "".join(f"{digest(goldens / name)}  {name}\n" for name in found)
    return {goldens / SUMS: text.encode("utf-8")}


# ---- what a revision brings ----


def _state_class(files: descriptor_pb2.FileDescriptorSet):
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    found = pool.FindMessageTypeByName(f"{PACKAGE}.SessionState")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(found)
    return message_factory.MessageFactory(pool).GetPrototype(found)


def _used(message, found: set[str]) -> None:
    """Fields and enum values that a message uses, by name."""
    for field, value in message.ListFields():
        found.add(f"{message.DESCRIPTOR.name}.{field.name}")
        if field.message_type and field.message_type.GetOptions().map_entry:
            continue
        for item in value if field.label == field.LABEL_REPEATED else [value]:
            if field.message_type:
                _used(item, found)
            elif field.enum_type and item in field.enum_type.values_by_number:
                found.add(f"{field.enum_type.name}.{field.enum_type.values_by_number[item].name}")


def _news(files: descriptor_pb2.FileDescriptorSet, number: int) -> list[str]:
    """What is of this revision. A default value cannot be told from none."""
    reader, out = Reader(files), []
    for file in files.file:
        if file.package != PACKAGE:
            continue
        for message in file.message_type:
            noted = ((field, reader.field(field.options)) for field in message.field)
            out += [f"{message.name}.{field.name}" for field, note in noted
                    if note and note.since_revision == number]
        for enum in file.enum_type:
            noted = ((value, reader.value(value.options)) for value in enum.value if value.number)
            out += [f"{enum.name}.{value.name}" for value, note in noted
                    if note and note.since_revision == number]
    return out


def check_news(problems: Problems, goldens: pathlib.Path, files, number: int) -> None:
    """The revision has goldens, and they use each of its fields and values."""
    states = [name for name in names(goldens, number) if name.endswith(".binpb")]
    if not states:
        problems.add("tests/golden/states.py", f"there is no golden of r{number}")
        return
    state, used = _state_class(files), set()
    for name in states:
        try:
            _used(state.FromString((goldens / name).read_bytes()), used)
        except DecodeError:
            problems.add(str(goldens / name), "is no state")
    for name in _news(files, number):
        if name not in used:
            problems.add("tests/golden/states.py", f"no golden of r{number} uses {name}")
