# SPDX-License-Identifier: Apache-2.0
"""Checks the schema against every frozen revision, and each of these against the one before it.

A number, name or type that was released never changes. What goes leaves its number and name
reserved. What annotations say about where an option is sent, how it is compared and whether it
isolates is part of the promise, too: states of old revisions are read by new libraries.
"""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import re
import sys

from descriptors import Places, compile_schema, own_files, read_set
from problems import Problems, SchemaError
from vocabulary import PACKAGE, FieldAnnotation, Reader, Rules, ValueAnnotation

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Every finding ends with the name of its rule in brackets.
RULES = {
    "type-gone": "A message or enum that was released stays.",
    "number-changed": "A field or value keeps its number.",
    "number-reused": "A number belongs to one name for ever.",
    "gone-unreserved": "What goes leaves its number and its name reserved.",
    "type-changed": "A field keeps its type.",
    "cardinality-changed": "A single field stays single, a repeated one repeated.",
    "json-name-changed": "A field keeps its JSON name.",
    "packing-changed": "A repeated field keeps its packing.",
    "sent-elsewhere": "An option keeps its place in the create body.",
    "comparison-gone": "An option keeps every comparison; more may come.",
    "annotation-changed": "isolates, feature, singular and since_revision stay.",
    "shown-again": "What is hidden from people stays hidden.",
    "flag-changed": "An option keeps its flag.",
    "docker-word-changed": "An enum value keeps Docker's word.",
    "rules-tightened": "What an old state may hold stays allowed.",
    "since-revision": "What is new says so: one above the newest frozen revision.",
    "frozen-files": "Frozen files stay as they are, listed and complete.",
    "history": "Each revision has a paragraph in HISTORY.md.",
}


def told(problems: Problems, rule: str, where: str, reason: str) -> None:
    assert rule in RULES, rule
    problems.add(where, f"{reason} [{rule}]")


class Revision:
    """One state of the schema: its messages and enums by name, with places and annotations."""

    def __init__(self, name: str, files):
        self.name = name
        self.reader = Reader(files)
        self.messages, self.enums, self.places, self.entries = {}, {}, {}, {}
        for file in own_files(files):
            places = Places(file)
            for index, message in enumerate(file.message_type):
                self._message(places, (4, index), message)
            for index, enum in enumerate(file.enum_type):
                self.enums[enum.name] = enum
                self.places[enum.name] = places.at((5, index), enum.name)
                for at, value in enumerate(enum.value):
                    name = f"{enum.name}.{value.name}"
                    self.places[name] = places.at((5, index, 2, at), name)

    def _message(self, places, path, message) -> None:
        self.messages[message.name] = message
        self.places[message.name] = places.at(path, message.name)
        for at, field in enumerate(message.field):
            name = f"{message.name}.{field.name}"
            self.places[name] = places.at((*path, 2, at), name)
        self.entries[message.name] = {
            f".{PACKAGE}.{message.name}.{nested.name}": tuple(f.type for f in nested.field)
            for nested in message.nested_type
            if nested.options.map_entry
        }

    def type_of(self, owner: str, field):
        """The whole type of a field; of a map that of its keys and values."""
        return field.type, field.type_name, self.entries[owner].get(field.type_name)

    def field_note(self, field) -> FieldAnnotation:
        return self.reader.field(field.options) or FieldAnnotation()

    def value_note(self, value) -> ValueAnnotation:
        return self.reader.value(value.options) or ValueAnnotation()


