# SPDX-License-Identifier: Apache-2.0
"""exec -t on a real engine."""

import hashlib
import os
import signal
import subprocess
import time

from real_engine import BUSYBOX, EngineTest, docker
from support import CLI, EXEC_FAILED, OK, USAGE
from terminal import Terminal


class TerminalTest(EngineTest):
    def setUp(self):
        super().setUp()
        self.state, self.container = self.create()

    def terminal(self, *command, flags=("-it",), **kwargs):
        return Terminal(self, [CLI, "exec", *flags, "--state", self.state, "--", BUSYBOX, *command],
                        **kwargs)

    def shell(self, script, **kwargs):
        return self.terminal("sh", "-c", script, **kwargs)

    def processes_with(self, word):
        listed = docker("top", self.container, "-eo", "pid,args")
        return [line for line in listed.splitlines() if word in line]

    def gone(self, word, timeout=60):
        deadline = time.monotonic() + timeout
        while self.processes_with(word):
            self.assertLess(time.monotonic(), deadline, self.processes_with(word))
            time.sleep(0.1)


class Keys(TerminalTest):
    def test_a_shell(self):
        window = self.terminal("sh")
        window.type(b"echo $((6 * 7)) $0\r")
        window.expect(b"42 sh\r\n")
        self.assertTrue(window.is_raw())
        window.type(b"exit 3\r")
        self.assertEqual(window.end(), 3)

    def test_echo_comes_from_the_sandbox_alone(self):
        window = self.shell("echo ready; read x; echo got $x")
        window.expect(b"ready\r\n")
        window.type(b"abc\r")
        self.assertEqual(window.expect(b"got abc\r\n"), b"abc\r\n")
        self.assertEqual(window.end(), OK)

    def test_it_is_a_terminal(self):
        window = self.shell("tty; test -t 0 -a -t 1 -a -t 2 && echo yes")
        window.expect(b"/dev/pts/")
        window.expect(b"yes\r\n")
        self.assertEqual(window.end(), OK)

    def test_interrupt_reaches_the_command(self):
        window = self.shell("trap 'echo caught; exit 9' INT; echo ready; "
                            "while :; do sleep 0.1; done")
        window.expect(b"ready\r\n")
        window.type(b"\x03")
        window.expect(b"caught\r\n")
        self.assertEqual(window.end(), 9)

    def test_interrupt_ends_the_command(self):
        window = self.shell("echo ready; exec sleep 60")
        window.expect(b"ready\r\n")
        window.type(b"\x03")
        self.assertEqual(window.end(), 128 + signal.SIGINT)

    def test_end_of_file(self):
        window = self.terminal("cat")
        window.type(b"abc\r")
        window.expect(b"abc\r\nabc\r\n")
        window.type(b"\x04")
        self.assertEqual(window.end(), OK)

    def test_every_byte_passes(self):
        """As an editor has its terminal; also the keys that detach elsewhere."""
        keys = bytes(range(256)) * 8
        window = self.shell(f"stty raw -echo; echo ready; head -c {len(keys)} | sha256sum")
        window.expect(b"ready")
        for at in range(0, len(keys), 100):
            window.type(keys[at:at + 100])
        window.expect(hashlib.sha256(keys).hexdigest().encode())
        self.assertEqual(window.end(), OK)

    def test_output_is_not_touched(self):
        window = self.shell(r"stty raw; printf 'a\nb\033[31m\000\377c'; echo end")
        self.assertTrue(window.expect(b"end").endswith(b"a\nb\x1b[31m\0\xffc"))
        self.assertEqual(window.end(), OK)

    def test_much_output(self):
        window = self.shell("i=0; while [ $i -lt 4 ]; do i=$((i+1)); "
                            "head -c 100000 /dev/zero | tr '\\0' x; echo; done; echo end")
        shown = window.expect(b"end\r\n", timeout=60)
        self.assertEqual(shown.count(b"x"), 400000)
        self.assertEqual(window.end(), OK)


class Size(TerminalTest):
    def test_at_the_start(self):
        window = self.shell("stty size", rows=33, columns=101)
        window.expect(b"33 101\r\n")
        self.assertEqual(window.end(), OK)

    def test_changes(self):
        window = self.shell("trap 'stty size' WINCH; echo ready; while :; do sleep 0.1; done")
        window.expect(b"ready\r\n")
        for rows, columns in ((50, 132), (10, 40), (500, 1000)):
            window.resize(rows, columns)
            window.expect(b"%d %d\r\n" % (rows, columns))
        window.type(b"\x03")
        window.end()


