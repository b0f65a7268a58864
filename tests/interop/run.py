#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The interop suite: run.py WORK [LANGUAGE…]; run.py --build WORK; run.py --write-docs

Builds the program of each language in WORK, and lets it and the C library (the CLI that
COFFERDAM_CLI names) read, write, change and refuse each other's states. See README.md.
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import documents
import truth
from checks import Checks, same_bytes
from engine import OnEngine
from languages import ALL, BuildFailed, Missing
from tap import Tap


def build(language):
    """None, or why there is no program."""
    begun = time.monotonic()
    try:
        language.folder.mkdir(parents=True, exist_ok=True)
        language.build()
    except (BuildFailed, Missing) as problem:
        return problem, time.monotonic() - begun
    return None, time.monotonic() - begun


def check_language(tap, language, work):
    checks = Checks(language, work)
    for name, check, *arguments in checks.cases():
        tap.case(f"{language.name}: {name}", check, *arguments)
    name = f"{language.name}: C resumes what it changed, on a real engine"
    if os.environ.get("DOCKER_HOST"):
        tap.case(name, OnEngine(checks).resumes)
    else:
        tap.skip(name, "DOCKER_HOST is not set")
    return checks


def build_all(languages):
    """Pairs of language and what build() says of it, in order."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        yield from zip(languages, pool.map(build, languages))


def build_only(work):
    """What needs a network, before a test run that has none. Problems are the run's to report."""
    for language, (problem, seconds) in build_all([kind(truth.SCHEMA, work) for kind in ALL]):
        print(f"{language.name}: {problem or 'built'} ({seconds:.0f} s)")


def main(work, wanted):
    tap = Tap()
    for name, check in documents.cases():
        tap.case(name, check)
    languages = [kind(truth.SCHEMA, work) for kind in ALL if not wanted or kind.name in wanted]
    ready = []
    for language, (problem, seconds) in build_all(languages):
        tap.comment(f"{language.name}: {seconds:.1f} s to build")
        if problem is None:
            tap.line(True, f"{language.name}: builds")
            ready.append(check_language(tap, language, work))
        elif isinstance(problem, Missing):
            tap.skip(f"{language.name}: everything", problem)
        else:
            tap.line(False, f"{language.name}: builds")
            tap.comment(str(problem))
    if ready:
        tap.case("C makes the same bytes of what each language wrote", same_bytes, ready)
    return tap.finish()


if __name__ == "__main__":
    if sys.argv[1:] == ["--write-docs"]:
        sys.exit(documents.write())
    if sys.argv[1:2] == ["--build"]:
        sys.exit(build_only(Path(sys.argv[2]).resolve()))
    sys.exit(main(Path(sys.argv[1]).resolve(), set(sys.argv[2:])))
