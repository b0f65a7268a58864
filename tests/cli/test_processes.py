# SPDX-License-Identifier: Apache-2.0
"""exec --detach, ps, attach, logs and kill on a real engine."""

import json
import os
import signal
import subprocess
import time

from real_engine import BUSYBOX, EngineTest, docker
from support import CLI, ENGINE, EXEC_FAILED, OK, TIMED_OUT, USAGE
from terminal import Terminal


class Detached(EngineTest):
    def setUp(self):
        super().setUp()
        self.state, self.container = self.create()

    def start(self, script, *flags):
        done = self.expect(OK, "exec", "-d", *flags, "--state", self.state, "--", BUSYBOX, "sh",
                           "-c", script)
        self.assertRegex(done.stdout, rb"\A[!-~]+\n\Z")
        return done.stdout.decode().strip()

    def processes(self):
        listed = json.loads(self.expect(OK, "ps", "--state", self.state, "--json").stdout)
        return {entry["key"]: entry for entry in listed}

    def wait_for(self, key, what, timeout=60):
        deadline = time.monotonic() + timeout
        while not what(self.processes()[key]):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def ended(self, key):
        self.wait_for(key, lambda entry: not entry["running"])

    def logs(self, key, *flags):
        return self.expect(OK, "logs", "--state", self.state, *flags, key)

    def attach(self, key, code, *flags, **kwargs):
        return self.expect(code, "attach", "--state", self.state, *flags, key, **kwargs)


class Following(Detached):
    def test_from_the_beginning_to_the_end(self):
        key = self.start("for i in 1 2 3; do echo $i; echo e$i >&2; sleep 0.2; done; exit 7")
        done = self.attach(key, 7)
        self.assertEqual((done.stdout, done.stderr), (b"1\n2\n3\n", b"e1\ne2\ne3\n"))

    def test_after_the_end(self):
        key = self.start("echo out; echo err >&2; kill -KILL $$")
        self.ended(key)
        for _ in range(2):
            done = self.attach(key, 137)
            self.assertEqual((done.stdout, done.stderr), (b"out\n", b"err\n"))

    def test_offsets(self):
        key = self.start("echo 0123456789; echo abcdef >&2; exit 1")
        self.ended(key)
        done = self.attach(key, 1, "--offset", "4", "--stderr-offset", "6")
        self.assertEqual((done.stdout, done.stderr), (b"456789\n", b"\n"))
        done = self.logs(key, "--offset", "11", "--stderr-offset", "7")
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        for command in ("logs", "attach"):
            self.refused(USAGE, command, "--state", self.state, "--offset", "12", key,
                         says="offset")

    def test_logs_do_not_wait(self):
        key = self.start("echo one; echo two >&2; exec sleep 600")
        self.wait_for(key, lambda entry: entry["stderr"]["end"] == 4)
        done = self.logs(key)
        self.assertEqual((done.stdout, done.stderr), (b"one\n", b"two\n"))

    def test_what_is_kept_no_more_is_told(self):
        key = self.start("head -c 1048576 /dev/zero; echo end")
        self.ended(key)
        kept = self.processes()[key]["stdout"]
        self.assertEqual(kept["end"], 1048580)
        done = self.attach(key, OK)
        self.assertEqual(len(done.stdout), kept["end"] - kept["begin"])
        self.assertTrue(done.stdout.endswith(b"\0end\n"))
        self.assertRegex(done.stderr.decode(),
                         rf"^cofferdam: note: {kept['begin']} bytes of stdout")

    def test_input(self):
        key = self.start("read x; echo got $x; read x; echo and $x", "-i")
        done = self.attach(key, OK, "-i", stdin=b"a\nb\n")
        self.assertEqual(done.stdout, b"got a\nand b\n")

    def test_ending_the_follower_ends_nothing(self):
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            key = self.start("echo ready; sleep 1; exit 3")
            run = subprocess.Popen([CLI, "attach", "--state", str(self.state), key],
                                   stdout=subprocess.PIPE)
            self.assertEqual(run.stdout.readline(), b"ready\n")
            run.send_signal(kind)
            run.communicate(timeout=60)
            self.assertEqual(run.returncode, -kind)
            self.attach(key, 3)

    def test_two_followers(self):
        key = self.start("read x; echo $x; exit 2", "-i")
        second = subprocess.Popen([CLI, "attach", "--state", str(self.state), key],
                                  stdout=subprocess.PIPE)
        first = self.attach(key, 2, "-i", stdin=b"word\n")
        self.assertEqual(first.stdout, b"word\n")
        self.assertEqual(second.communicate(timeout=60)[0], b"word\n")
        self.assertEqual(second.returncode, 2)

    def test_a_terminal(self):
        key = self.start("stty size; while read x; do stty size; echo got $x; done; exit 6", "-it")
        window = Terminal(self, [CLI, "attach", "-i", "--state", self.state, key], rows=44,
                          columns=111)
        window.expect(b"24 80\r\n")
        window.type(b"a\r")
        window.expect(b"44 111\r\ngot a\r\n")
        self.assertTrue(window.is_raw())
        window.run.send_signal(signal.SIGTERM)
        self.assertEqual(window.end(), -signal.SIGTERM)
        again = Terminal(self, [CLI, "attach", "-i", "--state", self.state, key])
        again.expect(b"got a\r\n")
        again.type(b"\x04")
        self.assertEqual(again.end(), 6)

    def test_timeouts_go_on(self):
        key = self.start("echo before; exec sleep 60", "--timeout", "2")
        done = self.attach(key, TIMED_OUT)
        self.assertEqual(done.stdout, b"before\n")
        self.assertIn(b"timed out", done.stderr)


