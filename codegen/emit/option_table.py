# SPDX-License-Identifier: Apache-2.0
"""generated/docs/options.md: the option table."""

from __future__ import annotations

from emit import describe
from model import Field, Model
from text import made_by

COMPARISONS = {
    "EXACT": "equal",
    "SUBSET": "contains",
    "ABSENT_OR_EQUAL": "absent or equal",
    "ONLY_NETWORK": "no network but this one, without addresses",
    "RESOLVED": "equal to the state's `{resolved}`",
}


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _flag(field: Field) -> str:
    metavar = f" {field.flag.metavar}" if field.flag.metavar else ""
    return f"`--{field.flag.name}{metavar}`" + ("…" if field.many else "")


def _compared(field: Field) -> str:
    return "<br>".join(
        f"`{look.path}`: " + COMPARISONS[look.compare].format(resolved=look.resolved)
        for look in field.inspect
    )


def _row(field: Field) -> str:
    cells = [
        f"`{field.name}`",
        _flag(field),
        f"r{field.since}",
        "<br>".join(f"`{place.path}`" for place in field.create),
        _compared(field),
        f"yes: `{field.feature}`" if field.isolates else "no",
        describe.sentence(describe.rules(field)),
        field.help + (" Values are hidden where a state is shown." if field.sensitive else ""),
    ]
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


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
    return "\n".join(lines) + "\n"


def emit(model: Model) -> dict[str, str]:
    return {"docs/options.md": table(model)}
