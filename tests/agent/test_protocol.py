# SPDX-License-Identifier: Apache-2.0
"""The stream itself: what is cut, absurd, out of order or too much."""
import os
import struct
import time
import unittest

from client import Closed
from common import Case, Failed, eventually, pb


class Protocol(Case):
    def refused(self, data, code="PROTOCOL", greet=True):
        c = self.open(hello=greet)
        try:
            c.raw(data)
        except BrokenPipeError:
            pass
        message = c.next_on(0, 10)
        error = (message.agent_hello if message.HasField("agent_hello") else message.done).error
        self.assertEqual(pb.ErrorCode.Name(error.code), "ERROR_CODE_" + code, data[:40])
        with self.assertRaises(Closed):
            c.receive(10)

    def test_versions(self):
        c = self.open(hello=False)
        self.assertEqual(c.say_hello(1, 99).version, 1)
        c = self.open(hello=False)
        hello = c.say_hello(2, 99)
        self.assertEqual((hello.version, hello.error.code), (0, pb.ERROR_CODE_VERSION))
        self.assertEqual((hello.min_version, hello.max_version), (1, 1))
        with self.assertRaises(Closed):
            c.receive(10)
        c = self.open(hello=False)
        self.assertEqual(c.say_hello(0, 0).error.code, pb.ERROR_CODE_VERSION)

    def test_first_message_must_be_a_hello(self):
        self.refused(self.c.frame(pb.ToAgent(ping=pb.Ping(token=1))), greet=False)
        self.refused(self.c.frame(pb.ToAgent(channel=1, client_hello=pb.ClientHello(
            min_version=1, max_version=1))), greet=False)

    def test_ping(self):
        self.c.send(0, ping=pb.Ping(token=2 ** 64 - 1))
        self.assertEqual(self.c.next_on(0).pong.token, 2 ** 64 - 1)

    def test_malformed(self):
        ping = pb.ToAgent(ping=pb.Ping(token=5)).SerializeToString()
        for data in (b"\0\0\0\0", b"\xff\xff\xff\xff", struct.pack("<I", 256 * 1024 + 1) + b"x",
                     b"\1\0\0\0\x9f", b"\2\0\0\0\x00\x00", b"\2\0\0\0\x08\x01",
                     struct.pack("<I", len(ping) * 2) + ping + ping,
                     struct.pack("<I", len(ping) - 1) + ping[:-1],
                     struct.pack("<I", len(ping) + 1) + ping + b"\x80",
                     struct.pack("<I", len(ping) + 4) + b"\x08\x01\x08\x01" + ping,
                     struct.pack("<I", len(ping) + 7) + b"\x08\xff\xff\xff\xff\xff\x01" + ping,
                     b"\6\0\0\0\x1a\xff\xff\xff\xff\x0f", b"\3\0\0\0\x1a\x01\xff",
                     b"\5\0\0\0\x1d\x01\x01\x01\x01", b"\1\0\0\0\x1b", b"\1\0\0\0\x1c"):
            self.refused(data)

    def test_wrong_for_the_channel(self):
        f = self.c.frame
        self.refused(f(pb.ToAgent(start=pb.Start(argv=[b"true"]))))
        self.refused(f(pb.ToAgent(channel=5, client_hello=pb.ClientHello()))
                     + f(pb.ToAgent(channel=0, credit=pb.Credit(bytes=1))))
        start = f(pb.ToAgent(channel=1, start=pb.Start(argv=[b"/bin/sleep", b"5"])))
        self.refused(start + start)
        self.refused(start + f(pb.ToAgent(channel=1, data=pb.Data(data=b"x"))))
        self.refused(start + f(pb.ToAgent(channel=1, entry=pb.Entry())))
        self.refused(start + f(pb.ToAgent(channel=1, credit=pb.Credit(bytes=2 ** 32 - 1))))

    def test_unknown_requests_fail_alone(self):
        c = self.c
        c.next += 1
        c.raw(b"\7\0\0\0" + b"\x08" + bytes([c.next]) + b"\xa2\x3e\x02\x08\x01")  # field 1000
        self.fails("UNKNOWN_REQUEST", lambda: c.collect(c.next))
        # An unknown field in a known request is skipped.
        body = pb.Ping(token=9).SerializeToString() + b"\xa0\x3e\x07"
        c.raw(struct.pack("<I", len(body) + 2) + b"\x1a" + bytes([len(body)]) + body)
        self.assertEqual(c.next_on(0).pong.token, 9)

    def test_data_in_every_form(self):
        """As most clients write them they are read by hand, and otherwise by protobuf-c."""
        def data(body):
            head = b"\x08" + bytes([channel]) + b"\x2a" + bytes([len(body)])
            return struct.pack("<I", len(head + body)) + head + body
        self.assertEqual(pb.ToAgent(data=pb.Data()).SerializeToString(), b"\x2a\0")
        c = self.c
        channel = c.start(["cat"], input=True)
        for body in (b"\x0a\1a", b"\x10\0\x0a\1b", b"\x0a\1b\x0a\1c", b"\x8a\0\1d",
                     b"\x0a\x81\0e", b"\xa0\x3e\7\x0a\1f", b"\x0a\1g\x10\2"):
            c.raw(data(body))
        self.assertEqual(c.result(channel).out, b"abcdefg")
        for body in (b"\x0a", b"\x0a\2a", b"\x10", b"\x0d\1a", b"\x0a\1a\x10\x80"):
            c = self.open()
            channel = c.start(["cat"], input=True)
            c.raw(data(body))
            with self.assertRaises(Closed):
                c.result(channel)

    def test_messages_for_channels_that_ended_are_ignored(self):
        c = self.c
        channel = c.start(["true"], input=True)
        c.result(channel)
        c.send(channel, data=pb.Data(data=b"late", end=True))
        c.send(channel, credit=pb.Credit(bytes=5))
        c.send(channel, cancel=pb.Cancel())
        self.assertEqual(c.run(["echo", "fine"]).out, b"fine\n")

    def test_cut_at_every_byte(self):
        hello = self.c.frame(pb.ToAgent(client_hello=pb.ClientHello(
            min_version=1, max_version=1, initial_credit=1000)))
        whole = hello + self.c.frame(pb.ToAgent(channel=1, start=pb.Start(
            argv=[b"/bin/true"], env=[b"A=b"], directory=b"/")))
        step = 1 if not self.sandbox else 9
        for cut in range(0, len(whole), step):
            c = self.open(hello=False)
            c.raw(whole[:cut])
            c.process.stdin.close()
            self.assertEqual(c.process.wait(20), 0)

    def test_byte_by_byte(self):
        c = self.c
        c.next += 1
        for b in c.frame(pb.ToAgent(channel=c.next, start=pb.Start(argv=[b"echo", b"hi"],
                                                                   inherit_env=True))):
            c.raw(bytes([b]))
        self.assertEqual(c.result(c.next).out, b"hi\n")

    def test_all_at_once(self):
        c = self.c
        frames = b"".join(c.frame(pb.ToAgent(channel=100 + i, start=pb.Start(
            argv=[b"echo", b"%d" % i], inherit_env=True))) for i in range(50))
        c.raw(frames)
        for i in range(50):
            self.assertEqual(c.result(100 + i).out, b"%d\n" % i)

    def test_credit_is_enforced(self):
        c = self.open()
        channel = c.start(["sleep", "5"], input=True)
        frame = c.frame(pb.ToAgent(channel=channel, data=pb.Data(data=b"x" * 60000)))
        with self.assertRaises((Closed, BrokenPipeError)):
            for _ in range(40):
                c.raw(frame)
            while True:
                c.receive(5)

    def test_a_client_that_stops_reading(self):
        c = self.open()
        channels = [c.start(["cat", "/dev/zero"]) for _ in range(8)]
        flood = c.frame(pb.ToAgent(ping=pb.Ping(token=1))) * 1000
        os.set_blocking(c.process.stdin.fileno(), False)
        sent = 0
        moved = time.time()
        while time.time() < moved + 1.5 and sent < 8 << 20:  # it has to stop reading at some point
            try:
                sent += os.write(c.process.stdin.fileno(), flood)
                moved = time.time()
            except BlockingIOError:
                time.sleep(0.05)
        self.assertLess(sent, 4 << 20)
        self.assertLess(self.rss(c), 12000)
        c.close()
        self.assertEqual(len(channels), 8)

    def rss(self, client):
        if self.sandbox:
            text = self.sandbox.exec("grep", "VmRSS", "/proc/1/status")
        else:
            if os.environ.get("AGENT_RUNNER") or "asan" in os.environ["AGENT"]:
                return 0
            with open("/proc/%d/status" % client.process.pid) as status:
                text = [line for line in status if "VmRSS" in line][0]
        return int(text.split()[1])

    def test_too_many_channels_and_intricate_messages(self):
        c = self.open()
        c.raw(b"".join(c.frame(pb.ToAgent(channel=i + 1, watch=pb.Watch(path=b"")))
                       for i in range(150)))
        big = pb.ToAgent(channel=9999, start=pb.Start(argv=[b"x"] * 80000)).SerializeToString()
        self.assertLess(len(big), 256 * 1024)
        c.raw(struct.pack("<I", len(big)) + big)
        message = c.next_on(0, 10)
        self.assertEqual(message.done.error.code, pb.ERROR_CODE_PROTOCOL)

    def test_a_large_command(self):
        r = self.c.run(["echo", "x" * 100000], env=[b"BIG=" + b"y" * 100000])
        self.assertEqual(len(r.out), 100001)

    def test_garbage(self):
        import random
        generator = random.Random(7)
        for _ in range(60 if not self.sandbox else 8):
            c = self.open()
            data = bytearray()
            for _ in range(40):
                body = generator.randbytes(generator.randrange(1, 80))
                data += struct.pack("<I", len(body)) + bytes([8, generator.randrange(1, 9)]) + body
            try:
                c.raw(data)
                c.process.stdin.close()
            except BrokenPipeError:
                pass
            self.assertEqual(c.process.wait(20), 0, c.process.stderr.read())


if __name__ == "__main__":
    unittest.main()
