# SPDX-License-Identifier: Apache-2.0
"""generated/c/options_accessors.c and state_accessors.c: the public accessors."""

from __future__ import annotations

from emit.c_names import c_type, declare, entry_type, enum_type, map_of, message_type
from emit.flat import Flat, flat_fields
from model import Field, Model
from text import COLUMNS, Writer, arguments, c_string, made_by

ME = "cdam_options *options"
CONST = "const cdam_options *options"


def _function(out: Writer, result: str, name: str, items: list[str], body: list[str]) -> None:
    out.add().add(arguments(declare(result, name), items, " {"))
    for line in body:
        out.add("  " + line if line else "")
    out.add("}")


def _indented(text: str) -> list[str]:
    """Lines as _function wants them, which indents them itself."""
    return [line[2:] for line in text.split("\n")]


def _map_view(field: Field) -> str:
    return f"cdam_map map = {map_of(field)}(&options->message);"


def _map(out: Writer, model: Model, field: Field) -> None:
    one, name = field.singular, field.name
    out.add().add(f"static void keep_{name}(cdam_options *options, const cdam_map *map) {{")
    out.add(f"  options->message.{name} = ({entry_type(model.options, field)} **)map->entries;")
    out.add(f"  options->message.n_{name} = map->count;").add("}")
    _function(
        out,
        "cdam_status",
        f"cdam_options_set_{one}",
        [ME, "const char *key", "const char *value", "cdam_error *err"],
        [
            'if (!options) return cdam_fail_null(err, "options");',
            _map_view(field),
            f"cdam_status status = cdam_map_put(&map, {c_string(name)}, key, value, err);",
            f"keep_{name}(options, &map);",
            "return status;",
        ],
    )
    _map_looks(out, field)
    _map_removals(out, field)


def _map_looks(out: Writer, field: Field) -> None:
    one, name, view = field.singular, field.name, _map_view(field)
    _function(
        out,
        "const char *",
        f"cdam_options_{one}",
        [CONST, "const char *key"],
        ["if (!options || !key) return NULL;", view, "return cdam_map_get(&map, key);"],
    )
    _function(
        out,
        "size_t",
        f"cdam_options_{one}_count",
        [CONST],
        [f"return options ? options->message.n_{name} : 0;"],
    )
    _function(
        out,
        "bool",
        f"cdam_options_{one}_at",
        [CONST, "size_t index", "const char **key", "const char **value"],
        [
            f"if (!options || index >= options->message.n_{name}) return false;",
            view,
            "if (key) *key = cdam_map_key(&map, index);",
            "if (value) *value = cdam_map_value(&map, index);",
            "return true;",
        ],
    )


def _map_removals(out: Writer, field: Field) -> None:
    one, name, view = field.singular, field.name, _map_view(field)
    _function(
        out,
        "bool",
        f"cdam_options_remove_{one}",
        [ME, "const char *key"],
        [
            "if (!options || !key) return false;",
            view,
            "bool removed = cdam_map_remove(&map, key);",
            f"keep_{name}(options, &map);",
            "return removed;",
        ],
    )
    _function(
        out,
        "void",
        f"cdam_options_clear_{name}",
        [ME],
        ["if (!options) return;", view, "cdam_map_clear(&map);", f"keep_{name}(options, &map);"],
    )


def _repeated(out: Writer, field: Field) -> None:
    one, name = field.singular, field.name
    word = "string" if field.kind == "string" else field.kind
    where = [f"&options->message.{name}", f"&options->message.n_{name}"]
    named = [c_string(name)] if field.kind == "string" else []
    call = _indented(
        arguments(f"return cdam_field_add_{word}", where + named + [one, "err"], ";", 2)
    )
    _function(
        out,
        "cdam_status",
        f"cdam_options_add_{one}",
        [ME, declare(c_type(field), one), "cdam_error *err"],
        ['if (!options) return cdam_fail_null(err, "options");'] + call,
    )
    _function(
        out,
        "size_t",
        f"cdam_options_{one}_count",
        [CONST],
        [f"return options ? options->message.n_{name} : 0;"],
    )
    none = "NULL" if field.kind == "string" else "0"
    item = f"options->message.{name}[index]"
    _function(
        out,
        c_type(field),
        f"cdam_options_{one}",
        [CONST, "size_t index"],
        [
            f"if (!options || index >= options->message.n_{name}) return {none};",
            f"return {f'cdam_text({item})' if field.kind == 'string' else item};",
        ],
    )
    plural = "strings" if field.kind == "string" else word
    _function(
        out,
        "void",
        f"cdam_options_clear_{name}",
        [ME],
        ["if (!options) return;"]
        + _indented(arguments(f"cdam_field_clear_{plural}", where, ";", 2)),
    )


