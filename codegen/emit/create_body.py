# SPDX-License-Identifier: Apache-2.0
"""generated/c/create_body.c: (b) the options' part of the create body."""

from __future__ import annotations

from emit.c_names import OPTIONS_TYPE, docker_word, in_use, map_of
from model import Field, Model
from text import Writer, arguments, c_string, made_by


def _scalar(field: Field) -> str:
    member = f"options->{field.name}"
    if field.kind == "string":
        return f"json_string({member})"
    if field.kind == "enum":
        return f"json_string({docker_word(field.enum)}({member}))"
    if field.kind == "bool":
        return f"json_boolean({member})"
    return f"json_integer((json_int_t){member})"


def _value(field: Field, shape: str) -> str:
    items = f"options->{field.name}, options->n_{field.name}"
    return {
        "SCALAR": lambda: _scalar(field),
        "ARRAY": lambda: f"cdam_body_{'strings' if field.kind == 'string' else 'uints'}({items})",
        "OBJECT": lambda: "cdam_body_object(&map)",
        "ENV_ARRAY": lambda: "cdam_body_env(&map)",
        "PORT_SET": lambda: f"cdam_body_port_set({items})",
        "PORT_BINDINGS": lambda: f"cdam_body_port_bindings({items})",
    }[shape]()


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
        value = _value(field, place.shape)
        line = f"  done = done && cdam_body_put(body, {c_string(place.path)}, {value});"
        if len(line) > 100:
            line = (
                f"  done = done &&\n         cdam_body_put(body, {c_string(place.path)},\n"
                f"                       {value});"
            )
        out.add(line)
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
    for field in fields:
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
    for field in fields:
        out.add(f"  done = done && put_{field.name}(options, made);")
    out.add("  if (!done) {").add("    json_decref(made);").add("    return cdam_fail_memory(err);")
    out.add("  }").add("  *body = made;").add("  return cdam_ok(err);").add("}")
    return out.text()


def emit(model: Model) -> dict[str, str]:
    return {"c/create_body.c": source(model)}
