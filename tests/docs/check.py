#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the C examples of README.md, ARCHITECTURE.md, docs/live-sessions.md and
examples/: check.py ROOT BUILD

A block that begins with ```c and has a main() is a whole program: it is compiled with warnings
as errors, linked with the shared library, and run in an empty directory with the name of a test
image as its only argument. It has to exit with 0. A block without main() is a piece of a function
that has client, options, state, session, key and err at hand; or, when it does not compile as
that, declarations. It is only compiled. A file of examples/ is a whole program, too; the packages
that it needs besides are named in its "cc" line; it is run with the sanitizers of addresses, leaks
and undefined behaviour. resumable_worker is killed in the middle, and run again. The example of
libcofferdam.3 is a whole program as well.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
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
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
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


def run_program(program, directory):
    try:
        done = subprocess.run([str(program), "cofferdam-test:latest"], cwd=directory,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False)
        return done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    except subprocess.TimeoutExpired:
        return False, "it did not end within 60 s"


def build_program(tap, root, build, name, source, work, more=()):
    """The program, or None when it does not compile or cannot be run."""
    done = compile_c(root, source, work / "example", *more, f"-L{build}", "-lcofferdam",
                     f"-Wl,-rpath,{build}")
    tap.case(f"{name} compiles", done.returncode == 0, done.stderr)
    if done.returncode != 0:
        return None
    if not os.environ.get("DOCKER_HOST"):
        tap.skip(f"{name} runs", "DOCKER_HOST is not set")
        return None
    return work / "example"


def check_program(tap, root, build, name, source, work, more=()):
    program = build_program(tap, root, build, name, source, work, more)
    if program:
        with tempfile.TemporaryDirectory() as empty:
            tap.case(f"{name} runs", *run_program(program, empty))


def check_worker(tap, root, build, name, source, work):
    """Killed when its job has said something; the next one has to get all of it."""
    program = build_program(tap, root, build, name, source, work, SANITIZERS)
    if not program:
        return
    with tempfile.TemporaryDirectory() as empty:
        log = Path(empty) / "job.log"
        with subprocess.Popen([str(program), "cofferdam-test:latest"], cwd=empty,
                              stdout=subprocess.DEVNULL) as first:
            deadline = time.monotonic() + 30
            while not (log.exists() and b"step 3" in log.read_bytes()):
                if time.monotonic() > deadline or first.poll() is not None:
                    break
                time.sleep(0.02)
            first.kill()
        before = log.read_bytes()
        tap.case(f"{name} is killed in the middle", first.returncode == -signal.SIGKILL and
                 b"step 3" in before and b"step 30" not in before, before.decode())
        good, text = run_program(program, empty)
        tap.case(f"{name} runs", good, text)
        tap.case(f"{name} finds its job", "found the job" in text and "status 7" in text, text)
        steps = b"".join(b"step %d\n" % (i + 1) for i in range(30))
        tap.case(f"{name} has all of the output", log.read_bytes() == steps,
                 log.read_bytes().decode())
        tap.case(f"{name} leaves nothing behind", os.listdir(empty) == ["job.log"],
                 str(os.listdir(empty)))


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
    if path.stem == "resumable_worker":
        check_worker(tap, root, build, f"examples/{path.name}", source, work)
        return
    check_program(tap, root, build, f"examples/{path.name}", source, work, [*SANITIZERS, *more])


def check_page(tap, root, build, path, work):
    """The one program of a manual page."""
    block = re.search(r"(?ms)^\.Sh EXAMPLES$.*?^\.Bd -literal.*?\n(.*?)^\.Ed$",
                      path.read_text(encoding="utf-8")).group(1)
    check_program(tap, root, build, path.name, block.replace("\\e", "\\"), work, SANITIZERS)


def main(root, build):
    os.environ.setdefault("COFFERDAM_AGENT_DIR", str(build / "runtime/agent"))
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        for name in ("README.md", "ARCHITECTURE.md", "docs/live-sessions.md"):
            path = root / name
            if path.exists():
                check_file(tap, root, build, path, Path(work))
            else:
                tap.skip(f"{name} has a C example", f"there is no {name} yet")
        check_page(tap, root, build, root / "man/libcofferdam.3", Path(work))
        for path in sorted((root / "examples").glob("*.c")):
            check_example(tap, root, build, path, Path(work))
    print(f"1..{tap.count}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
