# SPDX-License-Identifier: Apache-2.0
"""generated/c/create_body.c: (b) the options' part of the create body."""

from __future__ import annotations

from emit.c_names import OPTIONS_TYPE, docker_word, in_use, map_of
from model import Field, Model
from text import Writer, arguments, c_string, made_by
from vocabulary import CreatePlace


def _scalar(field: Field) -> str:
    member = f"options->{field.name}"
    if field.kind == "string":
        return f"json_string({member})"
    if field.kind == "enum":
        return f"json_string({docker_word(field.enum)}({member}))"
    if field.kind == "bool":
        return f"json_boolean({member})"
    return f"json_integer((json_int_t){member})"


def _label(field: Field) -> str:
    if field.kind in ("uint32", "uint64"):
        return f"cdam_body_decimal(options->{field.name})"
    return _scalar(field)


def _value(field: Field, place: CreatePlace) -> str:
    items = f"options->{field.name}, options->n_{field.name}"
    return {
        "SCALAR": lambda: _scalar(field),
        "ARRAY": lambda: f"cdam_body_{'strings' if field.kind == 'string' else 'uints'}({items})",
        "OBJECT": lambda: "cdam_body_object(&map)",
        "ENV_ARRAY": lambda: "cdam_body_env(&map)",
        "PORT_SET": lambda: f"cdam_body_port_set({items})",
        "PORT_BINDINGS": lambda: f"cdam_body_port_bindings({items})",
        "LABEL": lambda: _label(field),
        "WORD": lambda: f"json_pack(\"[s]\", {c_string(place.word)})",
        "ULIMITS": lambda: "cdam_body_ulimits(&map)",
    }[place.shape]()


def _put(place: CreatePlace, value: str) -> str:
    """The statement that puts a value in its place."""
    call, where = "cdam_body_put(", c_string(place.path)
    if place.shape == "LABEL":
        call, where = "cdam_body_put_label(", c_string(place.label)
    line = f"  done = done && {call}body, {where}, {value});"
    if len(line) <= 100:
        return line
    return f"  done = done &&\n         {call}body, {where},\n" + " " * (9 + len(call)) + f"{value});"


def _field(out: Writer, field: Field) -> None:
    out.add().add(
        arguments(
            f"static bool put_{field.name}",
            [f"const {OPTIONS_TYPE} *options", "json_t *body"],
            " {",
        )
    )
    out.add(f"  if (!{in_use(field)}(options)) return true;")
    if field.kind == "map":
        out.add(f"  cdam_map map = {map_of(field)}(options);")
    out.add("  bool done = true;")
    for place in field.create:
        if place.shape != "QUERY":
            out.add(_put(place, _value(field, place)))
    out.add("  return done;").add("}")


def source(model: Model) -> str:
    fields = model.options.fields
    out = Writer()
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    out.add('#include "options/create_body.h"').add()
    for line in (
        '#include "base/fail.h"',
        '#include "option_fields.h"',
        '#include "options/generated.h"',
    ):
        out.add(line)
    sent = [f for f in fields if any(place.shape != "QUERY" for place in f.create)]
    # A label is put into the object that the option of all labels makes.
    sent.sort(key=lambda f: (any(place.shape == "LABEL" for place in f.create), f.number))
    for field in sent:
        _field(out, field)
    enums = [field for field in fields if field.kind == "enum"]
    out.add().comment("A value that nobody checked must not end in a body without its key.")
    out.add(
        arguments(
            "static cdam_status check_words",
            [f"const {OPTIONS_TYPE} *options", "cdam_error *err"],
            " {",
        )
    )
    if not enums:
        out.add("  (void)options;").add("  (void)err;")
    for field in enums:
        out.add(
            f"  if ({in_use(field)}(options) && "
            f"!{docker_word(field.enum)}(options->{field.name})) {{"
        )
        out.add(
            f"    return cdam_fail_field(err, {c_string(field.name)}, "
            '"has a value that is not known");'
        ).add("  }")
    out.add("  return CDAM_OK;").add("}")
    out.add().add(
        arguments(
            "cdam_status cdam_generated_create_body",
            [f"const {OPTIONS_TYPE} *options", "json_t **body", "cdam_error *err"],
            " {",
        )
    )
    out.add("  *body = NULL;").add("  cdam_status status = check_words(options, err);")
    out.add("  if (status != CDAM_OK) return status;")
    out.add("  json_t *made = json_object();").add("  bool done = made != NULL;")
    for field in sent:
        out.add(f"  done = done && put_{field.name}(options, made);")
    out.add("  if (!done) {").add("    json_decref(made);").add("    return cdam_fail_memory(err);")
    out.add("  }").add("  *body = made;").add("  return cdam_ok(err);").add("}")
    _query(out, fields)
    return out.text()


def _query(out: Writer, fields) -> None:
    """What stands in the query of the request."""
    out.add().add(
        arguments(
            "bool cdam_generated_create_query",
            [f"const {OPTIONS_TYPE} *options", "cdam_buffer *query"],
            " {",
        )
    )
    asked = [(f, p) for f in fields for p in f.create if p.shape == "QUERY"]
    if not asked:
        out.add("  (void)options;").add("  (void)query;")
    for field, place in asked:
        out.add(f"  if ({in_use(field)}(options) &&")
        out.add(
            f"      !cdam_query_put(query, {c_string(place.query)}, options->{field.name})) {{"
        )
        out.add("    return false;").add("  }")
    out.add("  return true;").add("}")


def emit(model: Model) -> dict[str, str]:
    return {"c/create_body.c": source(model)}