class Comparison:
    """What in `new` breaks a promise that `old` made. `number` is the revision of `old`."""

    def __init__(self, problems: Problems, old: Revision, new: Revision):
        self.problems, self.old, self.new = problems, old, new

    def add(self, name: str, rule: str, reason: str) -> None:
        told(self.problems, rule, self.new.places[name], f"{reason} (against {self.old.name})")

    def run(self) -> None:
        for kind, old, new, compare in (
            ("message", self.old.messages, self.new.messages, self._message),
            ("enum", self.old.enums, self.new.enums, self._enum),
        ):
            for name in old:
                if name not in new:
                    told(
                        self.problems,
                        "type-gone",
                        self._anywhere(),
                        f"the {kind} {name} is gone; a released "
                        f"{kind} stays (against {self.old.name})",
                    )
                else:
                    compare(old[name], new[name])

    def _anywhere(self) -> str:
        place = next(iter(self.new.places.values()), "schema")
        return re.split(r":\s*", place)[0]

    # ---- numbers and names ----

    def _gone(self, owner: str, old, reserved: bool, renumbered) -> None:
        if renumbered is not None:
            self.add(
                f"{owner}.{old.name}",
                "number-changed",
                f"{old.name}: its number was {old.number} and is now " f"{renumbered.number}",
            )
        elif not reserved:
            self.add(
                owner,
                "gone-unreserved",
                f"{owner}.{old.name} is gone; reserve its number {old.number} and its "
                f'name "{old.name}"',
            )

    def _message(self, old, new) -> None:
        by_number = {field.number: field for field in new.field}
        by_name = {field.name: field for field in new.field}
        for field in old.field:
            now = by_number.get(field.number)
            if now is None:
                reserved = field.name in new.reserved_name and any(
                    r.start <= field.number < r.end for r in new.reserved_range
                )
                self._gone(new.name, field, reserved, by_name.get(field.name))
            elif now.name != field.name:
                self.add(
                    f"{new.name}.{now.name}",
                    "number-reused",
                    f"{now.name}: the number {field.number} is "
                    f"{field.name}'s and must not be reused",
                )
            else:
                self._field(new.name, field, now)

    def _enum(self, old, new) -> None:
        by_number = {value.number: value for value in new.value}
        by_name = {value.name: value for value in new.value}
        for value in old.value:
            now = by_number.get(value.number)
            if now is None:
                reserved = value.name in new.reserved_name and any(
                    r.start <= value.number <= r.end for r in new.reserved_range
                )
                self._gone(new.name, value, reserved, by_name.get(value.name))
            elif now.name != value.name:
                self.add(
                    f"{new.name}.{now.name}",
                    "number-reused",
                    f"{now.name}: the number {value.number} is "
                    f"{value.name}'s and must not be reused",
                )
            else:
                self._value(new.name, value, now)

    # ---- types and annotations ----

    def _field(self, owner: str, old, new) -> None:
        name = f"{owner}.{new.name}"
        if self.old.type_of(owner, old) != self.new.type_of(owner, new):
            self.add(name, "type-changed", f"{new.name}: its type has changed")
        if old.label != new.label:
            self.add(name, "cardinality-changed", f"{new.name}: its cardinality has changed")
        if old.json_name != new.json_name:
            self.add(name, "json-name-changed", f"{new.name}: its JSON name has changed")
        if _packed(old) != _packed(new):
            self.add(name, "packing-changed", f"{new.name}: its packing has changed")
        self._field_note(name, new.name, self.old.field_note(old), self.new.field_note(new))

    def _field_note(self, name, field, old: FieldAnnotation, new: FieldAnnotation) -> None:
        if old.create != new.create:
            self.add(
                name, "sent-elsewhere", f"{field}: its place in the create body has changed"
            )
        for look in old.inspect:
            if look not in new.inspect:
                self.add(
                    name,
                    "comparison-gone",
                    f"{field}: the comparison with {look.path} is gone or has changed",
                )
        for word in ("isolates", "feature", "singular", "since_revision"):
            if getattr(old, word) != getattr(new, word):
                self.add(name, "annotation-changed", f"{field}: `{word}` has changed")
        if old.sensitive and not new.sensitive:
            self.add(name, "shown-again", f"{field}: its values were hidden and would now be shown")
        if (old.flag.name if old.flag else "") != (new.flag.name if new.flag else ""):
            self.add(name, "flag-changed", f"{field}: its flag has changed")
        reasons = tightened(old.rules or Rules(), new.rules or Rules())
        if new.profiled and not old.profiled:
            reasons.append("profiled is new")
        elif new.profiled:
            reasons += [f"profiled: {reason}" for reason in tightened(old.profiled, new.profiled)]
        for reason in reasons:
            self.add(name, "rules-tightened", f"{field}: {reason}; old states would be refused")

    def _value(self, owner: str, old, new) -> None:
        before, now = self.old.value_note(old), self.new.value_note(new)
        name = f"{owner}.{new.name}"
        if before.docker != now.docker:
            self.add(name, "docker-word-changed", f"{new.name}: its docker word has changed")
        if before.since_revision != now.since_revision:
            self.add(name, "annotation-changed", f"{new.name}: `since_revision` has changed")


def _packed(field) -> bool:
    """proto3 packs repeated numbers unless it is told otherwise."""
    return field.options.packed if field.options.HasField("packed") else True


def _bounds(low: str, high: str, old, new) -> list[str]:
    out = []
    if getattr(new, low) > getattr(old, low):
        out.append(f"{low} is higher than it was")
    before, now = getattr(old, high), getattr(new, high)
    if now and (not before or now < before):
        out.append(f"{high} is lower than it was")
    return out


