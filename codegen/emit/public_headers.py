# SPDX-License-Identifier: Apache-2.0
"""generated/include/cofferdam/options.h and state.h: the public accessors."""

from __future__ import annotations

from emit import describe
from emit.c_names import c_type, declare, public_enum, public_value
from emit.flat import flat_fields
from model import Enum, Field, Model
from text import Writer, arguments, made_by

SETTER_ERRORS = "CDAM_ERR_ARGUMENT, CDAM_ERR_INVALID (no UTF-8), CDAM_ERR_NO_MEMORY."
STATUS = "CDAM_API CDAM_CHECK cdam_status "


def _enum(out: Writer, enum: Enum) -> None:
    out.add()
    out.add(f"typedef enum {public_enum(enum)} {{")
    for index, value in enumerate(enum.values):
        words = " ".join(part for part in (value.help, describe.since(value.since)) if part)
        if index:
            out.add()
        out.comment(words, 2)
        comma = "," if index + 1 < len(enum.values) else ""
        out.add(f"  {public_value(value)} = {value.number}{comma}")
    out.add(f"}} {public_enum(enum)};")


def _about(field: Field, name: str) -> str:
    return " ".join(
        part
        for part in (
            f"{name}: {field.help}",
            describe.sentence(describe.rules(field)),
            "The lower, the stricter." if field.stricter == "LOWER" else "",
            describe.since(field.since),
        )
        if part
    )


def _status(out: Writer, name: str, items: list[str]) -> None:
    out.add(arguments(f"{STATUS}{name}", items + ["cdam_error *err"], ";"))


def _plain(out: Writer, result: str, name: str, items: list[str]) -> None:
    out.add(arguments("CDAM_API " + declare(result, name), items, ";"))


def _map(out: Writer, field: Field) -> None:
    one, me, const = field.singular, "cdam_options *options", "const cdam_options *options"
    out.comment(
        f"{_about(field, field.name)}\nPuts a copy of an entry, in the place of one with the "
        f"same key. Entries are kept in the byte order of their keys. {SETTER_ERRORS}"
    )
    _status(out, f"cdam_options_set_{one}", [me, "const char *key", "const char *value"])
    out.add().comment("The value of a key; NULL without such an entry.")
    _plain(out, "const char *", f"cdam_options_{one}", [const, "const char *key"])
    out.add()
    _plain(out, "size_t", f"cdam_options_{one}_count", [const])
    out.add().comment(
        "Entry `index`: key and value (either may be NULL). False out of range; the two "
        "are then as they were."
    )
    _plain(
        out,
        "bool",
        f"cdam_options_{one}_at",
        [const, "size_t index", "const char **key", "const char **value"],
    )
    out.add().comment("Tells whether there was an entry to remove.")
    _plain(out, "bool", f"cdam_options_remove_{one}", [me, "const char *key"])
    out.add()
    _plain(out, "void", f"cdam_options_clear_{field.name}", [me])


def _repeated(out: Writer, field: Field) -> None:
    one, me, const = field.singular, "cdam_options *options", "const cdam_options *options"
    errors = SETTER_ERRORS if field.kind == "string" else "CDAM_ERR_ARGUMENT, CDAM_ERR_NO_MEMORY."
    out.comment(f"{_about(field, field.name)}\nAppends a value. {errors}")
    _status(out, f"cdam_options_add_{one}", [me, declare(c_type(field), one)])
    out.add()
    _plain(out, "size_t", f"cdam_options_{one}_count", [const])
    out.add().comment(
        "Value `index`; " + ("NULL" if field.kind == "string" else "0") + " out of range."
    )
    _plain(out, c_type(field), f"cdam_options_{one}", [const, "size_t index"])
    out.add()
    _plain(out, "void", f"cdam_options_clear_{field.name}", [me])


DEFAULTS = {"string": '""', "bool": "False", "uint32": "0", "uint64": "0"}


