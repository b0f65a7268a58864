# SPDX-License-Identifier: Apache-2.0
"""A small writer of C text: indentation, wrapped comments, wrapped argument lists."""

from __future__ import annotations

import textwrap

COLUMNS = 100


def made_by(opening: str = "/* ", closing: str = " */") -> str:
    """The first line of every generated file."""
    text = "Made by codegen/generate.py from schema/; not to be edited. Again: ./dev regen"
    return opening + text + closing


def c_string(text: str) -> str:
    """A C string literal."""
    out = []
    for byte in text.encode("utf-8"):
        if byte in (0x22, 0x5C):
            out.append("\\" + chr(byte))
        elif 0x20 <= byte < 0x7F:
            out.append(chr(byte))
        else:
            out.append(f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def c_strings(text: str, indent: int) -> str:
    """A C string literal in as many pieces as lines of the page need."""
    room = COLUMNS - indent - 4
    pieces, piece = [], ""
    for word in text.split(" "):
        candidate = piece + word + " "
        if piece and len(c_string(candidate)) > room:
            pieces.append(piece)
            candidate = word + " "
        piece = candidate
    pieces.append(piece[:-1])
    return ("\n" + " " * indent).join(c_string(one) for one in pieces)


def arguments(opening: str, items: list[str], closing: str, indent: int = 0) -> str:
    """`opening(a, b, c)closing`, broken behind commas and aligned behind the parenthesis."""
    head = " " * indent + opening + "("
    lines, line = [], head
    for index, item in enumerate(items):
        last = index == len(items) - 1
        piece = item + (")" + closing if last else ",")
        if (
            len(line) + len(piece) + (0 if line.endswith("(") else 1) > COLUMNS
            and line.strip()
            and not line.endswith("(")
        ):
            lines.append(line)
            line = " " * len(head) + piece
        else:
            line += piece if line.endswith("(") else " " + piece
    lines.append(line if items else line + ")" + closing)
    return "\n".join(lines)


class Writer:
    """Lines of a text."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, text: str = "") -> "Writer":
        self.lines.extend(text.split("\n"))
        return self

    def comment(self, text: str, indent: int = 0) -> "Writer":
        pad = " " * indent
        short = f"{pad}/* {text} */"
        if "\n" not in text and len(short) <= COLUMNS:
            return self.add(short)
        wrapped: list[str] = []
        for paragraph in text.split("\n"):
            wrapped += textwrap.wrap(
                paragraph, COLUMNS - indent - 6, break_on_hyphens=False, break_long_words=False
            ) or [""]
        body = f"\n{pad} * ".join(wrapped)
        return self.add("\n".join(line.rstrip() for line in f"{pad}/* {body} */".split("\n")))

    def text(self) -> str:
        return "\n".join(self.lines).rstrip("\n") + "\n"
