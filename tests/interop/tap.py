# SPDX-License-Identifier: Apache-2.0
"""TAP on stdout."""

import os
import traceback

IN_CI = os.environ.get("CI") == "true"


class Failure(Exception):
    """A check that did not hold; its text is for people."""


def expect(truth, text):
    if not truth:
        raise Failure(text)


def equal(found, wanted, what):
    expect(found == wanted, f"{what}\n  found:  {found!r}\n  wanted: {wanted!r}")


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def line(self, good, name, note=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}{note}", flush=True)

    def comment(self, text):
        for line in text.splitlines():
            print(f"# {line}", flush=True)

    def case(self, name, check, *arguments):
        try:
            check(*arguments)
        except Failure as failure:
            self.line(False, name)
            self.comment(str(failure))
        except Exception:  # pylint: disable=broad-except
            self.line(False, name)
            self.comment(traceback.format_exc())
        else:
            self.line(True, name)

    def skip(self, name, reason):
        """Loud, and in CI a failure."""
        if IN_CI:
            self.line(False, name)
            self.comment(f"must not be skipped in CI: {reason}")
        else:
            self.line(True, name, f" # SKIP {reason}")

    def finish(self):
        print(f"1..{self.count}", flush=True)
        return 1 if self.failed else 0
