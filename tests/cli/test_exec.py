# SPDX-License-Identifier: Apache-2.0
"""exec on a real engine."""

import hashlib
import os
import signal
import subprocess
import time
from unittest import mock

from real_engine import BUSYBOX, EngineTest, docker
from support import CLI, ENGINE, EXEC_FAILED, OK, TIMED_OUT, USAGE
from terminal import Terminal

MIB = 1024 * 1024


class Exec(EngineTest):
    def test_statuses(self):
        state, _ = self.create()
        for code in (0, 1, 7, 255):
            self.exec(state, "sh", "-c", f"exit {code}", code=code)
        self.exec(state, "sh", "-c", "kill -KILL $$", code=137)

    def test_own_statuses_of_the_command_pass(self):
        state, _ = self.create()
        for code in (2, 10, 11, 12, 124, 125, 126, 127):
            done = self.exec(state, "sh", "-c", f"exit {code}", code=code)
            self.assertEqual(done.stderr, b"")

    def test_not_started(self):
        state, _ = self.create()
        self.refused(127, "exec", "--state", state, "--", "no-such-program", says="no-such-program")
        self.refused(127, "exec", "--state", state, "--", "/no/such", says="/no/such")
        self.exec(state, "sh", "-c", "echo x >/plain")
        self.refused(126, "exec", "--state", state, "--", "/plain", says="/plain")
        self.refused(126, "exec", "--state", state, "--workdir", "/nowhere", "--", BUSYBOX, "true",
                     says="/nowhere")
        self.refused(126, "exec", "--state", state, "--user", "nosuchuser", "--", BUSYBOX, "true",
                     says="nosuchuser")

    def test_output_is_raw(self):
        state, _ = self.create()
        done = self.exec(state, "sh", "-c", r"printf 'a\000\377\n'; printf 'b\001' >&2; exit 7",
                         code=7)
        self.assertEqual(done.stdout, b"a\0\xff\n")
        self.assertEqual(done.stderr, b"b\1")

    def test_flags(self):
        state, _ = self.create("s", "--env", "A=1", "--env", "B=x=y")
        done = self.exec(state, "sh", "-c", 'echo "$A $B $C" $(pwd) $(id -u)',
                         flags=["--env", "A=2", "--env", "C=a b", "--workdir", "/proc", "--user",
                                "1000:1000"])
        self.assertEqual(done.stdout, b"2 x=y a b /proc 1000\n")

    def test_flags_end_at_the_command(self):
        state, _ = self.create()
        done = self.expect(OK, "exec", "--state", state, BUSYBOX, "echo", "--help", "--state", "-x")
        self.assertEqual(done.stdout, b"--help --state -x\n")

    def test_timeout(self):
        state, _ = self.create()
        begun = time.monotonic()
        done = self.expect(TIMED_OUT, "exec", "--state", state, "--timeout", "2", "--", BUSYBOX,
                           "sh", "-c", "echo before; exec /bin/busybox sleep 60")
        self.assertLess(time.monotonic() - begun, 50)
        self.assertEqual(done.stdout, b"before\n")
        self.assertRegex(done.stderr.decode(), r"^cofferdam: timed out.*\n$")

    def test_timeout_of_a_quick_command(self):
        state, _ = self.create()
        self.exec(state, "true", flags=["--timeout", "30.5"])

    def test_much_output(self):
        state, _ = self.create()
        done = self.exec(state, "sh", "-c", "/bin/busybox yes | /bin/busybox head -c 8388608")
        self.assertEqual(len(done.stdout), 8 * 1024 * 1024)
        self.assertEqual(done.stderr, b"")

    def test_more_output_than_is_ever_kept(self):
        state, _ = self.create()
        done = self.exec(state, "sh", "-c",
                         "/bin/busybox head -c 68157440 /dev/zero; exit 7", code=7)
        self.assertEqual(len(done.stdout), 68157440)
        self.assertEqual(done.stderr, b"")

    def test_output_that_cannot_be_written(self):
        state, _ = self.create()
        with open("/dev/full", "wb") as full:
            done = self.run_cli("exec", "--state", state, "--", BUSYBOX, "echo", "x", stdout=full)
        self.assertEqual(done.returncode, EXEC_FAILED)
        self.assertIn(b"stdout", done.stderr)