def tightened(old: Rules, new: Rules) -> list[str]:
    """How the new rules refuse what the old ones allowed."""
    out = ["it is now required"] if new.required and not old.required else []
    if new.string and old.string:
        out += _bounds("min_bytes", "max_bytes", old.string, new.string)
        for word in ("format", "not_contains", "not_prefix"):
            before, now = getattr(old.string, word), getattr(new.string, word)
            if now and now != before:
                out.append(f"{word} is another than it was")
    if new.bytes and old.bytes:
        out += _bounds("min_len", "max_len", old.bytes, new.bytes)
    if new.uint:
        before = old.uint or type(new.uint)()
        out += _bounds("gte", "lte", before, new.uint)
        step = new.uint.multiple_of
        if step and (not before.multiple_of or before.multiple_of % step):
            out.append("multiple_of is another than it was")
    if new.repeated and old.repeated:
        if new.repeated.max_items < old.repeated.max_items:
            out.append("max_items is lower than it was")
        if new.repeated.unique and not old.repeated.unique:
            out.append("unique is new")
        out += tightened(old.repeated.items or Rules(), new.repeated.items or Rules())
    if new.map and old.map:
        if new.map.max_pairs < old.map.max_pairs:
            out.append("max_pairs is lower than it was")
        out += tightened(old.map.keys or Rules(), new.map.keys or Rules())
        out += tightened(old.map.values or Rules(), new.map.values or Rules())
    return out


def check_revisions(
    problems: Problems, new: Revision, before: Revision | None, number: int, current: bool
) -> None:
    """What is new in a revision says so: since its number; in the current schema, since a later
    one than the newest frozen (`number`)."""

    def add(place: str, reason: str) -> None:
        told(problems, "since-revision", place, reason)

    for owner, items, note, old in _everything(new, before):
        for item in items:
            since = note(item).since_revision
            place = new.places[f"{owner.name}.{item.name}"]
            fresh = item.name not in old
            if current and fresh and since <= number:
                add(
                    place,
                    f"{item.name} is new, so its since_revision must be above "
                    f"{number}, the newest frozen one",
                )
            elif not current and since > number:
                add(place, f"{item.name} is of revision {since}, yet in r{number}")
            elif not current and fresh and since != number:
                add(place, f"{item.name} is new in r{number}, yet says since {since}")


def _everything(new: Revision, before: Revision | None):
    for name, message in new.messages.items():
        old = before.messages.get(name) if before else None
        yield message, message.field, new.field_note, {f.name for f in old.field} if old else set()
    for name, enum in new.enums.items():
        old = before.enums.get(name) if before else None
        yield enum, enum.value, new.value_note, {v.name for v in old.value} if old else set()


def frozen_files(problems: Problems, released: pathlib.Path) -> list[pathlib.Path]:
    """The frozen sets, oldest first."""
    found = {}
    for path in sorted(released.glob("*.binpb")):
        match = re.fullmatch(r"r([1-9][0-9]*)\.binpb", path.name)
        if match:
            found[int(match.group(1))] = path
        else:
            told(problems, "frozen-files", str(path), "a frozen revision is called rN.binpb")
    for number in range(1, max(found, default=0) + 1):
        if number not in found:
            told(problems, "frozen-files", str(released), f"r{number}.binpb is missing")
    return [found[number] for number in sorted(found)]


def check_sums(problems: Problems, released: pathlib.Path, files: list[pathlib.Path]) -> None:
    """Frozen files are as they were when they were frozen."""
    sums = released / "SHA256SUMS"
    listed = {}
    for line in sums.read_text("utf-8").splitlines() if sums.is_file() else ():
        digest, _, name = line.partition("  ")
        listed[name] = digest
    for path in files:
        if path.name not in listed:
            told(problems, "frozen-files", str(sums), f"{path.name} is not listed")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != listed[path.name]:
            told(problems, "frozen-files", str(path), "has changed since it was frozen")
    for name in sorted(set(listed) - {path.name for path in files}):
        told(problems, "frozen-files", str(sums), f"{name} is listed and missing")


def check_history(problems: Problems, schema: pathlib.Path, count: int) -> None:
    history = schema / "HISTORY.md"
    text = history.read_text("utf-8") if history.is_file() else ""
    for number in range(1, count + 1):
        if not re.search(rf"^## r{number}\s*\n+[^#\s]", text, re.MULTILINE):
            told(problems, "history", str(history), f"the paragraph `## r{number}` is missing")


def check(schema: pathlib.Path, current=None) -> None:
    """Raises SchemaError with all that is wrong. `current` is a descriptor set, or None to
    compile the schema."""
    problems = Problems()
    released = schema / "released"
    files = frozen_files(problems, released)
    check_sums(problems, released, files)
    check_history(problems, schema, len(files))
    problems.raise_if_any()
    frozen = [Revision(path.stem, read_set(path)) for path in files]
    for number, revision in enumerate(frozen, 1):
        before = frozen[number - 2] if number > 1 else None
        if before:
            Comparison(problems, before, revision).run()
        check_revisions(problems, revision, before, number, current=False)
    now = Revision("the schema", current or compile_schema(schema))
    for revision in frozen:
        Comparison(problems, revision, now).run()
    if frozen:
        check_revisions(problems, now, frozen[-1], len(frozen), current=True)
    problems.raise_if_any()


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks the schema against its frozen revisions.")
    parser.add_argument("--schema", type=pathlib.Path, default=ROOT / "schema", metavar="DIR")
    args = parser.parse_args()
    try:
        check(args.schema)
    except SchemaError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
