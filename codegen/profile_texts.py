# SPDX-License-Identifier: Apache-2.0
"""The profiles: schema/profiles/NAME.txtpb, options in protobuf's text format, for each value of the
enum Profile."""

from __future__ import annotations

import dataclasses
import pathlib

from google.protobuf import descriptor_pool, message_factory, text_format

from problems import Problems

PACKAGE = "cofferdam.v1"


def read(schema: pathlib.Path) -> dict[str, str]:
    """The texts, by the name of the file. Their order is always the same."""
    found = sorted((schema / "profiles").glob("*.txtpb"))
    return {path.name: path.read_text("utf-8") for path in found}


def _options_class(files):
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.AddSerializedFile(file.SerializeToString())
    found = pool.FindMessageTypeByName(f"{PACKAGE}.SandboxOptions")
    make = getattr(message_factory, "GetMessageClass", None)
    return make(found) if make else message_factory.MessageFactory(pool).GetPrototype(found)


def _value(field, value):
    """A field's value as the model has it."""
    if field.kind == "map":
        return tuple(sorted(value.items(), key=lambda pair: pair[0].encode("utf-8")))
    if field.repeated:
        return tuple(value)
    if field.enum:
        return next(one for one in field.enum.values if one.number == value)
    return value


def _placeholders(problems, where, options, field, value) -> None:
    """{uid} and {gid} stand in values of maps, beside a user."""
    texts = [str(value)] if field.kind != "map" else [*value.keys()]
    if field.kind == "map":
        for text in value.values():
            rest = text.replace("{uid}", "").replace("{gid}", "")
            texts.append(rest)
            if rest != text and not getattr(options, "user", ""):
                problems.add(where, f"{field.name}: {text!r} needs a user")
    if any(brace in text for text in texts for brace in "{}"):
        problems.add(where, f"{field.name}: only {{uid}} and {{gid}} may stand in braces")


def _settings(problems, model, where, options):
    out = []
    for descriptor, value in options.ListFields():
        field = model.options.field(descriptor.name)
        if field is model.profile or field.name == "image":
            problems.add(where, f"a profile cannot set {field.name}")
        out.append((field, _value(field, value)))
        _placeholders(problems, where, options, field, value)
    return tuple(sorted(out, key=lambda setting: setting[0].number))


def _parse(problems, kind, where, text, older):
    """The options of a text; for an older schema those that it knows."""
    try:
        return text_format.Parse(text, kind(), allow_unknown_field=older)
    except text_format.ParseError as error:
        problems.add(where, f"is no SandboxOptions: {error}")
        return kind()


def _complete(problems, model, made) -> None:
    """Each isolating option is set by each profile, or says why it is not."""
    from model import Profile  # the model is made of these

    assert all(isinstance(profile, Profile) for profile in made)
    for field in model.isolating:
        for profile in made:
            sets = any(field is other for other, _ in profile.settings)
            if sets and field.unprofiled:
                problems.add(
                    field.where, f"{field.name}: `unprofiled`, yet {profile.where} sets it"
                )
            elif not sets and not field.unprofiled:
                problems.add(
                    field.where,
                    f"{field.name} isolates, so {profile.where} has to set it, or `unprofiled` "
                    "has to say why not",
                )


def add(model, files, texts: dict[str, str], older: bool):
    """The model with its profiles, or SchemaError. `older`: the texts are of a later schema."""
    from model import Profile

    problems, made, kind = Problems(), [], _options_class(files)
    values = model.profile.enum.values if model.profile else ()
    names = {f"{value.short.lower()}.txtpb": value for value in values if value.number}
    for name, value in names.items():
        where = f"profiles/{name}"
        if name not in texts:
            problems.add(value.where, f"{value.name}: {where} is missing")
            continue
        options = _parse(problems, kind, where, texts[name], older)
        made.append(Profile(value, _settings(problems, model, where, options), where))
    if model.profile:
        for name in texts:
            if name not in names:
                problems.add(f"profiles/{name}", "is the profile of no value of Profile")
    _complete(problems, model, made)
    problems.raise_if_any()
    return dataclasses.replace(model, profiles=tuple(made))
