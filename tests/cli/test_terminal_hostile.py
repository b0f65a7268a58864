# SPDX-License-Identifier: Apache-2.0
"""exec -it on a real engine, when either side of the terminal does its worst."""

import os
import select
import signal
import time

from real_engine import BUSYBOX, EngineTest, docker
from support import CLI, OK
from terminal import Terminal

FLOOD = "while :; do echo flood flood flood flood flood flood flood flood; done"


class HostileTest(EngineTest):
    def setUp(self):
        super().setUp()
        self.state, self.container = self.create()

    def shell(self, script, **kwargs):
        return Terminal(self, [CLI, "exec", "-it", "--state", self.state, "--", BUSYBOX, "sh", "-c",
                               script], **kwargs)

    def gone(self, word):
        deadline = time.monotonic() + 60
        while any(word in line for line in docker("top", self.container, "-eo", "pid,args")
                  .splitlines()):
            self.assertLess(time.monotonic(), deadline, word)
            time.sleep(0.1)


class Output(HostileTest):
    def test_sequences_are_passed_on_and_change_nothing_here(self):
        """What a terminal makes of them is its own affair; its modes are not touched."""
        sequences = (b"\x1bc\x1b[2J\x1b[?1049h\x1b[?25l\x1b[?1003h\x1b[?2004h\x1b]0;title\x07"
                     b"\x1bP+q544e\x1b\\\x1b[6n\x1b[c\x1b[21t\x0e\x9b31m\x00\x7f\xff\xfe")
        octal = "".join(f"\\{byte:03o}" for byte in sequences)
        window = self.shell(f"stty raw -echo; printf 'begin{octal}end'; exit 3")
        window.expect(b"begin")
        self.assertEqual(window.expect(b"end"), sequences)
        self.assertEqual(window.end(), 3)

    def test_modes_of_its_own_terminal_stay_there(self):
        window = self.shell("stty -a >/dev/null; stty raw; stty 0 2>/dev/null; stty intr q; "
                            "echo done; read x; exit 4")
        window.expect(b"done")
        self.assertTrue(window.is_raw())
        window.type(b"x\n")
        self.assertEqual(window.end(), 4)

    def test_a_flood_is_interrupted(self):
        window = self.shell(FLOOD)
        window.expect(b"flood flood")
        window.type(b"\x03")
        self.assertEqual(window.end(), 128 + signal.SIGINT)

    def test_a_flood_that_nobody_looks_at(self):
        """The terminal takes nothing more; a signal ends it all the same."""
        window = self.shell(FLOOD + " # 86391")
        window.expect(b"flood flood")
        time.sleep(0.5)
        window.run.send_signal(signal.SIGTERM)
        self.assertEqual(window.run.wait(timeout=60), -signal.SIGTERM)
        self.assertEqual(window.end(), -signal.SIGTERM)
        self.gone("86391")

    def test_windows_change_in_a_flood(self):
        window = self.shell("trap 'exit 5' INT; " + FLOOD.replace("done", "stty size; done"))
        for turn in range(200):
            window.resize(20 + turn % 50, 60 + turn % 70)
            window.read(0)
        window.resize(77, 177)
        window.expect(b"77 177")
        window.type(b"\x03")
        self.assertEqual(window.end(), 5)


class Input(HostileTest):
    def test_keys_that_nobody_reads(self):
        """More than there is room for on the way; then a signal."""
        window = self.shell("stty raw -echo; echo ready; exec sleep 86392")
        window.expect(b"ready")
        os.set_blocking(window.leader, False)
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            try:
                os.write(window.leader, b"x" * 65536)
            except BlockingIOError:
                time.sleep(0.01)
        self.assertIsNone(window.run.poll())
        window.run.send_signal(signal.SIGHUP)
        self.assertEqual(window.end(), -signal.SIGHUP)
        self.gone("86392")

    def test_the_stop_key_is_the_commands(self):
        window = Terminal(self, [CLI, "exec", "-it", "--state", self.state, "--", BUSYBOX, "sh"])
        window.type(b"echo re''ady; sleep 86390\r")
        window.expect(b"ready\r\n")
        deadline = time.monotonic() + 60
        while b"Stopped" not in window.shown:
            self.assertLess(time.monotonic(), deadline, window.shown)
            window.type(b"\x1a")
            window.read(0.2)
        self.assertTrue(window.is_raw())
        window.type(b"kill -9 %1; echo still $((6 * 7)); exit 6\rexit 6\r")
        window.expect(b"still 42")
        self.assertEqual(window.end(), 6)

    def test_nobody_reads_the_output(self):
        """Standard output is a pipe that was closed: this ends as any program does."""
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        window = Terminal(self, ["sh", "-c", f'exec "$@" >{pipe}', "sh", CLI, "exec", "-it",
                                 "--state", self.state, "--", BUSYBOX, "sh", "-c",
                                 "echo ready; read x; echo $x; exec sleep 86389"])
        window.wait_until(lambda: select.select([reader], [], [], 0)[0] and
                          b"ready" in os.read(reader, 100))
        os.close(reader)
        window.type(b"more\r")
        self.assertEqual(window.end(), -signal.SIGPIPE)
        self.gone("86389")


class AsDocker(HostileTest):
    """The same keys give the same screen and the same status."""

    def both(self, script, keys, code):
        screens = []
        for command in ([CLI, "exec", "-it", "--state", self.state, "--"],
                        ["docker", "exec", "-it", "-w", "/workspace", self.container]):
            window = Terminal(self, [*command, BUSYBOX, "sh", "-c", script])
            window.expect(b"ready\r\n")
            window.type(keys)
            self.assertEqual(window.end(), code, command)
            screens.append(window.shown)
        self.assertEqual(*screens)

    def test_lines(self):
        # docker tells the size of the window when the command runs already.
        self.both("until stty size 2>&1 | grep -q '24 80'; do sleep 0.1; done; "
                  "echo ready; read a; read b; echo $b $a; stty size; pwd", b"one\rtwo\r", OK)

    def test_an_interrupt(self):
        self.both("trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.1; done",
                  b"\x03", 7)

    def test_the_end_of_input(self):
        self.both("echo ready; cat; echo over", b"abc\r\x04", OK)

    def test_erasing(self):
        self.both("echo ready; read x; echo got $x", b"abx\x7fc\r", OK)

    def test_a_killed_command(self):
        self.both("echo ready; read x; kill -9 $$", b"\r", 128 + signal.SIGKILL)
