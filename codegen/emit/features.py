# SPDX-License-Identifier: Apache-2.0
"""generated/c/feature_needs.[ch]: required_features, derived from the isolating options."""

from __future__ import annotations

from emit.c_names import OPTIONS_TYPE, STATE_TYPE, enum_value, in_use
from model import Model
from text import Writer, arguments, c_string, made_by


# The label of the one option that the runtime itself goes by.
DEADLINE = "io.cofferdam.deadline"


def _deadline(out: Writer, model: Model) -> None:
    found = [f for f in model.options.fields for p in f.create if p.label == DEADLINE]
    out.add().add(
        arguments("uint64_t cdam_generated_deadline", [f"const {OPTIONS_TYPE} *options"], " {")
    )
    if not found:
        out.add("  (void)options;")
    out.add(f"  return {f'options->{found[0].name}' if found else '0'};").add("}")


def header(_: Model) -> str:
    out = Writer()
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    out.comment("The two halves of the check of required_features.")
    out.add("#ifndef COFFERDAM_FEATURE_NEEDS_H").add("#define COFFERDAM_FEATURE_NEEDS_H").add()
    out.add("#include <cofferdam/error.h>").add()
    out.add('#include "cofferdam/v1/state.pb-c.h"').add()
    out.comment("Comes first of all, so that an old reader says what it lacks.")
    for name in ("known", "needed"):
        out.add(
            arguments(
                f"cdam_status cdam_generated_check_{name}_features",
                [f"const {STATE_TYPE} *state", "cdam_error *err"],
                ";",
            )
        )
    out.add().add("#endif")
    return out.text()


def source(model: Model) -> str:
    fields = sorted(model.isolating, key=model.feature_number)
    out = Writer()
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    for line in (
        '#include "feature_needs.h"',
        "",
        '#include "option_fields.h"',
        '#include "options/features.h"',
        '#include "options/generated.h"',
    ):
        out.add(line)
    out.add().add(f"const unsigned cdam_generated_revision = {model.revision};")
    out.add().comment(
        "Every feature known, in ascending order. The array has one element more, so that it is "
        "never empty."
    )
    out.add(f"enum {{ FEATURE_COUNT = {len(fields)} }};")
    out.add().add(
        arguments(
            "static void list_features",
            [f"const {OPTIONS_TYPE} *options", "cdam_feature_need list[FEATURE_COUNT + 1]"],
            " {",
        )
    )
    if not fields:
        out.add("  (void)options;")
    for index, field in enumerate(fields):
        value = next(v for v in model.features.values if v.name == field.feature)
        out.add(f"  list[{index}] = (cdam_feature_need){{")
        out.add(f"      .number = {enum_value(model.features, value)},")
        out.add(f"      .name = {c_string(value.name)},")
        out.add(f"      .option = {c_string(field.name)},")
        out.add(f"      .needed = options && {in_use(field)}(options),").add("  };")
    out.add("  list[FEATURE_COUNT] = (cdam_feature_need){0};").add("}")
    for name, helper, extra in (
        ("check_known_features", "check_known", "cdam_generated_revision, "),
        ("check_needed_features", "check_needed", ""),
        ("derive_features", "replace", ""),
    ):
        const = "" if name == "derive_features" else "const "
        out.add().add(
            arguments(
                f"cdam_status cdam_generated_{name}",
                [f"{const}{STATE_TYPE} *state", "cdam_error *err"],
                " {",
            )
        )
        out.add("  cdam_feature_need list[FEATURE_COUNT + 1];")
        out.add("  list_features(state->options, list);")
        out.add(f"  return cdam_features_{helper}(state, list, FEATURE_COUNT, {extra}err);").add(
            "}"
        )
    _deadline(out, model)
    return out.text()


def emit(model: Model) -> dict[str, str]:
    return {"c/feature_needs.h": header(model), "c/feature_needs.c": source(model)}
