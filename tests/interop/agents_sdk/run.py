#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions of the OpenAI Agents SDK: run.py WORK [CASE…]; run.py --build WORK

The library through the CLI that COFFERDAM_CLI names, the SDK's own package (pinned in
requirements.txt, installed into WORK) and the engine that DOCKER_HOST names. --build only installs
the package, where there is a network.
"""

import os
import sys
from pathlib import Path

from support import Place, remove_containers

import adoption  # noqa: I001
import package
from tap import Tap


def check(tap, case, work, *arguments):
    name = f"agents-sdk: {case.__name__}"
    try:
        tap.case(name, case, *arguments, Place(work, case.__name__))
    finally:
        remove_containers()


def main(work, wanted):
    tap = Tap()
    if not os.environ.get("DOCKER_HOST"):
        tap.skip("agents-sdk: everything", "DOCKER_HOST is not set")
        return tap.finish()
    work.mkdir(parents=True, exist_ok=True)
    for case in adoption.CASES:
        if not wanted or case.__name__ in wanted:
            check(tap, case, work)
    sdk = package.Package(work)
    try:
        sdk.install()
    except package.Missing as problem:
        tap.skip("agents-sdk: the package", f"it could not be installed: {problem}")
        return tap.finish()
    for case in package.CASES:
        if not wanted or case.__name__ in wanted:
            check(tap, case, work, sdk)
    return tap.finish()


def build(work):
    work.mkdir(parents=True, exist_ok=True)
    try:
        package.Package(work).install()
    except package.Missing as problem:
        print(f"agents-sdk: it could not be installed: {problem}")
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--build":
        sys.exit(build(Path(sys.argv[2]).resolve()))
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
