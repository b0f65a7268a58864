# SPDX-License-Identifier: Apache-2.0
"""generated/c/compare.c: (e) comparing every option in use with an inspect answer."""

from __future__ import annotations

from emit.c_names import OPTIONS_TYPE, STATE_TYPE, docker_word, in_use, map_of
from model import Field, Model
from text import Writer, arguments, c_string, made_by
from vocabulary import Inspection

SCALARS = {"string": "string", "enum": "string", "bool": "bool", "uint32": "uint", "uint64": "uint"}


def _scalar(field: Field) -> str:
    member = f"options->{field.name}"
    return f"{docker_word(field.enum)}({member})" if field.kind == "enum" else member


def _call(field: Field, look: Inspection) -> tuple[str, list[str]]:
    """The function that makes one comparison, and its arguments."""
    start = ["inspect", c_string(look.path)]
    how = f"CDAM_COMPARE_{look.compare}"
    items = [f"options->{field.name}", f"options->n_{field.name}"]
    if look.compare == "ONLY_NETWORK":
        return "cdam_compare_only_network", start + [_scalar(field), "err"]
    if look.compare == "RESOLVED":
        return "cdam_compare_resolved", start + [f"state->{look.resolved}", "err"]
    if look.compare == "LABEL":
        number = field.kind in ("uint32", "uint64")
        word = "cdam_compare_label_uint" if number else "cdam_compare_label"
        return word, start + [c_string(look.label), _scalar(field), "err"]
    if look.compare in ("NO_CAPABILITIES", "NO_NEW_PRIVILEGES"):
        return f"cdam_compare_{look.compare.lower()}", start + ["err"]
    if look.compare == "TMPFS":
        return "cdam_compare_tmpfs", start + ["&map", "err"]
    shape = field.shape_of(look)
    return {
        "SCALAR": lambda: (
            f"cdam_compare_{SCALARS[field.kind]}",
            start + [_scalar(field), how, "err"],
        ),
        "ARRAY": lambda: (
            f"cdam_compare_{'strings' if field.kind == 'string' else 'uints'}",
            start + items + [how, "err"],
        ),
        "OBJECT": lambda: ("cdam_compare_object", start + ["&map", how, "err"]),
        "ENV_ARRAY": lambda: ("cdam_compare_env", start + ["&map", "err"]),
        "ULIMITS": lambda: ("cdam_compare_ulimits", start + ["&map", "err"]),
        "PORT_SET": lambda: ("cdam_compare_port_set", start + items + ["err"]),
        "PORT_BINDINGS": lambda: ("cdam_compare_port_bindings", start + items + ["err"]),
    }[shape]()


def _of_container(field: Field) -> list[Inspection]:
    return [look for look in field.inspect if look.compare != "IMAGE_PLATFORM"]


def _field(out: Writer, field: Field) -> None:
    out.add().add(
        arguments(
            f"static cdam_status compare_{field.name}",
            [f"const {STATE_TYPE} *state", "const json_t *inspect", "cdam_error *err"],
            " {",
        )
    )
    out.add(f"  const {OPTIONS_TYPE} *options = state->options;")
    out.add(f"  if (!{in_use(field)}(options)) return CDAM_OK;")
    if field.kind == "map":
        out.add(f"  cdam_map map = {map_of(field)}(options);")
    out.add("  cdam_status status = CDAM_OK;")
    for look in _of_container(field):
        name, items = _call(field, look)
        call = arguments(f"status = {name}", items, ";", 2)
        oneline = f"  if (status == CDAM_OK) {call.strip()}"
        if "\n" not in call and len(oneline) <= 100:
            out.add(oneline)
        else:
            out.add("  if (status == CDAM_OK) {")
            out.add(arguments(f"status = {name}", items, ";", 4)).add("  }")
    out.add("  return status;").add("}")


def source(model: Model) -> str:
    out = Writer()
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    out.add('#include "options/compare.h"').add()
    for line in (
        '#include "base/fail.h"',
        '#include "option_fields.h"',
        '#include "options/generated.h"',
    ):
        out.add(line)
    compared = [field for field in model.options.fields if _of_container(field)]
    for field in compared:
        _field(out, field)
    out.add().add(
        arguments(
            "cdam_status cdam_generated_compare",
            [f"const {STATE_TYPE} *state", "const json_t *inspect", "cdam_error *err"],
            " {",
        )
    )
    out.add('  if (!state->options) return cdam_fail_field(err, "options", "is required");')
    out.add("  cdam_status status = CDAM_OK;")
    # Isolation first: that it is lost matters more than anything else that may differ.
    for field in sorted(compared, key=lambda f: (not f.isolates, f.number)):
        out.add(f"  if (status == CDAM_OK) status = compare_{field.name}(state, inspect, err);")
    out.add("  return status == CDAM_OK ? cdam_ok(err) : status;").add("}")
    _image(out, model)
    return out.text()


def _image(out: Writer, model: Model) -> None:
    """What is compared with the image that the options' name was resolved to."""
    out.add().add(
        arguments(
            "cdam_status cdam_generated_compare_image",
            [f"const {OPTIONS_TYPE} *options", "const json_t *image", "cdam_error *err"],
            " {",
        )
    )
    looks = [f for f in model.options.fields for l in f.inspect if l.compare == "IMAGE_PLATFORM"]
    if not looks:
        out.add("  (void)options;").add("  (void)image;")
    for field in looks:
        out.add(f"  if ({in_use(field)}(options)) {{")
        out.add("    cdam_status status =")
        out.add(
            f"        cdam_compare_image_platform(image, {c_string(field.name)}, "
            f"options->{field.name}, err);"
        )
        out.add("    if (status != CDAM_OK) return status;").add("  }")
    out.add("  return cdam_ok(err);").add("}")


def emit(model: Model) -> dict[str, str]:
    return {"c/compare.c": source(model)}
