# SPDX-License-Identifier: Apache-2.0
"""The rules of a field: of its kind, and bounding what needs a bound."""

from __future__ import annotations

# Formats that bound a text by themselves.
FIXED_FORMATS = ("UUID", "CONTAINER_ID", "IMAGE_ID")


def rules_fit(problems, where, name, kind, repeated, rules) -> None:
    """The rules are of the field's kind, and they bound what needs a bound."""
    wanted = {
        "string": "string",
        "bytes": "bytes",
        "uint32": "uint",
        "uint64": "uint",
        "enum": "enum",
        "map": "map",
    }.get(kind)
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
    step = rules.multiple_of
    if step and (rules.gte % step or rules.lte % step):
        problems.add(where, f"{name}: a bound is no multiple of {step}")


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
        rules_fit(problems, where, name, kind, False, rules.items)


def _map_rules(problems, where, name, rules) -> None:
    if rules is None or rules.max_pairs == 0:
        problems.add(where, f"{name}: a map needs max_pairs")
        return
    for word, inner in (("keys", rules.keys), ("values", rules.values)):
        if inner is None:
            problems.add(where, f"{name}: rules for the {word} are missing")
        else:
            rules_fit(problems, where, f"{name} ({word})", "string", False, inner)
