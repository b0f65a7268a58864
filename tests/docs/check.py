#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the C examples of README.md, ARCHITECTURE.md and examples/: check.py ROOT BUILD

A block that begins with ```c and has a main() is a whole program: it is compiled with warnings
as errors, linked with the shared library, and run in an empty directory with the name of a test
image as its only argument. It has to exit with 0. A block without main() is a piece of a function
that has client, options, state, session, key and err at hand; or, when it does not compile as
that, declarations. It is only compiled. A file of examples/ is a whole program, too; the packages
that it needs besides are named in its "cc" line.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PIECE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cofferdam/cofferdam.h>
int piece(cdam_client *client, cdam_options *options, cdam_state *state, cdam_session *session,
          cdam_key *key, cdam_error *err);
int piece(cdam_client *client, cdam_options *options, cdam_state *state, cdam_session *session,
          cdam_key *key, cdam_error *err) {
(void)client; (void)options; (void)state; (void)session; (void)key; (void)err;
#line %d "%s"
%s
return 0;
}
"""
DECLARATIONS = '#include <cofferdam/cofferdam.h>\n#line %d "%s"\n%s'
PROGRAM = '#line %d "%s"\n%s'


class Tap:
    def __init__(self):
        self.count = 0

    def case(self, name, good, text=""):
        self.count += 1
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good:
            print("\n".join("# " + line for line in text.splitlines()[-40:]))

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}")


def examples(text):
    """Pairs of first line number and code."""
    for block in re.finditer(r"^( *)```c\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, block.start(2)) + 1, block.group(2)


def compile_c(root, source, output, *more):
    path = Path(output).with_suffix(".c")
    path.write_text(source)
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g",
             f"-I{root}/runtime/include", f"-I{root}/generated/include"]
    return subprocess.run(["gcc", *flags, str(path), "-o", str(output), *more],
                          capture_output=True, text=True, check=False)


def check_program(tap, root, build, name, source, work, more=()):
    done = compile_c(root, source, work / "example", *more, f"-L{build}", "-lcofferdam",
                     f"-Wl,-rpath,{build}")
    tap.case(f"{name} compiles", done.returncode == 0, done.stderr)
    if done.returncode != 0:
        return
    if not os.environ.get("DOCKER_HOST"):
        tap.skip(f"{name} runs", "DOCKER_HOST is not set")
        return
    with tempfile.TemporaryDirectory() as empty:
        try:
            done = subprocess.run([str(work / "example"), "cofferdam-test:latest"], cwd=empty,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=60, check=False)
            tap.case(f"{name} runs", done.returncode == 0,
                     f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
        except subprocess.TimeoutExpired:
            tap.case(f"{name} runs", False, "it did not end within 60 s")


def check_file(tap, root, build, path, work):
    found = list(examples(path.read_text(encoding="utf-8")))
    tap.case(f"{path.name} has a C example", bool(found),
             f"{path.name} has no block that begins with ```c")
    for line, code in found:
        name = f"{path.name}:{line}"
        if re.search(r"\bmain\s*\(", code):
            check_program(tap, root, build, name, PROGRAM % (line, path.name, code), work)
            continue
        done = compile_c(root, PIECE % (line, path.name, code), work / "piece.o", "-c")
        if done.returncode != 0:
            again = compile_c(root, DECLARATIONS % (line, path.name, code), work / "piece.o", "-c")
            done = again if again.returncode == 0 else done
        tap.case(f"{name} compiles", done.returncode == 0, done.stderr)


def check_example(tap, root, build, path, work):
    source = path.read_text(encoding="utf-8")
    packages = re.search(r"pkg-config --cflags --libs cofferdam *([^)]*)\)", source).group(1).split()
    more = []
    if packages:
        found = subprocess.run(["pkg-config", "--cflags", "--libs", *packages],
                               capture_output=True, text=True, check=False)
        if found.returncode != 0:
            tap.skip(f"examples/{path.name}", f"{' '.join(packages)} is not installed")
            return
        more = found.stdout.split()
    check_program(tap, root, build, f"examples/{path.name}", source, work, more)


def main(root, build):
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        for name in ("README.md", "ARCHITECTURE.md"):
            path = root / name
            if path.exists():
                check_file(tap, root, build, path, Path(work))
            else:
                tap.skip(f"{name} has a C example", f"there is no {name} yet")
        for path in sorted((root / "examples").glob("*.c")):
            check_example(tap, root, build, path, Path(work))
    print(f"1..{tap.count}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
