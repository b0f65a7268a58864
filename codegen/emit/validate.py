# SPDX-License-Identifier: Apache-2.0
"""generated/c/validate.c: (a) the rules of every field."""

from __future__ import annotations

from typing import List, Tuple

from emit.c_names import (
    STATE_TYPE,
    entry_descriptor,
    enum_type,
    enum_value,
    known_value,
    message_type,
)
from model import SEAL_NUMBER, Enum, Field, Message, Model
from text import COLUMNS, Writer, arguments, c_string, c_strings, made_by
from vocabulary import Rules, StringRules

# The constants and the statements of a function.
Body = Tuple[List[str], List[str]]

TOP = {"uint32": "UINT32_MAX", "uint64": "UINT64_MAX"}


def _string_rules(rules: StringRules) -> str:
    parts = []
    if rules.min_bytes:
        parts.append(f".min_bytes = {rules.min_bytes}")
    if rules.max_bytes:
        parts.append(f".max_bytes = {rules.max_bytes}")
    if rules.format:
        parts.append(f".format = CDAM_TEXT_{rules.format}")
    if rules.not_contains:
        parts.append(f".not_contains = {c_string(rules.not_contains)}")
    if rules.not_prefix:
        parts.append(f".not_prefix = {c_string(rules.not_prefix)}")
    return "{" + ", ".join(parts or [".min_bytes = 0"]) + "}"


def _declared(rules: StringRules) -> list[str]:
    """The rules of one string as a constant."""
    start = "  static const cdam_string_rules rules = "
    line = f"{start}{_string_rules(rules)};"
    if len(line) <= COLUMNS:
        return [line]
    parts = _string_rules(rules)[1:-1].split(", .")
    return (
        [start + "{"]
        + [f"      {'.' if i else ''}{part}," for i, part in enumerate(parts)]
        + ["  };"]
    )


def _known(out: Writer, enum: Enum) -> None:
    words = ", ".join(f"{value.short} ({value.number})" for value in enum.values)
    out.add().add(f"static const char {_words(enum)}[] = {c_string(words)};")
    if len(out.lines[-1]) > COLUMNS:
        out.lines[-1] = f"static const char {_words(enum)}[] ="
        out.add("    " + c_strings(words, 4) + ";")
    out.add().add(f"static bool {known_value(enum)}({enum_type(enum)} value) {{")
    out.add("  switch (value) {")
    for value in enum.values:
        out.add(f"  case {enum_value(enum, value)}:")
    out.add("    return true;").add("  default:").add("    return false;").add("  }").add("}")


def _words(enum: Enum) -> str:
    return f"{enum.snake}_words"


def _check(field: Field, rules: Rules, value: str, place: str) -> str:
    """The call that checks one value."""
    if field.kind == "string":
        return f"cdam_check_string(&{place}, {value}, &rules, err)"
    if field.kind == "bytes":
        return (
            f"cdam_check_bytes(&{place}, {value}.len, {rules.bytes.min_len}, "
            f"{rules.bytes.max_len}, err)"
        )
    if field.kind == "enum":
        return arguments(
            "cdam_check_enum",
            [f"&{place}", value, f"{known_value(field.enum)}({value})", _words(field.enum), "err"],
            "",
            0,
        )
    uint = rules.uint
    top = uint.lte or TOP[field.kind]
    if uint.multiple_of:
        return (
            f"cdam_check_uint_step(&{place}, {value}, {uint.gte}, {top}, {uint.multiple_of}, err)"
        )
    return f"cdam_check_uint(&{place}, {value}, {uint.gte}, {top}, err)"


def _needs_check(field: Field, rules: Rules | None) -> bool:
    return rules is not None and (
        field.kind in ("string", "bytes", "enum") or (field.kind in TOP and rules.uint is not None)
    )


