# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a schema, gathered so that all of it can be reported at once."""

from __future__ import annotations


class SchemaError(Exception):
    """A schema that cannot be used; `problems` are lines of `file:line: reason`."""

    def __init__(self, problems: list[str]):
        super().__init__("\n".join(problems))
        self.problems = problems


class Problems:
    """A list of findings that grows while the checks run."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, where: str, reason: str) -> None:
        line = f"{where}: {reason}"
        if line not in self.lines:
            self.lines.append(line)

    def raise_if_any(self) -> None:
        if self.lines:
            raise SchemaError(self.lines)
