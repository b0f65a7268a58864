#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the golden states: NAME.binpb, and as protobuf's own printers show it NAME.json and
NAME.txtpb.

  make_goldens.py            make those that are missing; say which ones would differ
  make_goldens.py --check    write nothing; fail when one is missing or would differ
  make_goldens.py --rebless  write those of unreleased revisions again, naming what changed

A golden of a released revision is never written again: states like it are out there.
"""

import argparse
import json
import sys

from google.protobuf import json_format, text_format

import states


def differences(old, new, path=""):
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif old != new:
        yield f"{path}: {old!r} -> {new!r}"


class Golden:
    def __init__(self, name, revision, data):
        self.name, self.data = name, data
        self.released = states.released(revision.revision).exists()
        self.binary = states.HERE / "states" / f"{name}.binpb"
        self.json = self.binary.with_suffix(".json")
        self.text = self.binary.with_suffix(".txtpb")
        state = revision.State.FromString(data)
        self.content = json_format.MessageToDict(state)
        self.text_content = text_format.MessageToString(state, as_utf8=False)

    def paths(self):
        return self.binary, self.json, self.text

    def exists(self):
        return self.binary.exists() and self.json.exists()

    def old_content(self):
        return json.loads(self.json.read_text(encoding="utf-8")) if self.json.exists() else {}

    def changes(self):
        found = list(differences(self.old_content(), self.content))
        if not self.binary.exists() or self.binary.read_bytes() != self.data:
            found.append("the bytes")
        if self.text.exists() and self.text.read_text(encoding="utf-8") != self.text_content:
            found.append("the text format")
        return found

    def write_text(self):
        self.text.write_text(self.text_content, encoding="utf-8")

    def write(self):
        self.write_text()
        self.binary.write_bytes(self.data)
        text = json.dumps(self.content, indent=2, sort_keys=True, ensure_ascii=False)
        self.json.write_text(text + "\n", encoding="utf-8")


def treat(golden, arguments):
    """What was done, and whether it is all right."""
    if not golden.exists():
        if arguments.check:
            return "missing", False
        if golden.released and any(path.exists() for path in golden.paths()):
            return "half of it is missing, and its revision is released: restore it", False
        golden.write()
        return "made", True
    changes = golden.changes()
    if not changes and not golden.text.exists():
        if arguments.check:
            return "its text format is missing", False
        golden.write_text()
        return "text format made", True
    if not changes:
        return "unchanged", True
    what = "; ".join(changes)
    if golden.released:
        return f"REFUSED, its revision is released. Would change: {what}", False
    if not arguments.rebless:
        return f"would change (--rebless): {what}", False
    golden.write()
    return f"written again. Changed: {what}", True


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true")
    how.add_argument("--rebless", action="store_true")
    arguments = parser.parse_args()
    all_right = True
    for name, revision, data in states.goldens():
        done, right = treat(Golden(name, revision, data), arguments)
        print(f"{name}: {done}")
        all_right = all_right and right
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
