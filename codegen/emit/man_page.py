# SPDX-License-Identifier: Apache-2.0
"""generated/docs/cofferdam-options.7: the options as a manual page, in mdoc."""

from __future__ import annotations

import re
import textwrap

from emit import describe
from model import Field, Model
from text import made_by

DATE = "November 30, 2026"
LINE = 78


def _escaped(text: str) -> str:
    return text.replace("\\", "\\e").replace("–", "\\(en")


def _sentences(text: str) -> list[str]:
    """mdoc wants each sentence on lines of its own."""
    out = []
    for sentence in re.split(r"(?<=[.;:]) (?=[A-Z-])", text):
        for line in textwrap.wrap(
            _escaped(sentence), LINE, break_on_hyphens=False, break_long_words=False
        ):
            out.append("\\&" + line if line[0] in ".'" else line)
    return out


def _word(text: str) -> str:
    """An argument of a macro that is none itself."""
    if " " not in text:
        return "\\&" + _escaped(text)
    return '"' + _escaped(text).replace('"', "\\(dq") + '"'


def _breakable(text: str) -> str:
    """The same, which may be broken behind commas."""
    return _word(text).replace(",", ",\\:")


def _heading(field: Field) -> str:
    value = f" Ar {_word(field.flag.metavar)}" if field.flag.metavar else ""
    return f".It Fl Fl {field.flag.name}{value}"


def _values(field: Field) -> list[str]:
    if not field.enum:
        return []
    out = [".Bl -tag -width 12n -compact"]
    for value in field.enum.values:
        if value.docker:
            out += [f".It Cm {_word(value.docker)}", *_sentences(value.help)]
    return out + [".El"]


def _option(field: Field) -> list[str]:
    out = [_heading(field), *_sentences(field.help)]
    if field.many:
        out.append("Can be given several times.")
    out += _values(field)
    rules = describe.sentence(describe.rules(field)) if not field.enum else ""
    out += _sentences(rules)
    if field.isolates:
        out += [
            "What it asks for is verified on the container, and there is a",
            f".Fl Fl require-{field.flag.name} .",
        ]
    if field.sensitive:
        out.append("Values are hidden where a state is shown.")
    return out + [f"Since schema revision {field.since}."]


def _profile(profile) -> list[str]:
    out = [
        ".Pp",
        "The profile",
        f".Cm {_word(profile.value.docker)}",
        "sets, where an option was not set:",
        ".Bl -tag -width Ds -compact -offset indent",
    ]
    for field, value in profile.settings:
        name = f"Fl Fl {field.flag.name}" if field.flag else f"Li {field.name}"
        words = [f".Li {_breakable(one)}" for one in describe.setting(value)]
        out += [f".It {name}", *"\n.br\n".join(words).split("\n")]
    return out + [".El"]


def page(model: Model) -> str:
    flags = [field for field in model.options.fields if field.flag]
    lines = [
        made_by('.\\" ', ""),
        f".Dd {DATE}",
        ".Dt COFFERDAM-OPTIONS 7",
        ".Os",
        ".Sh NAME",
        ".Nm cofferdam-options",
        ".Nd what a sandbox can be created with",
        ".Sh DESCRIPTION",
        "These are the flags of",
        ".Ic cofferdam create ,",
        f"as of schema revision {model.revision}.",
        "The C interface has a setter for each in",
        ".In cofferdam/options.h ,",
        "and a state keeps all of them.",
        "An option that is not given sends nothing to the engine and is not compared.",
        ".Bl -tag -width Ds",
    ]
    for field in flags:
        lines += _option(field)
    lines.append(".El")
    profiles = [line for profile in model.profiles for line in _profile(profile)]
    if profiles:
        lines += [".Sh PROFILES", *profiles[1:]]
    lines += [
        ".Sh SEE ALSO",
        ".Xr cofferdam 1 ,",
        ".Xr libcofferdam 3",
    ]
    return "\n".join(lines) + "\n"


def emit(model: Model) -> dict[str, str]:
    return {"docs/cofferdam-options.7": page(model)}