class Running(EngineTest):
    def setUp(self):
        super().setUp()
        self.state, self.container = self.create()

    def start(self, script, *flags, **kwargs):
        kwargs.setdefault("stdout", subprocess.PIPE)
        run = subprocess.Popen([CLI, "exec", *flags, "--state", str(self.state), "--", BUSYBOX,
                                "sh", "-c", script], stderr=subprocess.PIPE, **kwargs)
        self.addCleanup(self.reap, run)
        return run

    @staticmethod
    def reap(run):
        run.kill()
        run.wait()
        for stream in (run.stdin, run.stdout, run.stderr):
            if stream:
                stream.close()

    def running(self, command):
        """Does the sandbox run that?"""
        listed = self.exec(self.state, "ps", "-o", "args").stdout.decode().splitlines()
        self.assertIn("ps -o args", listed[-1])
        return any(line.endswith(command) for line in listed)

    def gone(self, word):
        deadline = time.monotonic() + 60
        while self.running(word):
            self.assertLess(time.monotonic(), deadline, word)
            time.sleep(0.1)


class Input(Running):
    def cat(self, data):
        done = self.expect(OK, "exec", "-i", "--state", self.state, "--", BUSYBOX, "cat",
                           stdin=data)
        self.assertEqual(done.stderr, b"")
        self.assertEqual(hashlib.sha256(done.stdout).hexdigest(), hashlib.sha256(data).hexdigest())

    def test_nothing(self):
        self.cat(b"")

    def test_a_few_bytes(self):
        self.cat(b"a\0\x04\x03\xff\n")

    def test_much(self):
        self.cat(os.urandom(10 * MIB))

    def test_a_file(self):
        data = os.urandom(3 * MIB + 1)
        path = self.path("data", data)
        with open(path, "rb") as file:
            done = subprocess.run([CLI, "exec", "-i", "--state", self.state, "--", BUSYBOX, "cat"],
                                  stdin=file, capture_output=True, check=True, timeout=60)
        self.assertEqual(done.stdout, data)

    def test_none_without_the_flag(self):
        done = self.expect(OK, "exec", "--state", self.state, "--", BUSYBOX, "cat", stdin=b"hush")
        self.assertEqual(done.stdout, b"")

    def test_one_that_is_not_read(self):
        done = self.expect(3, "exec", "-i", "--state", self.state, "--", BUSYBOX, "sh", "-c",
                           "head -c 3; exit 3", stdin=os.urandom(10 * MIB))
        self.assertEqual(len(done.stdout), 3)

    def test_one_that_never_ends(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, writer)
        run = self.start("exit 6", "-i", stdin=reader)
        os.close(reader)
        self.assertEqual(run.wait(timeout=60), 6)

    def test_a_conversation(self):
        run = self.start("while read x; do echo got $x; done; echo end", "-i",
                         stdin=subprocess.PIPE)
        for word in (b"a", b"b", b"c"):
            run.stdin.write(word + b"\n")
            run.stdin.flush()
            self.assertEqual(run.stdout.readline(), b"got " + word + b"\n")
        run.stdin.close()
        self.assertEqual(run.stdout.read(), b"end\n")
        self.assertEqual(run.wait(timeout=60), OK)

    def test_one_that_cannot_be_read(self):
        with open("/proc/self/mem", "rb") as unreadable:
            run = self.start("cat; echo end", "-i", stdin=unreadable)
            out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, EXEC_FAILED)
        self.assertIn(b"cannot read standard input", err)
        self.assertEqual(out, b"")

    def test_the_state_takes_it(self):
        self.refused(USAGE, "exec", "-i", "--state", "-", "--", BUSYBOX, "cat",
                     stdin=self.state.read_bytes(), says="standard input")


