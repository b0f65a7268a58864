# SPDX-License-Identifier: Apache-2.0
"""generated/docs/options.md: the option table."""

from __future__ import annotations

from emit import describe
from model import Field, Model
from text import made_by
from vocabulary import CreatePlace, Inspection

COMPARISONS = {
    "EXACT": "equal",
    "SUBSET": "contains",
    "ABSENT_OR_EQUAL": "absent or equal",
    "ONLY_NETWORK": "no network but this one, without addresses",
    "RESOLVED": "equal to the state's `{resolved}`",
    "LABEL": "equal",
    "NO_CAPABILITIES": "all are dropped, none is added",
    "NO_NEW_PRIVILEGES": "that, and nothing else",
    "TMPFS": "contains, with nothing against it",
    "IMAGE_PLATFORM": "the platform",
}


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _flag(field: Field) -> str:
    metavar = f" {field.flag.metavar}" if field.flag.metavar else ""
    return f"`--{field.flag.name}{metavar}`" + ("…" if field.many else "")


def _sent(place: CreatePlace) -> str:
    if place.query:
        return f"`?{place.query}=`"
    return f"label `{place.label}`" if place.label else f"`{place.path}`"


def _looked_at(look: Inspection) -> str:
    if look.compare == "IMAGE_PLATFORM":
        return "the image"
    return f"label `{look.label}`" if look.label else f"`{look.path}`"


def _compared(field: Field) -> str:
    return "<br>".join(
        f"{_looked_at(look)}: " + COMPARISONS[look.compare].format(resolved=look.resolved)
        for look in field.inspect
    )


def _row(field: Field) -> str:
    cells = [
        f"`{field.name}`",
        _flag(field),
        f"r{field.since}",
        "<br>".join(_sent(place) for place in field.create),
        _compared(field),
        f"yes: `{field.feature}`" if field.isolates else "no",
        describe.sentence(describe.rules(field)),
        field.help + (" Values are hidden where a state is shown." if field.sensitive else ""),
    ]
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _setting(value) -> str:
    return "<br>".join(f"`{text}`" for text in describe.setting(value))


def table(model: Model) -> str:
    heads = [
        "Option",
        "Flag",
        "Revision",
        "Create body",
        "Compared with inspect",
        "Isolates",
        "Rules",
        "What it is",
    ]
    lines = [
        made_by("<!-- ", " -->"),
        "# Options",
        "",
        f"What a sandbox can be created with, as of schema revision {model.revision}. An option "
        "that is not in use sends",
        "no key and is not compared. One that isolates lists its feature in the state's "
        "`required_features`.",
        "",
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
    ]
    lines += [_row(field) for field in model.options.fields]
    for enum in model.enums:
        if not any(field.enum == enum for field in model.options.fields):
            continue
        lines += [
            "",
            f"## {enum.name}",
            "",
            "| Value | Word | Revision | What it is |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| `{value.name}` | {f'`{value.docker}`' if value.docker else '–'} | r{value.since} "
            f"| {_cell(value.help)} |"
            for value in enum.values
        ]
    for profile in model.profiles:
        lines += [
            "",
            f"## Profile `{profile.value.docker}`",
            "",
            "What it sets where an option was not set.",
            "",
            "| Option | Value |",
            "|---|---|",
        ]
        lines += [f"| `{field.name}` | {_cell(_setting(value))} |" for field, value in profile.settings]
    return "\n".join(lines) + "\n"


def emit(model: Model) -> dict[str, str]:
    return {"docs/options.md": table(model)}
