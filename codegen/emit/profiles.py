# SPDX-License-Identifier: Apache-2.0
"""generated/c/profiles.c: profiles, resolved into the options that they stand for."""

from __future__ import annotations

from emit.c_names import OPTIONS_TYPE, STATE_TYPE, enum_value, in_use, public_value
from model import EnumValue, Field, Model, Profile
from text import Writer, arguments, c_string, made_by


def _scalar(value) -> str:
    if isinstance(value, EnumValue):
        return public_value(value)
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _calls(model: Model, field: Field, value) -> list[str]:
    """The calls that set one option, and what keeps a value that is there."""
    user = "cdam_options_user(options)" if model.options.field("user") else '""'
    if field.kind == "map":
        return [
            arguments(
                "status = cdam_profile_put",
                [
                    f"cdam_options_{field.singular}(options, {c_string(key)})",
                    "options",
                    c_string(key),
                    c_string(text),
                    user,
                    f"cdam_options_set_{field.singular}",
                    "err",
                ],
                ";",
                4,
            )
            for key, text in value
        ]
    setter = f"cdam_options_set_{field.name}"
    if field.repeated:
        item = lambda one: c_string(one) if isinstance(one, str) else str(one)
        return [
            f"    status = cdam_options_add_{field.singular}(options, {item(one)}, err);"
            for one in value
        ]
    if field.kind == "string":
        return [f"    status = {setter}(options, {c_string(value)}, err);"]
    return [f"    {setter}(options, {_scalar(value)});"]


def _apply(out: Writer, model: Model, profile: Profile) -> None:
    out.add().add(
        arguments(
            f"static cdam_status apply_{profile.value.short.lower()}",
            ["cdam_options *options", "cdam_error *err"],
            " {",
        )
    )
    out.add("  cdam_status status = CDAM_OK;")
    # Maps last: their values may speak of what the others set.
    for field, value in sorted(profile.settings, key=lambda one: one[0].kind == "map"):
        calls = _calls(model, field, value)
        if field.kind == "map":
            for call in calls:
                out.add("  if (status == CDAM_OK) {").add(call).add("  }")
            continue
        out.add(f"  if (status == CDAM_OK && !{in_use(field)}(&options->message)) {{")
        for index, call in enumerate(calls):
            out.add(call if index == 0 else call.replace("status =", "if (!status) status ="))
        out.add("  }")
    out.add("  return status;").add("}")


def _switch(out: Writer, model: Model, call: str) -> None:
    profile = model.profile
    for one in model.profiles:
        out.add(f"  case {enum_value(profile.enum, one.value)}:")
        out.add(f"    return {call.format(one.value.short.lower())};")
    out.add("  default:").add("    return CDAM_OK;").add("  }").add("}")


def _resolve(out: Writer, model: Model) -> None:
    out.add().add(
        arguments(
            "cdam_status cdam_generated_resolve_profile",
            ["cdam_options *options", "cdam_error *err"],
            " {",
        )
    )
    if not model.profiles:
        out.add("  (void)options;").add("  return cdam_ok(err);").add("}")
        return
    out.add(f"  switch (options->message.{model.profile.name}) {{")
    _switch(out, model, "apply_{}(options, err)")


def _needs(out: Writer, profile: Profile) -> None:
    out.add().add(
        arguments(
            f"static cdam_status check_{profile.value.short.lower()}",
            [f"const {STATE_TYPE} *state", "cdam_error *err"],
            " {",
        )
    )
    out.add(f"  const {OPTIONS_TYPE} *options = state->options;")
    for field, _ in profile.settings:
        if not field.isolates:
            continue
        # What a later revision brought, a state of an older one cannot have.
        later = field.since > profile.value.since
        when = f"state->schema_revision >= {field.since} && " if later else ""
        out.add(f"  if ({when}!{in_use(field)}(options)) {{")
        out.add(
            f"    return cdam_fail_unresolved({c_string(field.name)}, "
            f"{c_string(profile.value.docker)}, err);"
        ).add("  }")
    out.add("  return CDAM_OK;").add("}")


def _check(out: Writer, model: Model) -> None:
    out.add().add(
        arguments(
            "cdam_status cdam_generated_check_profile",
            [f"const {STATE_TYPE} *state", "cdam_error *err"],
            " {",
        )
    )
    if not model.profiles:
        out.add("  (void)state;").add("  (void)err;").add("  return CDAM_OK;").add("}")
        return
    out.add(f"  switch (state->options->{model.profile.name}) {{")
    _switch(out, model, "check_{}(state, err)")


def source(model: Model) -> str:
    out = Writer()
    out.add(made_by()).add("/* SPDX-License-Identifier: Apache-2.0 */")
    for line in (
        '#include "options/profiles.h"',
        "",
        "#include <cofferdam/options.h>",
        "",
        '#include "base/fail.h"',
        '#include "option_fields.h"',
        '#include "options/generated.h"',
    ):
        out.add(line)
    for profile in model.profiles:
        _apply(out, model, profile)
        _needs(out, profile)
    _resolve(out, model)
    _check(out, model)
    return out.text()


def emit(model: Model) -> dict[str, str]:
    return {"c/profiles.c": source(model)}
