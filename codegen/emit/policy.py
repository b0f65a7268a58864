# SPDX-License-Identifier: Apache-2.0
"""generated/c/policy.c: the caller's minimum, and notes about options that meet."""

from __future__ import annotations

from emit.c_names import OPTIONS_TYPE, docker_word, in_use, map_of
from model import Field, Model
from text import Writer, arguments, c_string, c_strings, made_by


def _if_equal(field: Field) -> str:
    """Returns when both are the same; broken where it is too long for a line."""
    name, then = field.name, ") return CDAM_OK;"
    if field.kind == "map":
        return arguments("  if (cdam_map_equal", ["&wanted", "&given"], then)
    if field.repeated:
        word = "strings" if field.kind == "string" else "uint32"
        names = [f"{who}->{what}{name}" for who in ("minimum", "options") for what in ("", "n_")]
        return arguments(f"  if (cdam_same_{word}", names, then)
    if field.kind == "string":
        texts = [f"cdam_text({who}->{name})" for who in ("minimum", "options")]
        return arguments("  if (strcmp", texts, " == 0" + then)
    if field.stricter == "LOWER":
        lower = f"  if ({in_use(field)}(options) && options->{name} <= minimum->{name}{then}"
        if len(lower) <= 100:
            return lower
        return lower.replace(" && ", " &&\n      ")
    line = f"  if (minimum->{name} == options->{name}{then}"
    return line if len(line) <= 100 else line.replace(" == ", " ==\n      ")


def _field(out: Writer, field: Field) -> None:
    out.add().add(
        arguments(
            f"static cdam_status require_{field.name}",
            [f"const {OPTIONS_TYPE} *minimum", f"const {OPTIONS_TYPE} *options", "cdam_error *err"],
            " {",
        )
    )
    out.add(f"  if (!{in_use(field)}(minimum)) return CDAM_OK;")
    if field.kind == "map":
        out.add(f"  cdam_map wanted = {map_of(field)}(minimum);")
        out.add(f"  cdam_map given = {map_of(field)}(options);")
    out.add(_if_equal(field))
    if field.kind == "enum":
        out.add(f"  const char *wanted = {docker_word(field.enum)}(minimum->{field.name});")
        out.add(f"  const char *given = {docker_word(field.enum)}(options->{field.name});")
        out.add(f"  return cdam_fail_policy(err, {c_string(field.name)}, wanted, given);")
    else:
        out.add(f"  return cdam_fail_policy(err, {c_string(field.name)}, NULL, NULL);")
    out.add("}")


def _notes(out: Writer, model: Model) -> None:
    out.add().add(
        arguments(
            "bool cdam_generated_notes",
            [f"const {OPTIONS_TYPE} *options", "cdam_note_callback note", "void *user"],
            " {",
        )
    )
    notes = [(field, note) for field in model.options.fields for note in field.notes]
    if not notes:
        out.add("  (void)options;").add("  (void)note;").add("  (void)user;")
    for field, note in notes:
        other = model.options.field(note.with_)
        out.add(f"  if ({in_use(field)}(options) && {in_use(other)}(options)) {{")
        out.add("    static const char text[] =\n        " + c_strings(note.text, 8) + ";")
        out.add(
            f"    if (!note(user, {c_string(field.name)}, {c_string(other.name)}, text)) "
            "return false;"
        ).add("  }")
    out.add("  return true;").add("}")


def source(model: Model) -> str:
    out = Writer()
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    for line in (
        "#include <string.h>",
        "",
        '#include "base/fail.h"',
        '#include "option_fields.h"',
        '#include "options/generated.h"',
        '#include "options/policy.h"',
    ):
        out.add(line)
    for field in model.isolating:
        _field(out, field)
    out.add().add(
        arguments(
            "cdam_status cdam_generated_check_policy",
            [f"const {OPTIONS_TYPE} *minimum", f"const {OPTIONS_TYPE} *options", "cdam_error *err"],
            " {",
        )
    )
    if not model.isolating:
        out.add("  (void)minimum;").add("  (void)options;")
    out.add("  cdam_status status = CDAM_OK;")
    for field in model.isolating:
        out.add(f"  if (status == CDAM_OK) status = require_{field.name}(minimum, options, err);")
    out.add("  return status == CDAM_OK ? cdam_ok(err) : status;").add("}")
    _notes(out, model)
    return out.text()


def emit(model: Model) -> dict[str, str]:
    return {"c/policy.c": source(model)}
