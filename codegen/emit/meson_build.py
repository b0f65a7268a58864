# SPDX-License-Identifier: Apache-2.0
"""generated/meson.build: the list of what the others made."""

from __future__ import annotations

from text import made_by


def emit(names: list[str]) -> dict[str, str]:
    def files(prefix: str, suffix: str) -> list[str]:
        return [
            f"  '{name}',"
            for name in sorted(names)
            if name.startswith(prefix) and name.endswith(suffix)
        ]

    lines = [
        made_by("# ", ""),
        "library_sources += files(",
        *files("c/", ".c"),
        ")",
        "generated_public_headers = files(",
        *files("include/", ".h"),
        ")",
        "",
        "# For the command-line tool: the options' flags.",
        "cli_flag_sources = files(",
        "  '../runtime/options/flag_values.c',",
        *files("cli/", ".c"),
        ")",
    ]
    return {"meson.build": "\n".join(lines) + "\n"}
