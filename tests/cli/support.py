# SPDX-License-Identifier: Apache-2.0
"""What the tests of the CLI share: running it, states made by hand, and TAP."""

import hashlib
import hmac
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import unittest
from pathlib import Path

CLI = os.environ.get("COFFERDAM_CLI", "cofferdam")

OK, USAGE, INVALID, DRIFT, ENGINE, TIMED_OUT, EXEC_FAILED = 0, 2, 10, 11, 12, 124, 125

SESSION_ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
CONTAINER_ID = "c0" * 32
IMAGE_ID = "sha256:" + "1a" * 32


# ---- states, written as any language could ----

def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def unsealed(network_mode=1, features=(1,), image="busybox:test"):
    options = field(1, image) + (field(5, network_mode) if network_mode else b"")
    packed = b"".join(varint(feature) for feature in features)
    return (field(1, 2) + (field(2, packed) if packed else b"") + field(3, SESSION_ID) +
            field(4, options) + field(5, IMAGE_ID) + field(6, CONTAINER_ID))


def sealed(state):
    return state + field(2047, field(1, 1) + field(3, hashlib.sha256(state).digest()))


def sealed_with_key(state, key, key_id):
    digest = hmac.new(key, state, hashlib.sha256).digest()
    return state + field(2047, field(1, 2) + field(2, key_id) + field(3, digest))


# ---- an engine that must not be asked ----

class Tripwire:
    """A listening socket that counts who comes."""

    def __init__(self, path):
        self.touched = 0
        self.endpoint = f"unix://{path}"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.socket.listen(16)
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.touched += 1
            connection.close()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


# ---- tests ----

class CliTest(unittest.TestCase):
    def setUp(self):
        self.dir = Path(tempfile.mkdtemp(prefix="cofferdam-cli-"))
        self.addCleanup(shutil.rmtree, self.dir, True)

    def path(self, name, content=None):
        path = self.dir / name
        if content is not None:
            path.write_bytes(content)
        return path

    def run_cli(self, *arguments, stdin=b"", host=None, bound=False, **kwargs):
        """With `bound`, root is bound by file modes as everybody else is."""
        environment = dict(os.environ, **({"DOCKER_HOST": host} if host else {}))
        kwargs.setdefault("stdout", subprocess.PIPE)
        command = [CLI, *map(str, arguments)]
        if bound and os.geteuid() == 0:
            command = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", *command]
        return subprocess.run(command, input=stdin, stderr=subprocess.PIPE, env=environment,
                              check=False, timeout=120, **kwargs)

    def expect(self, code, *arguments, **kwargs):
        done = self.run_cli(*arguments, **kwargs)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        return done

    def refused(self, code, *arguments, says=(), **kwargs):
        """The exit code, nothing on stdout, and one line on stderr that holds all of `says`."""
        done = self.expect(code, *arguments, **kwargs)
        text = done.stderr.decode()
        self.assertFalse(done.stdout, arguments)
        self.assertTrue(text.startswith("cofferdam: "), (arguments, text))
        self.assertEqual(text.count("\n"), 1, (arguments, text))
        self.assertTrue(text.endswith("\n"), (arguments, text))
        for piece in [says] if isinstance(says, str) else says:
            self.assertIn(piece, text, arguments)
        return text


class TapResult(unittest.TestResult):
    def line(self, word, test, note=""):
        name = test.id().split(".", 1)[-1].replace("#", "")
        print(f"{word} {self.testsRun} - {name}{note}", flush=True)

    def details(self, error):
        for line in "".join(traceback.format_exception(*error)).splitlines():
            print("# " + line, flush=True)

    def addSuccess(self, test):
        self.line("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line("not ok", test)
        self.details(err)

    def addError(self, test, err):
        super().addError(test, err)
        self.line("not ok", test)
        self.details(err)

    def addSkip(self, test, reason):
        self.line("ok", test, f" # SKIP {reason}")


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    print(f"1..{suite.countTestCases()}", flush=True)
    result = TapResult()
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
