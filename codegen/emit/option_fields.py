# SPDX-License-Identifier: Apache-2.0
"""generated/c/option_fields.[ch]: what other generated files need to know of each option."""

from __future__ import annotations

from emit.c_names import (
    OPTIONS_TYPE,
    docker_word,
    entry_descriptor,
    enum_type,
    enum_value,
    in_use,
    map_of,
    option_enums,
)
from model import Field, Model
from text import Writer, arguments, c_string, made_by


def _condition(field: Field) -> str:
    if field.many:
        return f"options->n_{field.name} > 0"
    if field.kind == "string":
        return f"options->{field.name} && options->{field.name}[0]"
    return f"options->{field.name} != 0"


def _inline(out: Writer, model: Model, field: Field) -> None:
    out.add()
    out.add(
        arguments(f"static inline bool {in_use(field)}", [f"const {OPTIONS_TYPE} *options"], " {")
    )
    out.add(f"  return {_condition(field)};").add("}")
    if field.kind == "map":
        out.add()
        out.add(
            arguments(
                f"static inline cdam_map {map_of(field)}", [f"const {OPTIONS_TYPE} *options"], " {"
            )
        )
        out.add(f"  return (cdam_map){{(void **)options->{field.name}, options->n_{field.name},")
        out.add(f"                    &{entry_descriptor(model.options, field)}}};").add("}")


def header(model: Model) -> str:
    out = Writer()
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    out.comment(
        "Whether options are in use (differ from their defaults), views of maps, and Docker's "
        "words for enum values."
    )
    out.add("#ifndef COFFERDAM_OPTION_FIELDS_H").add("#define COFFERDAM_OPTION_FIELDS_H").add()
    out.add("#include <stdbool.h>").add()
    out.add('#include "cofferdam/v1/options.pb-c.h"').add('#include "options/fields.h"')
    for field in model.options.fields:
        _inline(out, model, field)
    for enum in option_enums(model):
        out.add().comment("Docker's word; NULL for a value that has none or is not known.")
        out.add(f"const char *{docker_word(enum)}({enum_type(enum)} value);")
    out.add().add("#endif")
    return out.text()


def source(model: Model) -> str:
    out = Writer()
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    out.add('#include "option_fields.h"')
    for enum in option_enums(model):
        out.add().add(f"const char *{docker_word(enum)}({enum_type(enum)} value) {{")
        out.add("  switch (value) {")
        for value in enum.values:
            if value.docker:
                out.add(f"  case {enum_value(enum, value)}:")
                out.add(f"    return {c_string(value.docker)};")
        out.add("  default:").add("    return NULL;").add("  }").add("}")
    return out.text()


def emit(model: Model) -> dict[str, str]:
    return {"c/option_fields.h": header(model), "c/option_fields.c": source(model)}