def _statement(text: str, indent: int) -> list[str]:
    """A statement, broken behind commas when it is too long."""
    head, _, rest = text.partition("(")
    items, depth, item, quoted = [], 0, "", False
    for char in rest[:-1] if rest.endswith(")") else rest.rstrip(";")[:-1]:
        quoted ^= char == '"'
        depth += 0 if quoted else {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0 and not quoted:
            items.append(item.strip())
            item = ""
        else:
            item += char
    items.append(item.strip())
    return arguments(head, items, ";", indent).split("\n")


def _repeated_body(field: Field) -> Body:
    rules, name = field.rules.repeated, field.name
    statics = []
    out = [
        "  cdam_status status = "
        f"cdam_check_count(&place, message->n_{name}, {rules.max_items}, err);"
    ]
    if _needs_check(field, rules.items):
        if field.kind == "string":
            statics = _declared(rules.items.string)
        out.append(f"  for (size_t i = 0; status == CDAM_OK && i < message->n_{name}; i++) {{")
        out.append("    cdam_place item = cdam_place_item(&place, i);")
        out += _statement(
            "status = "
            + " ".join(_check(field, rules.items, f"message->{name}[i]", "item").split()),
            4,
        )
        out.append("  }")
    if rules.unique and field.kind in ("uint32", "string", "enum"):
        word = "strings" if field.kind == "string" else "uint32"
        cast = "(const uint32_t *)" if field.kind == "enum" else ""
        out.append("  if (status == CDAM_OK) {")
        out += _statement(
            f"status = cdam_check_unique_{word}(&place, {cast}message->{name}, "
            f"message->n_{name}, err)",
            4,
        )
        out.append("  }")
    return statics, out + ["  return status;"]


def _map_body(message: Message, field: Field) -> Body:
    rules, name = field.rules.map, field.name
    statics = [
        "  static const cdam_map_rules rules = {",
        f"      .max_pairs = {rules.max_pairs},",
        f"      .keys = {_string_rules(rules.keys.string)},",
        f"      .values = {_string_rules(rules.values.string)},",
        "  };",
    ]
    return statics, [
        f"  cdam_map map = {{(void **)message->{name}, message->n_{name},",
        f"                  &{entry_descriptor(message, field)}}};",
        "  return cdam_check_map(&place, &map, &rules, err);",
    ]


def _is_empty(field: Field) -> str:
    member = f"message->{field.name}"
    if field.many:
        return f"message->n_{field.name} == 0"
    if field.kind == "string":
        return f"!cdam_text({member})[0]"
    if field.kind == "bytes":
        return f"{member}.len == 0"
    if field.kind == "enum":
        return f"{member} == {enum_value(field.enum, field.enum.values[0])}"
    return f"!{member}"


def _single_body(field: Field) -> Body:
    if not _needs_check(field, field.rules):
        return [], []
    statics = _declared(field.rules.string) if field.kind == "string" else []
    return statics, _statement(
        "return " + " ".join(_check(field, field.rules, f"message->{field.name}", "place").split()),
        2,
    )


def _body(message: Message, field: Field) -> Body:
    if field.kind == "message":
        return [], []
    if field.repeated:
        return _repeated_body(field)
    return _map_body(message, field) if field.kind == "map" else _single_body(field)


def _field(out: Writer, message: Message, field: Field) -> bool:
    """The check of one field; False when there is nothing to check."""
    statics, body = _body(message, field)
    if not body and not field.rules.required:
        return False
    out.add()
    out.add(
        arguments(
            f"static cdam_status check_{message.snake}_{field.name}",
            [
                f"const {message_type(message.name)} *message",
                "const char *prefix",
                "cdam_error *err",
            ],
            " {",
        )
    )
    for line in statics:
        out.add(line)
    out.add(f"  const cdam_place place = {{.prefix = prefix, .field = {c_string(field.name)}}};")
    # Rules of single values are for values in use; a default says "not set". Every enum defines 0.
    if field.rules.required:
        out.add(f"  if ({_is_empty(field)}) return cdam_fail_required(&place, err);")
    elif not field.many and field.kind != "enum":
        out.add(f"  if ({_is_empty(field)}) return CDAM_OK;")
    for line in body or ["  return CDAM_OK;"]:
        out.add(line)
    out.add("}")
    return True


def _profiled(out: Writer, model: Model) -> bool:
    """The rules of values that meet a profile; False when there are none."""
    fields = [field for field in model.options.fields if field.profiled]
    if not model.profile or not fields:
        return False
    out.add().add(
        arguments(
            "static cdam_status check_profiled",
            [f"const {message_type(model.options.name)} *message", "const char *prefix",
             "cdam_error *err"],
            " {",
        )
    )
    out.add(f"  if (!message->{model.profile.name}) return CDAM_OK;")
    out.add("  cdam_status status = CDAM_OK;")
    for field in fields:
        member = f"message->{field.name}"
        out.add(f"  if (status == CDAM_OK && {member} && {member}[0]) {{")
        for line in _declared(field.profiled.string):
            out.add("  " + line)
        out.add(
            f"    const cdam_place place = {{.prefix = prefix, .field = {c_string(field.name)}}};"
        )
        out.add(f"    status = cdam_check_string(&place, {member}, &rules, err);").add("  }")
    out.add("  return status;").add("}")
    return True


def _message(out: Writer, message: Message, checked: list[str], last: str) -> None:
    out.add("  cdam_status status = CDAM_OK;")
    for name in checked:
        call = f"check_{message.snake}_{name}(message, prefix, err);"
        line = f"  if (status == CDAM_OK) status = {call}"
        out.add(
            line
            if len(line) <= COLUMNS
            else f"  if (status == CDAM_OK) {{\n    status = {call}\n  }}"
        )
    out.add(last)


def _validated(model: Model) -> list[Message]:
    """The messages whose rules are checked here. The seal is checked where it is made."""
    seal = next(field.message for field in model.state.fields if field.number == SEAL_NUMBER)
    return [message for message in model.messages if message.name != seal]


def _enums(model: Model) -> list[Enum]:
    used = {
        field.enum.name for message in _validated(model) for field in message.fields if field.enum
    }
    return [enum for enum in model.enums if enum.name in used]


def _state(out: Writer, model: Model, checked: list[str]) -> None:
    out.add().add(
        arguments(
            "static cdam_status check_session_state",
            [f"const {STATE_TYPE} *message", "const char *prefix", "cdam_error *err"],
            " {",
        )
    )
    _message(out, model.state, checked, "")
    out.lines.pop()
    for field in model.state.fields:
        if field.kind != "message" or field.number == SEAL_NUMBER:
            continue
        out.add(f"  if (status == CDAM_OK && message->{field.name}) {{")
        name = model.message(field.message).snake
        call = (
            "cdam_generated_validate_options"
            if field.message == model.options.name
            else f"validate_{name}"
        )
        out.add(f"    status = {call}(message->{field.name}, {c_string(field.name + '.')}, err);")
        out.add("  }")
    out.add("  return status;").add("}")
    out.add().add(
        arguments(
            "cdam_status cdam_generated_validate_state",
            [f"const {STATE_TYPE} *state", "cdam_error *err"],
            " {",
        )
    )
    out.add("  cdam_status status = cdam_generated_check_known_features(state, err);")
    out.add('  if (status == CDAM_OK) status = check_session_state(state, "", err);')
    out.add("  if (status == CDAM_OK) status = cdam_generated_check_profile(state, err);")
    out.add("  if (status == CDAM_OK) status = cdam_generated_check_needed_features(state, err);")
    out.add("  return status == CDAM_OK ? cdam_ok(err) : status;").add("}")


def source(model: Model) -> str:
    out = Writer()
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    for line in (
        '#include "base/fail.h"',
        '#include "feature_needs.h"',
        '#include "options/generated.h"',
        '#include "options/rules.h"',
    ):
        out.add(line)
    for enum in _enums(model):
        _known(out, enum)
    for message in _validated(model):
        checked = [field.name for field in message.fields if _field(out, message, field)]
        if message is model.state:
            state_checked = checked
            continue
        options = message is model.options
        profiled = options and _profiled(out, model)
        opening = (
            "cdam_status cdam_generated_validate_options"
            if options
            else f"static cdam_status validate_{message.snake}"
        )
        out.add().add(
            arguments(
                opening,
                [
                    f"const {message_type(message.name)} *message",
                    "const char *prefix",
                    "cdam_error *err",
                ],
                " {",
            )
        )
        last = (
            "  return status == CDAM_OK ? cdam_ok(err) : status;" if options else "  return status;"
        )
        if profiled:
            _message(out, message, checked, "")
            out.lines.pop()
            out.add("  if (status == CDAM_OK) status = check_profiled(message, prefix, err);")
            out.add(last)
        else:
            _message(out, message, checked, last)
        out.add("}")
    _state(out, model, state_checked)
    return out.text()


def emit(model: Model) -> dict[str, str]:
    return {"c/validate.c": source(model)}
