# SPDX-License-Identifier: Apache-2.0
"""A small client of the agent's protocol, for the tests: one stream, any number of channels."""
import os
import select
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def load_messages():
    out = tempfile.mkdtemp(prefix="agent-pb2-")
    subprocess.run(
        ["protoc", "-I" + os.path.join(ROOT, "schema"), "--python_out=" + out,
         "cofferdam/agent/v1/agent.proto"], check=True, cwd=os.path.join(ROOT, "schema"))
    sys.path.insert(0, os.path.join(out, "cofferdam", "agent", "v1"))
    import agent_pb2
    return agent_pb2


pb = load_messages()


class Closed(Exception):
    pass


class Failed(Exception):
    def __init__(self, error):
        super().__init__("%s %s errno %d: %s" % (
            pb.ErrorCode.Name(error.code), pb.Step.Name(error.step), error.system_errno,
            error.message))
        self.error = error
        self.code = error.code
        self.errno = error.system_errno
        self.step = error.step


class Result:
    def __init__(self):
        self.out = b""
        self.err = b""
        self.exit = None
        self.started = None
        self.lost = [0, 0]
        self.ends = []
        self.broken = False
        self.messages = []


class Client:
    """`argv` runs something whose standard input and output are the agent's stream."""

    def __init__(self, argv, hello=True, credit=1 << 20, env=None):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, bufsize=0, env=env)
        self.buffer = bytearray()
        self.waiting = {}
        self.next = 0
        self.initial = credit
        self.spent = {}
        self.credit = {}
        self.held = set()  # channels that get no more credit
        self.deadline = 60
        self.hello = None
        if hello:
            self.say_hello()

    # ---- frames
    def raw(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view):]

    @staticmethod
    def frame(message):
        data = message.SerializeToString()
        return struct.pack("<I", len(data)) + data

    def send(self, channel, **body):
        self.raw(self.frame(pb.ToAgent(channel=channel, **body)))

    def fill(self, timeout):
        fd = self.process.stdout.fileno()
        if not select.select([fd], [], [], timeout)[0]:
            raise TimeoutError("nothing from the agent in %s s" % timeout)
        data = os.read(fd, 1 << 20)
        if not data:
            raise Closed()
        self.buffer += data

    def receive(self, timeout=None):
        timeout = self.deadline if timeout is None else timeout
        while True:
            if len(self.buffer) >= 4:
                length = struct.unpack_from("<I", self.buffer)[0]
                assert 0 < length <= 512 * 1024, length
                if len(self.buffer) >= 4 + length:
                    data = bytes(self.buffer[4:4 + length])
                    del self.buffer[:4 + length]
                    message = pb.FromAgent.FromString(data)
                    self.account(message, length)
                    return message
            self.fill(timeout)

    def account(self, message, length):
        kind = message.WhichOneof("body")
        assert kind, message
        n = message.channel
        if kind == "credit":
            self.credit[n] = self.credit.get(n, 0) + message.credit.bytes
        free = kind in ("data", "output") and not getattr(message, kind).data
        if kind in ("data", "output", "entry", "process_info", "watch_event") and not free:
            self.spent[n] = self.spent.get(n, 0) + length
            if n not in self.held and self.spent[n] > self.initial // 2:
                self.send(n, credit=pb.Credit(bytes=self.spent[n]))
                self.spent[n] = 0
        if kind == "done":
            self.spent.pop(n, None)

    def next_on(self, channel, timeout=None):
        while True:
            queue = self.waiting.get(channel)
            if queue:
                return queue.pop(0)
            message = self.receive(timeout)
            self.waiting.setdefault(message.channel, []).append(message)

    def say_hello(self, low=1, high=1):
        self.send(0, client_hello=pb.ClientHello(min_version=low, max_version=high,
                                                 initial_credit=self.initial, client="test"))
        self.hello = self.next_on(0).agent_hello
        return self.hello

    def open(self, **body):
        self.next += 1
        self.credit[self.next] = self.hello.initial_credit
        self.send(self.next, **body)
        return self.next

    def collect(self, channel, timeout=None):
        """All messages of the channel to its Done; raises Failed."""
        messages = []
        while True:
            message = self.next_on(channel, timeout)
            if message.WhichOneof("body") == "done":
                self.waiting.pop(channel, None)
                if message.done.HasField("error"):
                    raise Failed(message.done.error)
                self.done = message.done
                return messages
            messages.append(message)

    def call(self, timeout=None, **body):
        return self.collect(self.open(**body), timeout)

    # ---- processes
    def start(self, argv, **options):
        options.setdefault("inherit_env", True)
        argv = [a.encode() if isinstance(a, str) else a for a in argv]
        return self.open(start=pb.Start(argv=argv, **options))

    def started(self, channel, timeout=None):
        message = self.next_on(channel, timeout)
        if message.WhichOneof("body") == "done":
            raise Failed(message.done.error)
        assert message.WhichOneof("body") == "started", message
        return message.started

    def result(self, channel, timeout=None):
        result = Result()
        messages = self.collect(channel, timeout)
        for message in messages:
            kind = message.WhichOneof("body")
            result.messages.append(kind)
            if kind == "started":
                result.started = message.started
            elif kind == "exited":
                result.exit = message.exited
            elif kind == "input_broken":
                result.broken = True
            elif kind == "output":
                o = message.output
                result.lost[o.stream - 1] += o.lost
                if o.stream == pb.STREAM_OUTPUT:
                    result.out += o.data
                else:
                    result.err += o.data
                if o.end:
                    result.ends.append(o.stream)
        return result

    def run(self, argv, timeout=None, data=None, **options):
        channel = self.start(argv, input=data is not None, **options)
        if data is not None:
            self.feed(channel, data)
        return self.result(channel, timeout)

    def feed(self, channel, data, end=True, chunk=60000):
        """Data as credit allows, reading meanwhile."""
        at = 0
        while at < len(data):
            while self.credit.get(channel, 0) <= 0:
                message = self.receive()
                self.waiting.setdefault(message.channel, []).append(message)
                if message.channel == channel and message.WhichOneof("body") in (
                        "input_broken", "done"):
                    return
            body = pb.ToAgent(channel=channel, data=pb.Data(data=data[at:at + chunk]))
            frame = self.frame(body)
            self.credit[channel] -= len(frame) - 4
            self.raw(frame)
            at += chunk
        if end:
            self.send(channel, data=pb.Data(end=True))

    def close(self):
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except OSError:
                pass
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()


def eventually(check, seconds=60, pause=0.02):
    end = time.time() + seconds
    while True:
        value = check()
        if value or time.time() > end:
            return value
        time.sleep(pause)