def _single(out: Writer, field: Field) -> None:
    me, const = "cdam_options *options", "const cdam_options *options"
    parameter = declare(c_type(field), field.name)
    if field.kind == "string":
        out.comment(f"{_about(field, field.name)}\nSets a copy. {SETTER_ERRORS}")
        _status(out, f"cdam_options_set_{field.name}", [me, parameter])
    else:
        checked = (
            " The value is not checked here but by cdam_options_validate and whatever takes "
            "the options."
            if field.kind != "bool"
            else ""
        )
        out.comment(_about(field, field.name) + checked)
        _plain(out, "void", f"cdam_options_set_{field.name}", [me, parameter])
    default = DEFAULTS.get(field.kind) or public_value(field.enum.values[0])
    out.add().comment(f"{default} when it was never set.")
    _plain(out, c_type(field), f"cdam_options_{field.name}", [const])


def _guard(out: Writer, name: str, about: str, includes: list[str]) -> None:
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    out.comment(about)
    out.add(f"#ifndef COFFERDAM_{name}_H").add(f"#define COFFERDAM_{name}_H").add()
    for include in ("stdbool.h", "stddef.h", "stdint.h"):
        out.add(f"#include <{include}>")
    out.add()
    for include in sorted(
        includes + ["cofferdam/error.h", "cofferdam/export.h", "cofferdam/message.h"]
    ):
        out.add(f"#include <{include}>")
    out.add().add("CDAM_BEGIN_DECLS")


def _enums_of(out: Writer, model: Model, file: str) -> None:
    for enum in model.enums:
        if enum.file == file:
            _enum(out, enum)


def options_header(model: Model) -> str:
    out = Writer()
    _guard(
        out,
        "OPTIONS",
        "cdam_options: the accessors of what a sandbox is created with. message.h has what "
        "concerns "
        "options as a whole.\n\nGetters take NULL options for empty ones; setters ignore them or "
        "return CDAM_ERR_ARGUMENT.",
        [],
    )
    _enums_of(out, model, model.options.file)
    for field in model.options.fields:
        out.add().add(f"/* ---- {field.name} ---- */").add()
        (_map if field.kind == "map" else _repeated if field.repeated else _single)(out, field)
    out.add().add("CDAM_END_DECLS").add().add("#endif")
    return out.text()


def _state_getter(out: Writer, flat) -> None:
    field, name = flat.field, flat.name
    const = "const cdam_state *state"
    about = _about(field, flat.path)
    if field.kind == "message":
        out.comment(about + " NULL only in a state that is not valid.")
        _plain(out, "const cdam_options *", f"cdam_state_{name}", [const])
    elif field.repeated:
        out.comment(about)
        _plain(out, "size_t", f"cdam_state_{name}_count", [const])
        out.add().comment("Value `index`; 0 out of range.")
        _plain(out, c_type(field), f"cdam_state_{name}", [const, "size_t index"])
    elif field.kind == "bytes":
        out.comment(
            about + " *length (may be NULL) is 0, and the result NULL, where it is not set."
        )
        _plain(out, "const unsigned char *", f"cdam_state_{name}", [const, "size_t *length"])
    else:
        out.comment(about)
        _plain(out, c_type(field), f"cdam_state_{name}", [const])
    if flat.settable:
        out.add().comment("Sets it. The other fields say what the library knows and cannot be set.")
        _plain(
            out,
            "void",
            f"cdam_state_set_{name}",
            ["cdam_state *state", declare(c_type(field), field.name)],
        )


def state_header(model: Model) -> str:
    out = Writer()
    _guard(
        out,
        "STATE",
        "cdam_state: the accessors of what brings a sandbox back. States are made by the library "
        "(cdam_session_state, cdam_state_parse). message.h has what concerns a state as a whole."
        '\n\nGetters take NULL for an empty state; strings that are not set are "".',
        ["cofferdam/options.h"],
    )
    _enums_of(out, model, model.state.file)
    for flat in flat_fields(model):
        out.add()
        _state_getter(out, flat)
    out.add().add("CDAM_END_DECLS").add().add("#endif")
    return out.text()


def emit(model: Model) -> dict[str, str]:
    return {
        "include/cofferdam/options.h": options_header(model),
        "include/cofferdam/state.h": state_header(model),
    }
