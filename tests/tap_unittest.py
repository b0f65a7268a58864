# SPDX-License-Identifier: Apache-2.0
"""Runs unittest modules and prints TAP: tap_unittest.py FILE..."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import unittest


class TapResult(unittest.TestResult):
    """One TAP line for each test, its traceback as comments."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def _line(self, good: bool, test, note: str = "") -> None:
        self.count += 1
        name = test.id().replace("#", " ")
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}{note}", flush=True)

    def _trace(self, test, error) -> None:
        self._line(False, test)
        for line in self._exc_info_to_string(error, test).rstrip().splitlines():
            print("# " + line, flush=True)

    def addSuccess(self, test) -> None:
        super().addSuccess(test)
        self._line(True, test)

    def addFailure(self, test, err) -> None:
        super().addFailure(test, err)
        self._trace(test, err)

    def addError(self, test, err) -> None:
        super().addError(test, err)
        self._trace(test, err)

    def addSkip(self, test, reason) -> None:
        super().addSkip(test, reason)
        self._line(True, test, f" # SKIP {reason}")

    def addSubTest(self, test, subtest, err) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._trace(subtest, err)


def load(path: pathlib.Path) -> unittest.TestSuite:
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def main() -> int:
    suite = unittest.TestSuite(load(pathlib.Path(name).resolve()) for name in sys.argv[1:])
    result = TapResult()
    suite.run(result)
    print(f"1..{result.count}")
    return 0 if result.wasSuccessful() and result.count else 1


if __name__ == "__main__":
    sys.exit(main())
