# SPDX-License-Identifier: Apache-2.0
"""What the tests of the CLI share: running it, states made by hand, and engines that are none."""

import hashlib
import hmac
import json
import os
import shutil
import socket
import socketserver
import subprocess
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler
from pathlib import Path

CLI = os.environ.get("COFFERDAM_CLI", "cofferdam")

OK, DIFFERENT, USAGE, INVALID, DRIFT, ENGINE, TIMED_OUT, EXEC_FAILED = 0, 1, 2, 10, 11, 12, 124, 125

SESSION_ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
CONTAINER_ID = "c0" * 32
IMAGE_ID = "sha256:" + "1a" * 32


# What changes a terminal, or the direction of what is on it.
ACTS = rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]"


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


def env(key, value):
    return field(4, field(1, key) + field(2, value))


def unsealed(network_mode=1, features=(1,), image="busybox:test", more=b""):
    options = field(1, image) + more + (field(5, network_mode) if network_mode else b"")
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


# ---- an engine that pulls for ever ----

class PullHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "unix"

    def log_message(self, *_):
        pass

    def answer(self, code, body):
        self.send_response(code)
        self.send_header("Api-Version", "1.41")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path.endswith("/_ping"):
            self.answer(200, b"OK")
        else:
            self.answer(404, b'{"message":"No such image"}')

    do_HEAD = do_GET

    def do_POST(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        line = (b'{"status":"Downloading\\u001b[31m","id":"layer1","progressDetail":'
                b'{"current":5242880,"total":10485760}}\r\n')
        try:
            for _ in range(600):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                self.server.pulling.set()
                time.sleep(0.05)
        except OSError:
            pass
        self.close_connection = True


class PullingEngine(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, path, handler=PullHandler):
        super().__init__(str(path), handler)
        self.endpoint = f"unix://{path}"
        self.pulling = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A client that was killed."""

    def close(self):
        self.shutdown()
        self.server_close()


# ---- an engine that ignores the network mode and removes nothing ----

class StubbornHandler(PullHandler):
    def do_GET(self):
        if "/containers/" in self.path:
            self.server.pulling.set()
            time.sleep(0.5)
            self.answer(200, json.dumps({"Id": CONTAINER_ID, "Config": {"Labels": {
                "io.cofferdam.session-id": self.server.session}},
                "HostConfig": {"NetworkMode": "bridge"}}).encode())
        elif "/images/" in self.path:
            self.answer(200, b'{"Id":"sha256:%s"}' % CONTAINER_ID.encode())
        else:
            self.answer(200, b'{"ID":"E"}')

    do_HEAD = do_GET

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.session = self.path.rpartition("name=cofferdam-")[2]
        self.answer(201, b'{"Id":"%s"}' % CONTAINER_ID.encode())

    def do_DELETE(self):
        self.answer(500, b'{"message":"not today"}')


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
