# SPDX-License-Identifier: Apache-2.0
"""docs/exchanging-state.md shows the example files as they are tested here."""

import re
from pathlib import Path

from tap import expect

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/exchanging-state.md"
EXAMPLES = {
    "tests/interop/python/cofferdam_state.py": "python",
    "tests/interop/go/cofferdamstate/state.go": "go",
    "tests/interop/javascript/cofferdam_state.js": "javascript",
    "tests/interop/java/src/main/java/example/CofferdamState.java": "java",
    "tests/interop/rust/src/cofferdam_state.rs": "rust",
}
# A comment that names the file, and the block below it.
SNIPPET = re.compile(r"(<!-- snippet (\S+) -->\n)```(\w+)\n(.*?)```\n", re.DOTALL)


def shown(path):
    """The file without its licence line, which is in the page's way."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if "SPDX-License-Identifier" not in line).lstrip("\n")


def check_snippet(path):
    found = {name: (language, text) for _, name, language, text
             in SNIPPET.findall(PAGE.read_text(encoding="utf-8"))}
    expect(path in found, f"{PAGE.name} does not show {path}")
    expect(found[path] == (EXAMPLES[path], shown(path)),
           f"{PAGE.name} differs from {path}; tests/interop/run.py --write-docs copies it")


def cases():
    return [(f"{PAGE.name} shows {path}", lambda path=path: check_snippet(path))
            for path in EXAMPLES]


def write():
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(SNIPPET.sub(
        lambda match: f"{match[1]}```{EXAMPLES[match[2]]}\n{shown(match[2])}```\n", text),
        encoding="utf-8")
    return 0
