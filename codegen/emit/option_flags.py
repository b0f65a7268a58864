# SPDX-License-Identifier: Apache-2.0
"""generated/cli/option_flags.c: the options as command-line flags."""

from __future__ import annotations

from emit.c_names import public_enum, public_value
from model import Field, Model
from text import Writer, arguments, c_string, c_strings, made_by

TOP = {"uint32": "UINT32_MAX", "uint64": "UINT64_MAX"}


def _words(field: Field) -> str:
    return ", ".join(value.docker for value in field.enum.values if value.docker)


def _enum(out: Writer, field: Field) -> list[str]:
    name = field.name
    out.add().add(f"static const cdam_flag_word {name}_words[] = {{")
    for value in field.enum.values:
        if value.docker:
            out.add(f"    {{{c_string(value.docker)}, {public_value(value)}}},")
    out.add("};")
    call = arguments(
        "cdam_status status = cdam_flag_enum",
        [
            c_string(name),
            "text",
            f"{name}_words",
            f"sizeof {name}_words / sizeof *{name}_words",
            c_string(_words(field)),
            "&number",
            "err",
        ],
        ";",
        2,
    )
    return [
        "  int number = 0;",
        call,
        "  if (status == CDAM_OK) {",
        f"    cdam_options_set_{name}(options, ({public_enum(field.enum)})number);",
        "  }",
        "  return status;",
    ]


def _uint(field: Field) -> list[str]:
    name = field.name
    rules = field.rules.repeated.items if field.repeated else field.rules
    top = (rules.uint.lte if rules and rules.uint else 0) or TOP[field.kind]
    cast = "(uint32_t)" if field.kind == "uint32" else ""
    word = {"BYTES": "bytes", "NANO": "nano", "TIME": "time"}.get(field.flag.unit, "uint")
    out = [
        "  uint64_t number = 0;",
        f"  cdam_status status = cdam_flag_{word}({c_string(name)}, text, {top}, &number, err);",
        "  if (status != CDAM_OK) return status;",
    ]
    if field.repeated:
        return out + [f"  return cdam_options_add_{field.singular}(options, {cast}number, err);"]
    return out + [f"  cdam_options_set_{name}(options, {cast}number);", "  return status;"]


def _map(field: Field) -> list[str]:
    return [
        "  char *key = NULL;",
        "  const char *value = NULL;",
        f"  cdam_status status = cdam_flag_pair({c_string(field.name)}, text, &key, &value, err);",
        "  if (status != CDAM_OK) return status;",
        f"  status = cdam_options_set_{field.singular}(options, key, value, err);",
        "  free(key);",
        "  return status;",
    ]


def _setter(out: Writer, field: Field) -> None:
    name = field.name
    if field.kind == "map":
        body = _map(field)
    elif field.kind == "enum":
        body = _enum(out, field)
    elif field.kind in TOP:
        body = _uint(field)
    elif field.kind == "bool":
        body = [
            "  (void)text;",
            f"  cdam_options_set_{name}(options, true);",
            "  return cdam_flag_ok(err);",
        ]
    elif field.repeated:
        body = [f"  return cdam_options_add_{field.singular}(options, text, err);"]
    else:
        body = [f"  return cdam_options_set_{name}(options, text, err);"]
    out.add().add(
        arguments(
            f"static cdam_status set_{name}",
            ["cdam_options *options", "const char *text", "cdam_error *err"],
            " {",
        )
    )
    for line in body:
        out.add(line)
    out.add("}")


def _help(field: Field) -> str:
    if field.kind != "enum":
        return field.help
    return f"{field.help} Accepted: {_words(field)}"


def _entry(out: Writer, field: Field) -> None:
    out.add("    {")
    out.add(f"        .name = {c_string(field.flag.name)},")
    if field.flag.metavar:
        out.add(f"        .metavar = {c_string(field.flag.metavar)},")
    out.add(f"        .help = {c_strings(_help(field), 16)},")
    for word, on in (
        ("required", field.rules.required),
        ("repeatable", field.many),
        ("isolates", field.isolates),
    ):
        if on:
            out.add(f"        .{word} = true,")
    out.add(f"        .set = set_{field.name},").add("    },")


def source(model: Model) -> str:
    out = Writer()
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    for line in (
        '#include "options/flags.h"',
        "",
        "#include <stdlib.h>",
        "",
        '#include "options/flag_values.h"',
    ):
        out.add(line)
    for field in model.options.fields:
        _setter(out, field)
    out.add().add("const cdam_option_flag cdam_option_flags[] = {")
    for field in model.options.fields:
        _entry(out, field)
    out.add("};").add()
    out.add(
        "const size_t cdam_option_flag_count =\n"
        "    sizeof cdam_option_flags / sizeof *cdam_option_flags;"
    )
    return out.text()


def emit(model: Model) -> dict[str, str]:
    return {"cli/option_flags.c": source(model)}
