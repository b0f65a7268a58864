# SPDX-License-Identifier: Apache-2.0
"""A terminal with somebody at it: a program runs in it as under a terminal emulator."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time


class Terminal:
    def __init__(self, test, command, rows=24, columns=80):
        self.test = test
        self.leader, self.follower = pty.openpty()
        test.addCleanup(self.close)
        self.shown = b""
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.follower)
        self.run = subprocess.Popen(list(map(str, command)), stdin=self.follower,
                                    stdout=self.follower, stderr=self.follower,
                                    start_new_session=True, preexec_fn=self.take_terminal)

    @staticmethod
    def take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def close(self):
        if self.run.poll() is None:
            self.run.kill()
            self.run.wait()
        os.close(self.leader)
        os.close(self.follower)

    def resize(self, rows, columns):
        """The foreground process gets SIGWINCH by it."""
        fcntl.ioctl(self.leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def is_raw(self):
        return not termios.tcgetattr(self.follower)[3] & (termios.ICANON | termios.ISIG)

    def type(self, keys):
        os.write(self.leader, keys)

    def read(self, seconds):
        ready, _, _ = select.select([self.leader], [], [], seconds)
        if ready:
            self.shown += os.read(self.leader, 65536)
        return bool(ready)

    def expect(self, text, timeout=60):
        """Waits until the text is shown, and takes all up to its end off `shown`."""
        deadline = time.monotonic() + timeout
        while text not in self.shown:
            left = deadline - time.monotonic()
            self.test.assertGreater(left, 0, (text, self.shown[-2000:]))
            ended = self.run.poll() is not None
            if not self.read(0 if ended else min(left, 0.2)) and ended:
                self.test.fail((text, self.shown[-2000:]))
        before, _, self.shown = self.shown.partition(text)
        return before

    def wait_until(self, what, timeout=60):
        deadline = time.monotonic() + timeout
        while not what():
            self.test.assertLess(time.monotonic(), deadline, self.shown[-2000:])
            time.sleep(0.02)

    def end(self, timeout=60):
        """Reads to the end. The exit status, after a look at whether the terminal is as before."""
        deadline = time.monotonic() + timeout
        while self.run.poll() is None:
            self.test.assertLess(time.monotonic(), deadline, self.shown[-2000:])
            self.read(0.05)
        while self.read(0):
            pass
        self.test.assertEqual(termios.tcgetattr(self.follower), self.before)
        return self.run.returncode