def _single(out: Writer, field: Field) -> None:
    name, member = field.name, f"options->message.{field.name}"
    parameter = declare(c_type(field), name)
    if field.kind == "string":
        _function(
            out,
            "cdam_status",
            f"cdam_options_set_{name}",
            [ME, parameter, "cdam_error *err"],
            [
                'if (!options) return cdam_fail_null(err, "options");',
                f"return cdam_field_set_string(&{member}, {c_string(name)}, {name}, err);",
            ],
        )
        _function(
            out,
            c_type(field),
            f"cdam_options_{name}",
            [CONST],
            [f'return options ? cdam_text({member}) : "";'],
        )
        return
    value = f"({enum_type(field.enum)}){name}" if field.enum else name
    _function(
        out,
        "void",
        f"cdam_options_set_{name}",
        [ME, parameter],
        [f"if (options) {member} = {value};"],
    )
    back = f"({c_type(field)}){member}" if field.enum else member
    none = {"bool": "false"}.get(field.kind, "0")
    _function(
        out, c_type(field), f"cdam_options_{name}", [CONST], [f"return options ? {back} : {none};"]
    )


def _start(out: Writer, about: list[str]) -> None:
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    for line in about:
        out.add(line)


def options_source(model: Model) -> str:
    out = Writer()
    _start(
        out,
        [
            "#include <cofferdam/options.h>",
            "",
            '#include "option_fields.h"',
            '#include "options/fields.h"',
            '#include "options/generated.h"',
        ],
    )
    for field in model.options.fields:
        if field.kind == "map":
            _map(out, model, field)
        elif field.repeated:
            _repeated(out, field)
        else:
            _single(out, field)
    return out.text()


def _holder(flat: Flat, field_type: str) -> list[str]:
    """Statements that leave the message with the field in `holder`, NULL without one."""
    if not flat.holder:
        return ["if (!state) return {none};"]
    start, value = f"const {field_type} *holder =", f"state ? state->message.{flat.holder} : NULL;"
    oneline = f"{start} {value}"
    lines = [oneline] if len(oneline) + 2 <= COLUMNS else [start, "    " + value]
    return lines + ["if (!holder) return {none};"]


def _getter(out: Writer, model: Model, flat: Flat) -> None:
    field = flat.field
    holder_type = ""
    if flat.holder:
        holder_type = message_type(model.state.field(flat.holder).message)
    member = ("holder->" if flat.holder else "state->message.") + field.name
    count = ("holder->" if flat.holder else "state->message.") + "n_" + field.name
    const = ["const cdam_state *state"]
    name = f"cdam_state_{flat.name}"
    head = _holder(flat, holder_type)

    def lines(none: str, *rest: str) -> list[str]:
        return [line.replace("{none}", none) for line in head] + list(rest)

    if field.kind == "message":
        _function(
            out,
            "const cdam_options *",
            name,
            const,
            lines("NULL", f"return (const cdam_options *){member};"),
        )
    elif field.repeated:
        _function(out, "size_t", name + "_count", const, lines("0", f"return {count};"))
        cast = f"({c_type(field)})" if field.enum else ""
        none = "NULL" if field.kind == "string" else "0"
        _function(
            out,
            c_type(field),
            name,
            const + ["size_t index"],
            lines(none, f"if (index >= {count}) return {none};", f"return {cast}{member}[index];"),
        )
    elif field.kind == "bytes":
        _function(
            out,
            "const unsigned char *",
            name,
            const + ["size_t *length"],
            ["if (length) *length = 0;"]
            + lines(
                "NULL",
                f"if (length) *length = {member}.len;",
                f"return {member}.len ? {member}.data : NULL;",
            ),
        )
    elif field.kind == "string":
        _function(out, "const char *", name, const, lines('""', f"return cdam_text({member});"))
    else:
        cast = f"({c_type(field)})" if field.enum else ""
        none = "false" if field.kind == "bool" else "0"
        _function(out, c_type(field), name, const, lines(none, f"return {cast}{member};"))


def _setter(out: Writer, flat: Flat) -> None:
    field = flat.field
    _function(
        out,
        "void",
        f"cdam_state_set_{flat.name}",
        ["cdam_state *state", declare(c_type(field), field.name)],
        [
            "if (!state) return;",
            f"state->message.{field.name} = {field.name};",
            "cdam_state_forget_seal(state);",
        ],
    )


def state_source(model: Model) -> str:
    out = Writer()
    _start(
        out,
        [
            "#include <cofferdam/state.h>",
            "",
            '#include "options/fields.h"',
            '#include "options/generated.h"',
            '#include "state/message.h"',
        ],
    )
    for flat in flat_fields(model):
        _getter(out, model, flat)
        if flat.settable:
            _setter(out, flat)
    return out.text()


def emit(model: Model) -> dict[str, str]:
    return {
        "c/options_accessors.c": options_source(model),
        "c/state_accessors.c": state_source(model),
    }