class Listing(Detached):
    def test_nothing(self):
        self.assertEqual(self.processes(), {})
        table = self.expect(OK, "ps", "--state", self.state).stdout.decode()
        self.assertRegex(table, r"\AKEY +PID +STATE +STARTED +COMMAND\n\Z")

    def test_what_there_is(self):
        first = self.start("echo abc; exit 7")
        second = self.start("exec sleep 60", "-t")
        self.ended(first)
        listed = self.processes()
        self.assertEqual(list(listed), [first, second])
        self.assertEqual(listed[first]["exit"]["code"], 7)
        self.assertEqual(listed[first]["exit"]["ended_by"], "itself")
        self.assertEqual(listed[first]["stdout"], {"begin": 0, "end": 4})
        self.assertFalse(listed[first]["running"])
        self.assertTrue(listed[second]["running"])
        self.assertTrue(listed[second]["terminal"])
        self.assertIsNone(listed[second]["exit"])
        self.assertRegex(listed[second]["started"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        table = self.expect(OK, "ps", "--state", self.state).stdout.decode()
        self.assertRegex(table,
                         rf"(?m)^{first} +\d+ +exited 7 +20\S+Z +/bin/busybox sh -c echo abc")
        self.assertRegex(table, rf"(?m)^{second} +\d+ +running ")

    def test_arguments_change_no_terminal(self):
        self.start("exec sleep 60 # \x1b[31m\n\x07")
        table = self.expect(OK, "ps", "--state", self.state).stdout
        self.assertEqual(table.count(b"\n"), 2)
        self.assertNotRegex(table, rb"[\x00-\x09\x0b-\x1f]")

    def test_commands_that_are_watched(self):
        run = subprocess.Popen([CLI, "exec", "--state", str(self.state), "--", BUSYBOX, "sleep",
                                "60"])
        deadline = time.monotonic() + 60
        while not self.processes():
            self.assertLess(time.monotonic(), deadline)
        (entry,) = self.processes().values()
        self.assertFalse(entry["outlive"])
        run.terminate()
        run.wait(timeout=60)

    def test_a_stopped_sandbox_forgets(self):
        key = self.start("exec sleep 60")
        docker("restart", "-t", "1", self.container)
        self.assertEqual(self.processes(), {})
        self.refused(EXEC_FAILED, "attach", "--state", self.state, key, says="cofferdam ps")

    def test_no_such_process(self):
        for key in ("nonsense", "0", "-", "\x1b[31m"):
            self.refused(EXEC_FAILED, "attach", "--state", self.state, "--", key)
            self.refused(ENGINE, "logs", "--state", self.state, "--", key)
        for command in ("attach", "logs", "kill"):
            self.refused(USAGE, command, "--state", self.state, says="KEY")
            self.refused(USAGE, command, "--state", self.state, "a", "b", says="b")


class Killing(Detached):
    def kill(self, key, *flags, code=OK):
        return self.expect(code, "kill", "--state", self.state, *flags, key)

    def test_the_whole_tree(self):
        key = self.start("setsid sleep 86394 & sleep 86393 & echo ready; wait")
        self.wait_for(key, lambda entry: entry["stdout"]["end"] == 6)
        self.kill(key)
        entry = self.processes()[key]
        self.assertFalse(entry["running"] or entry["tree_alive"])
        self.assertEqual(entry["exit"]["ended_by"], "kill")
        self.assertNotIn("sleep 8639", docker("top", self.container))
        self.kill(key)

    def test_grace(self):
        key = self.start("trap 'sleep 0.3; exit 5' TERM; echo ready; while :; do sleep 0.1; done")
        self.wait_for(key, lambda entry: entry["stdout"]["end"] == 6)
        self.kill(key, "--grace", "10")
        self.assertEqual(self.processes()[key]["exit"]["code"], 5)
        key = self.start("trap '' TERM; echo ready; while :; do sleep 0.1; done")
        self.wait_for(key, lambda entry: entry["stdout"]["end"] == 6)
        begun = time.monotonic()
        self.kill(key, "--grace", "0")
        self.assertLess(time.monotonic() - begun, 9)
        self.assertEqual(self.processes()[key]["exit"]["signal"], 9)

    def test_a_signal(self):
        for flag in ("USR1", "SIGUSR1", str(int(signal.SIGUSR1))):
            key = self.start("trap 'echo usr1; exit 4' USR1; echo ready; "
                             "while :; do sleep 0.1; done")
            self.wait_for(key, lambda entry: entry["stdout"]["end"] == 6)
            self.kill(key, "--signal", flag)
            self.assertEqual(self.attach(key, 4).stdout, b"ready\nusr1\n")
        self.refused(ENGINE, "kill", "--state", self.state, "--signal", "TERM", key)

    def test_wrong_flags(self):
        for flags in (["--signal", "NONE"], ["--signal", "0"], ["--signal", "65"],
                      ["--signal", ""], ["--grace", "x"], ["--grace", "-1"],
                      ["--grace", "1", "--signal", "TERM"]):
            self.refused(USAGE, "kill", "--state", self.state, *flags, "key", says="--")
        for text in ("", "-1", "x", "1k", "18446744073709551616"):
            self.refused(USAGE, "logs", "--state", self.state, f"--offset={text}", "key",
                         says="--offset")


class Outliving(Detached):
    def test_the_client_is_killed(self):
        """--detach alone makes a command outlive its client."""
        key = self.start("sleep 1; echo still here; exit 9")
        self.assertTrue(self.processes()[key]["outlive"])
        self.assertEqual(self.attach(key, 9).stdout, b"still here\n")

    def test_closed_standard_output(self):
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", CLI, "exec", "-d", "--state",
                               str(self.state), "--", BUSYBOX, "sleep", "60"], check=False,
                              stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, EXEC_FAILED)
        self.assertIn(b"standard output", done.stderr)
        (entry,) = self.processes().values()
        self.assertFalse(entry["running"])

    def test_not_started(self):
        self.refused(127, "exec", "-d", "--state", self.state, "--", "/no/such", says="/no/such")
        self.assertEqual(self.processes(), {})

    def test_output_that_cannot_be_written(self):
        key = self.start("echo x; sleep 60")
        self.wait_for(key, lambda entry: entry["stdout"]["end"] == 2)
        with open("/dev/full", "wb") as full:
            done = self.run_cli("attach", "--state", self.state, key, stdout=full)
        self.assertEqual(done.returncode, EXEC_FAILED)
        self.assertIn(b"stdout", done.stderr)
        self.assertTrue(self.processes()[key]["running"])

    def test_descriptors(self):
        """Nothing of this end is left in what outlives it."""
        reader, writer = os.pipe()
        self.start("exec sleep 60")
        os.close(writer)
        self.assertEqual(os.read(reader, 1), b"")
        os.close(reader)