class Output(Running):
    def test_it_comes_as_it_is_written(self):
        run = self.start("echo first; echo second >&2; read x; echo third", "-i",
                         stdin=subprocess.PIPE)
        self.assertEqual(run.stdout.readline(), b"first\n")
        self.assertEqual(run.stderr.readline(), b"second\n")
        self.assertIsNone(run.poll())
        run.communicate(b"\n", timeout=60)
        self.assertEqual(run.returncode, OK)

    def peak_kib(self, run):
        with open(f"/proc/{run.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

    def test_a_slow_reader_costs_no_memory(self):
        # The sanitizer keeps what was freed.
        run = self.start(f"echo ready; head -c {64 * MIB} /dev/zero; exit 8",
                         env=dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1"))
        self.assertEqual(run.stdout.readline(), b"ready\n")
        time.sleep(1)
        before = self.peak_kib(run)
        total = 0
        while total < 60 * MIB:
            total += len(run.stdout.read(MIB))
            time.sleep(0.005)
        self.assertLess(self.peak_kib(run) - before, 16 * 1024)
        self.assertEqual(total + len(run.stdout.read()), 64 * MIB)
        self.assertEqual(run.wait(timeout=60), 8)

    def test_a_reader_that_is_away_for_long(self):
        """Longer than the silence after which a command that has ended is left alone."""
        run = self.start(f"head -c {4 * MIB} /dev/zero; echo end")
        time.sleep(4)
        out, _ = run.communicate(timeout=60)
        self.assertEqual(len(out), 4 * MIB + 4)
        self.assertTrue(out.endswith(b"\0end\n"))

    def test_a_reader_that_has_gone(self):
        for default in (True, False):
            run = self.start("exec yes", preexec_fn=lambda: signal.signal(
                signal.SIGPIPE, signal.SIG_DFL if default else signal.SIG_IGN))
            self.assertEqual(run.stdout.readline(), b"y\n")
            self.assertTrue(self.running("yes"))
            run.stdout.close()
            run.wait(timeout=60)
            err = run.stderr.read()
            if default:
                self.assertEqual((run.returncode, err), (-signal.SIGPIPE, b""))
            else:
                self.assertEqual(run.returncode, EXEC_FAILED)
                self.assertRegex(err, rb"^cofferdam: .*stdout.*Broken pipe.*\n$")
            self.gone("yes")

    def test_descriptors_are_left_as_they_were(self):
        """O_NONBLOCK would be seen by everybody who shares them."""
        reader, writer = os.pipe()
        os.set_blocking(writer, True)
        run = self.start("echo x; read x", "-i", stdin=subprocess.PIPE, stdout=writer)
        self.assertEqual(os.read(reader, 10), b"x\n")
        self.assertTrue(os.get_blocking(writer))
        run.communicate(b"\n", timeout=60)
        os.close(reader)
        os.close(writer)

    def test_a_child_that_holds_the_output(self):
        begun = time.monotonic()
        done = self.exec(self.state, "sh", "-c", "sleep 86398 & echo started; exit 4", code=4)
        self.assertEqual(done.stdout, b"started\n")
        self.assertLess(time.monotonic() - begun, 60)
        self.assertTrue(self.running("sleep 86398"))

    def test_a_child_that_writes_a_little_later(self):
        done = self.exec(self.state, "sh", "-c", "(sleep 1; echo late) & echo early; exit 4",
                         code=4)
        self.assertEqual(done.stdout, b"early\nlate\n")


class Signals(Running):
    def test_they_are_passed_on(self):
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            name = kind.name[3:]
            run = self.start(f"trap 'echo {name}; exit 5' {name}; echo ready; "
                             "while :; do sleep 0.1; done")
            self.assertEqual(run.stdout.readline(), b"ready\n")
            run.send_signal(kind)
            out, _ = run.communicate(timeout=60)
            self.assertEqual((run.returncode, out), (5, name.encode() + b"\n"))

    def test_they_end_what_does_not_care(self):
        run = self.start("echo ready; sleep 86397; echo not reached")
        self.assertEqual(run.stdout.readline(), b"ready\n")
        self.assertTrue(self.running("sleep 86397"))
        run.send_signal(signal.SIGTERM)
        out, _ = run.communicate(timeout=60)
        self.assertEqual((run.returncode, out), (128 + signal.SIGTERM, b""))
        self.gone("sleep 86397")

    def test_the_second_interrupt_kills(self):
        run = self.start("trap '' INT TERM; echo ready; sleep 86396")
        self.assertEqual(run.stdout.readline(), b"ready\n")
        self.assertTrue(self.running("sleep 86396"))
        run.send_signal(signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 128 + signal.SIGINT)
        self.gone("sleep 86396")

    def test_an_ignored_one_is_ignored(self):
        run = self.start("echo ready; read x; exit 2", "-i", stdin=subprocess.PIPE,
                         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(run.stdout.readline(), b"ready\n")
        run.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        run.communicate(b"\n", timeout=60)
        self.assertEqual(run.returncode, 2)

    def test_quit_ends_both(self):
        run = self.start("echo ready; exec sleep 86395")
        self.assertEqual(run.stdout.readline(), b"ready\n")
        self.assertTrue(self.running("sleep 86395"))
        run.send_signal(signal.SIGQUIT)
        self.assertEqual(run.wait(timeout=60), -signal.SIGQUIT)
        self.gone("sleep 86395")


class NoAgent(EngineTest):
    """What commands have in a sandbox without an agent."""

    def setUp(self):
        super().setUp()
        with mock.patch.dict(os.environ, COFFERDAM_AGENT_DIR=str(self.dir)):
            self.state = self.path("s")
            done = self.expect(OK, *self.create_arguments(self.state))
        self.assertIn(b"cofferdam: warning: ", done.stderr)

    def test_the_status_and_output(self):
        done = self.exec(self.state, "sh", "-c", "echo out; echo err >&2; exit 7", code=7)
        self.assertEqual((done.stdout, done.stderr), (b"out\n", b"err\n"))

    def test_not_started(self):
        run = ["exec", "--state", self.state]
        self.refused(127, *run, "--", "no-such-program", says="no-such-program")
        self.refused(127, *run, "--", "/no/such", says="/no/such")
        self.exec(self.state, "sh", "-c", "echo x >/plain")
        self.refused(126, *run, "--", "/plain", says="/plain")
        self.refused(126, *run, "--workdir", "/nowhere", "--", BUSYBOX, "true", says="/nowhere")
        self.refused(126, *run, "--user", "nosuchuser", "--", BUSYBOX, "true", says="nosuchuser")

    def test_timeout(self):
        done = self.expect(TIMED_OUT, "exec", "--state", self.state, "--timeout", "2", "--",
                           BUSYBOX, "sh", "-c", "echo before; exec /bin/busybox sleep 60")
        self.assertEqual(done.stdout, b"before\n")
        self.assertRegex(done.stderr.decode(), r"^cofferdam: timed out.*\n$")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            done = self.run_cli("exec", "--state", self.state, "--", BUSYBOX, "echo", "x",
                                stdout=full)
        self.assertEqual(done.returncode, EXEC_FAILED)
        self.assertIn(b"stdout", done.stderr)

    def test_what_there_is_not(self):
        for flags in (["-d"], ["-di"]):
            self.refused(EXEC_FAILED, "exec", *flags, "--state", self.state, "--", BUSYBOX, "true",
                         says="agent")
        self.refused(ENGINE, "ps", "--state", self.state, says="agent")

    def test_all_of_the_output(self):
        done = self.exec(self.state, "sh", "-c",
                         "/bin/busybox head -c 68157440 /dev/zero; exit 7", code=7)
        self.assertEqual(len(done.stdout), 68157440)
        self.assertEqual(done.stderr, b"")

    def start(self, script, *flags, **kwargs):
        run = subprocess.Popen([CLI, "exec", *flags, "--state", self.state, "--", BUSYBOX, "sh",
                                "-c", script], stdout=subprocess.PIPE, **kwargs)
        self.addCleanup(run.stdout.close)
        return run

    def running(self, word):
        container = self.containers()[0]
        return word in docker("top", container, "-eo", "pid,args")

    def test_input(self):
        sent = os.urandom(3 * 1024 * 1024)
        run = self.start("cat", "-i", stdin=subprocess.PIPE)
        out, _ = run.communicate(sent, timeout=60)
        self.assertEqual((run.returncode, out == sent), (OK, True))
        run = self.start("read x; echo got $x; exit 3", "-i", stdin=subprocess.PIPE)
        out, _ = run.communicate(b"it\n", timeout=60)
        self.assertEqual((run.returncode, out), (3, b"got it\n"))

    def test_a_terminal(self):
        window = Terminal(self, [CLI, "exec", "-it", "--state", self.state, "--", BUSYBOX, "sh"],
                          rows=33, columns=101)
        window.type(b"echo $((6 * 7)); sleep 0.5; stty size\r")
        window.expect(b"42\r\n")
        window.expect(b"33 101\r\n")
        window.resize(50, 132)
        time.sleep(1)
        window.type(b"stty size\r")
        window.expect(b"50 132\r\n")
        window.type(b"exit 3\r")
        self.assertEqual(window.end(), 3)

    def test_signals(self):
        run = self.start("trap 'echo INT; exit 5' INT; echo ready; while :; do sleep 0.1; done")
        self.assertEqual(run.stdout.readline(), b"ready\n")
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=60)
        self.assertEqual((run.returncode, out), (5, b"INT\n"))

    def test_nothing_stays_behind(self):
        run = self.start("echo ready; exec sleep 86394")
        self.assertEqual(run.stdout.readline(), b"ready\n")
        self.assertTrue(self.running("sleep 86394"))
        run.send_signal(signal.SIGQUIT)
        self.assertEqual(run.wait(timeout=60), -signal.SIGQUIT)
        self.assertFalse(self.running("sleep 86394"))
