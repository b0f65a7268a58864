# SPDX-License-Identifier: Apache-2.0
"""What the library of each revision must make of the states of every other, said by the frozen
schemas alone: none of the generator or the library is asked. `matrix.py --write-docs` writes it
into README.md, where a test expects it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
import re
import sys
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

import libraries

README = libraries.HERE / "README.md"
GOLDENS = libraries.ROOT / "tests/golden/states"
KEY = GOLDENS / "test-key"

NONE = {"networkMode": "NETWORK_MODE_NONE"}
DOMAIN = {"matrixDomain": "inside.example"}
OOM = {"matrixOom": 500}
NETWORK_FEATURE, OOM_FEATURE = "FEATURE_NETWORK_ISOLATION", "FEATURE_MATRIX_OOM"
# States of the revision to come: options and features.
NEXT = {
    "next-none": (NONE, [NETWORK_FEATURE]),
    "next-plain-option": (DOMAIN, []),
    "next-none-plain-option": ({**NONE, **DOMAIN}, [NETWORK_FEATURE]),
    "next-isolating-option": (OOM, [OOM_FEATURE]),
    "next-everything": ({**NONE, **DOMAIN, **OOM}, [NETWORK_FEATURE, OOM_FEATURE]),
}


def message_of(files: bytes):
    """SessionState as a descriptor set has it."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(files).file:
        pool.Add(file)
    found = pool.FindMessageTypeByName("cofferdam.v1.SessionState")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(found)
    return message_factory.MessageFactory(pool).GetPrototype(found)


def has_unknown(message) -> bool:
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return known.ByteSize() != message.ByteSize()


@dataclasses.dataclass(frozen=True)
class Row:
    """One state: its writer, its bytes, and its ProtoJSON."""

    name: str
    writer: str
    data: bytes
    json: str

    @property
    def keyed(self) -> bool:
        return self.name.endswith("-hmac")


@dataclasses.dataclass(frozen=True)
class Cell:
    """What one reader does with one state. `feature` is the first that it does not know."""

    feature: int
    reattach_only: bool
    json: str

    def text(self) -> str:
        if self.feature:
            return f"refuses: feature {self.feature}"
        return "reattaches" if self.reattach_only else "resumes"


class Matrix:
    def __init__(self, work: pathlib.Path):
        self.work = work
        self.readers = {f"r{number}": libraries.RELEASED / f"r{number}.binpb"
                        for number in libraries.released()}
        self.readers["next"] = libraries.make_next(work)
        self.messages = {name: message_of(path.read_bytes())
                         for name, path in self.readers.items()}
        self.rows = {row.name: row for row in [*self._goldens(), *self._next()]}

    def _goldens(self):
        for path in sorted(GOLDENS.glob("r*.binpb")):
            writer = path.stem.split("-")[0]
            if writer in self.readers:
                yield self._row(path.stem, writer, path.read_bytes())

    def _row(self, name: str, writer: str, data: bytes) -> Row:
        """ProtoJSON in the order of the fields, as every printer has it: features come first."""
        message = self.messages[writer].FromString(data)
        return Row(name, writer, data, json_format.MessageToJson(message))

    def _next(self):
        state = self.messages["next"]
        base = json.loads((GOLDENS / "r1-full.json").read_text("utf-8"))
        for name, (options, features) in NEXT.items():
            content = {**base, "schemaRevision": len(self.readers), "requiredFeatures": features,
                       "options": {**base["options"], **options}}
            del content["seal"]
            message = json_format.ParseDict(content, state())
            body = message.SerializeToString(deterministic=True)
            seal = state()
            seal.seal.algorithm = 1
            seal.seal.digest = hashlib.sha256(body).digest()
            yield self._row(name, "next", body + seal.SerializeToString())

    def cell(self, row: Row, reader: str) -> Cell:
        known = self.messages[reader].DESCRIPTOR.file.pool.FindEnumTypeByName(
            "cofferdam.v1.Feature").values_by_number
        state = self.messages[reader].FromString(row.data)
        feature = next((n for n in state.required_features if n not in known), 0)
        return Cell(feature, has_unknown(state.options), self._json(row, reader, known))

    def _json(self, row: Row, reader: str, known) -> str:
        names = {value.name for value in known.values()}
        content = json.loads(row.json)
        missing = [name for name in content.get("requiredFeatures", []) if name not in names]
        if missing:
            return f"refuses: {missing[0]}"
        options = self.messages[reader].DESCRIPTOR.fields_by_name["options"].message_type
        known = {field.json_name for field in options.fields}
        unknown = [name for name in content["options"] if name not in known]
        if unknown:
            return f"refuses: {unknown[0]}"
        if row.keyed or has_unknown(self.messages[row.writer].FromString(row.data)):
            return "refuses: seal"
        return "reads"

    def table(self, title: str, text) -> str:
        lines = ["| " + " | ".join([title, *(f"read by {name}" for name in self.readers)]) + " |",
                 "|---" * (len(self.readers) + 1) + "|"]
        for row in self.rows.values():
            cells = [text(self.cell(row, reader)) for reader in self.readers]
            lines.append("| " + " | ".join([row.name, *cells]) + " |")
        return "\n".join(lines) + "\n"

    def tables(self) -> dict[str, str]:
        return {"bytes": self.table("bytes", Cell.text),
                "ProtoJSON": self.table("ProtoJSON", lambda cell: cell.json)}


def in_readme(title: str, text: str) -> re.Match:
    """The table whose first column has the title."""
    found = re.search(rf"(?m)^\| {title} \|(?:.*\n)(?:\|.*\n)*", text)
    if not found:
        raise AssertionError(f"{README} has no table of {title}")
    return found


def write_docs() -> None:
    text = README.read_text("utf-8")
    with tempfile.TemporaryDirectory() as work:
        for title, table in Matrix(pathlib.Path(work)).tables().items():
            found = in_readme(title, text)
            text = text[:found.start()] + table + text[found.end():]
            print(table)
    README.write_text(text, "utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write-docs"]:
        sys.exit("usage: matrix.py --write-docs")
    write_docs()