class WaysOut(TerminalTest):
    def start(self):
        window = self.shell("echo ready; exec sleep 86399")
        window.expect(b"ready\r\n")
        self.assertTrue(window.is_raw())
        self.assertTrue(self.processes_with("sleep 86399"))
        return window

    def test_signals(self):
        for kind in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT,
                     signal.SIGUSR1, signal.SIGALRM):
            with self.subTest(kind=kind):
                window = self.start()
                window.run.send_signal(kind)
                self.assertEqual(window.end(), -kind)
                self.gone("sleep 86399")

    def test_killed_for_good(self):
        """Nobody can give the terminal back then; but the command ends."""
        window = self.start()
        window.run.kill()
        window.run.wait()
        self.gone("sleep 86399")

    def test_the_container_is_killed(self):
        window = self.start()
        docker("kill", self.container)
        self.assertEqual(window.end(), EXEC_FAILED)
        window.expect(b"cofferdam: ")

    def test_the_container_is_removed(self):
        window = self.start()
        docker("rm", "-f", self.container)
        self.assertEqual(window.end(), EXEC_FAILED)
        window.expect(b"cofferdam: ")

    def test_a_command_that_is_not_there(self):
        window = Terminal(self, [CLI, "exec", "-it", "--state", self.state, "--",
                                 "no-such-program"])
        self.assertEqual(window.end(), 127)
        window.expect(b"no-such-program")

    def test_a_command_that_changes_nothing_back(self):
        window = self.shell("stty raw -echo; exit 5")
        self.assertEqual(window.end(), 5)

    def test_stopped_and_continued(self):
        window = self.start()
        window.run.send_signal(signal.SIGTSTP)
        window.wait_until(lambda: not window.is_raw())
        self.assertEqual(os.waitid(os.P_PID, window.run.pid, os.WSTOPPED).si_status, signal.SIGSTOP)
        window.run.send_signal(signal.SIGCONT)
        window.wait_until(window.is_raw)
        window.type(b"\x03")
        self.assertEqual(window.end(), 128 + signal.SIGINT)

    def test_a_hung_up_terminal(self):
        window = self.start()
        leader, window.leader = window.leader, os.open("/dev/null", os.O_RDONLY)
        os.close(leader)
        self.assertEqual(window.run.wait(timeout=60), -signal.SIGHUP)
        self.gone("sleep 86399")


class WithoutOne(TerminalTest):
    def test_input_that_is_no_terminal(self):
        self.refused(USAGE, "exec", "-it", "--state", self.state, "--", BUSYBOX, "true",
                     says="the input device is not a TTY")

    def test_output_only(self):
        """As in docker exec -t: the command has a terminal, wherever its output goes."""
        done = self.expect(OK, "exec", "-t", "--state", self.state, "--", BUSYBOX, "sh", "-c",
                           "test -t 1 && stty size; echo err >&2", stdin=b"not read")
        self.assertEqual(done.stdout, b"24 80\r\nerr\r\n")
        self.assertEqual(done.stderr, b"")

    def test_output_to_a_file(self):
        out = self.path("out")
        window = Terminal(self, ["sh", "-c", f'exec "$@" >{out}', "sh", CLI, "exec", "-it",
                                 "--state", self.state, "--", BUSYBOX, "sh", "-c",
                                 "stty size; read x; echo got $x"], rows=31, columns=77)
        window.wait_until(lambda: out.exists() and b"31 77" in out.read_bytes())
        window.type(b"abc\r")
        self.assertEqual(window.end(), OK)
        self.assertIn(b"got abc\r\n", out.read_bytes())

    def test_interrupt_without_input(self):
        run = subprocess.Popen([CLI, "exec", "-t", "--state", str(self.state), "--", BUSYBOX, "sh",
                                "-c", "trap 'exit 4' INT; echo ready; while :; do sleep 0.1; done"],
                               stdout=subprocess.PIPE)
        self.assertEqual(run.stdout.readline(), b"ready\r\n")
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 4)
