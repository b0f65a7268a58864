# SPDX-License-Identifier: Apache-2.0
"""Where the engine may not be asked, cannot be reached, or does not do as told."""

import os
import pty
import signal
import subprocess
import time

from support import (CLI, DRIFT, ENGINE, EXEC_FAILED, INVALID, USAGE, CliTest, PullingEngine,
                     StubbornHandler, Tripwire, field, sealed, sealed_with_key, unsealed)

KEY = bytes(range(32))


class Untouched(CliTest):
    """Every refusal here comes before the engine is asked."""

    def setUp(self):
        super().setUp()
        self.wire = Tripwire(self.path("socket"))
        self.addCleanup(self.wire.close)

    def tearDown(self):
        self.assertEqual(self.wire.touched, 0)

    def refuse(self, code, *arguments, says=(), **kwargs):
        return self.refused(code, *arguments, says=says, host=self.wire.endpoint, **kwargs)

    def create(self, *arguments, says=()):
        state = self.path("new")
        self.refuse(INVALID, "create", *arguments, "--state", state, says=says)
        self.assertFalse(state.exists())

    def test_network_modes(self):
        for mode in ["bridge", "host", "", "2", "-1", "4294967297", "container:x", "default",
                     "NONE ", "none,bridge", "nonex", "1"]:
            self.create("--image", "busybox:test", "--network", mode, says=["network", "none"])
            self.create("--image", "busybox:test", "--network=" + mode, says=["network", "none"])

    def test_demands(self):
        state = self.path("s", sealed(unsealed()))
        before = state.read_bytes()
        for mode in ["bridge", "host", "", "2", "-1", "container:x"]:
            self.create("--image", "busybox:test", "--require-network", mode,
                        says=["--require-network", "none"])
            for command in (["resume"], ["exec"]):
                tail = ["--", "true"] if command == ["exec"] else []
                self.refuse(INVALID, *command, "--state", state, "--require-network", mode, *tail,
                            says=["--require-network", "none"])
        self.assertEqual(state.read_bytes(), before)

    def test_options(self):
        self.create("--image", "", says="image")
        self.create("--image", "UPPER CASE", says="image")
        for port in ["0", "65536", "-1", "abc", "", "80/udp", "8080:80", " 80", "4294967297"]:
            self.create("--image", "busybox:test", "--port", port, says="port")
        self.create("--image", "busybox:test", "--port", "80", "--port", "80", says="port")
        for pair in ["", "=x", "io.cofferdam.session=x"]:
            self.create("--image", "busybox:test", "--label", pair, says="label")
        for pair in ["", "=x", "NAME"]:
            self.create("--image", "busybox:test", "--env", pair, says="env")

    def test_env_values_are_not_told(self):
        done = self.run_cli("create", "--image", "busybox:test", "--env", "=hush", "--state",
                            self.path("new"), host=self.wire.endpoint)
        self.assertEqual(done.returncode, INVALID)
        self.assertNotIn(b"hush", done.stderr)

    def test_policy(self):
        self.create("--image", "busybox:test", "--require-network", "none", says="network")
        open_state = self.path("s", sealed(unsealed(network_mode=0, features=())))
        before = open_state.read_bytes()
        self.refuse(INVALID, "resume", "--state", open_state, "--require-network", "none",
                    says="network")
        self.refuse(INVALID, "exec", "--state", open_state, "--require-network", "none", "--",
                    "true", says="network")
        self.assertEqual(open_state.read_bytes(), before)

    def bad_states(self):
        good = sealed(unsealed())
        yield "empty", b""
        yield "cut", good[:-1]
        yield "cut at the seal", unsealed()[:-5]
        yield "bit flipped", good[:20] + bytes([good[20] ^ 1]) + good[21:]
        yield "wrong seal", unsealed() + field(2047, field(1, 1) + field(3, b"x" * 32))
        yield "mode 2", sealed(unsealed(network_mode=2))
        yield "mode 2^32+1", sealed(unsealed(network_mode=2**32 + 1))
        yield "feature missing", sealed(unsealed(features=()))
        yield "feature too many", sealed(unsealed(network_mode=0))
        yield "unknown feature", sealed(unsealed(features=(1, 60)))
        yield "sealed with a key", sealed_with_key(unsealed(), KEY, "k")
        yield "too large", good + b"x" * (1024 * 1024)
        yield "text", b"this is no state\n"

    def test_bad_states(self):
        for name, content in self.bad_states():
            state = self.path("s", content)
            for command in (["resume"], ["rm"], ["exec"]):
                tail = ["--", "true"] if command == ["exec"] else []
                with self.subTest(name=name, command=command):
                    self.refuse(INVALID, *command, "--state", state, *tail, says=str(state))
                    self.refuse(INVALID, *command, "--state", "-", *tail, stdin=content,
                                stdout=subprocess.PIPE)
                    self.assertEqual(state.read_bytes(), content)

    def test_files_that_are_not_there(self):
        for command in (["resume"], ["rm"], ["exec"]):
            tail = ["--", "true"] if command == ["exec"] else []
            for path in [self.path("missing"), self.dir, self.path("no/such")]:
                self.refuse(INVALID, *command, "--state", path, *tail, says=str(path))

    def test_keys(self):
        state = self.path("s", sealed(unsealed()))
        bad = {"missing": None, "short": b"short", "long": b"x" * 2000, "writable": KEY}
        for name, content in bad.items():
            key = self.path(name, content)
            if name == "writable":
                key.chmod(0o666)
            for command in ("resume", "rm"):
                self.refuse(INVALID, command, "--state", state, "--key-file", key, says=name)
            self.create("--image", "busybox:test", "--key-file", key, says=name)
        key = self.path("k", KEY)
        key.chmod(0o600)
        self.refuse(INVALID, "resume", "--state", state, "--key-file", key, says=str(state))

    def test_create_overwrites_nothing(self):
        state = self.path("s", b"anything")
        said = self.refuse(INVALID, "create", "--image", "busybox:test", "--state", state,
                           says=[str(state), "exists"])
        self.assertIn("cofferdam rm", said)
        self.assertEqual(state.read_bytes(), b"anything")
        link = self.path("link")
        link.symlink_to(state)
        self.refuse(INVALID, "create", "--image", "busybox:test", "--state", link, says="exists")
        self.assertEqual(state.read_bytes(), b"anything")

    def test_create_into_places_that_take_no_file(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for path in [self.path("no/such"), self.dir, fifo, self.path("socket"), "/proc/state"]:
            self.refuse(INVALID, "create", "--image", "busybox:test", "--state", path,
                        says=str(path))
        self.assertTrue(fifo.is_fifo())
        self.assertTrue(self.path("socket").is_socket())

    def test_create_that_is_refused_leaves_an_empty_file_as_it_was(self):
        state = self.path("s", b"")
        self.refuse(INVALID, "create", "--image", "busybox:test", "--require-network", "none",
                    "--state", state, says="network")
        self.assertEqual(state.read_bytes(), b"")

    def test_two_creates_at_once(self):
        state = self.path("s", b"")
        holder = subprocess.Popen(["flock", "-x", state, "-c", "echo held; read x"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(holder.stdout.readline(), b"held\n")
        self.refuse(INVALID, "create", "--image", "busybox:test", "--state", state,
                    says=[str(state), "another"])
        holder.communicate(b"\n")
        self.assertTrue(state.exists())

    def test_a_state_does_not_go_to_a_terminal(self):
        leader, terminal = pty.openpty()
        done = self.run_cli("create", "--image", "busybox:test", "--state", "-", stdout=terminal,
                            host=self.wire.endpoint)
        os.close(terminal)
        os.close(leader)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"terminal", done.stderr)

    def test_resume_asks_first_whether_it_can_write(self):
        state = self.path("s", sealed(unsealed()))
        self.dir.chmod(0o500)
        self.addCleanup(self.dir.chmod, 0o700)
        self.refuse(INVALID, "resume", "--state", state, says=[str(state), "nothing was done"],
                    bound=True)
        self.refuse(INVALID, "create", "--image", "busybox:test", "--state", self.path("new"),
                    says=["new", "nothing was done"], bound=True)


class Unreachable(CliTest):
    def setUp(self):
        super().setUp()
        self.host = f"unix://{self.path('nobody')}"
        self.state = self.path("s", sealed(unsealed()))

    def test_exit_codes(self):
        self.refused(ENGINE, "list", host=self.host, says="--host")
        self.refused(ENGINE, "--host", self.host, "list", host="unix:///elsewhere", says="nobody")
        self.refused(ENGINE, "resume", "--state", self.state, host=self.host)
        self.refused(ENGINE, "rm", "--state", self.state, host=self.host)
        self.refused(EXEC_FAILED, "exec", "--state", self.state, "--", "true", host=self.host)

    def test_files_stay(self):
        before = self.state.read_bytes()
        self.refused(ENGINE, "resume", "--state", self.state, host=self.host)
        self.refused(ENGINE, "rm", "--state", self.state, host=self.host)
        self.assertEqual(self.state.read_bytes(), before)

    def test_create_leaves_no_file(self):
        new = self.path("new")
        self.refused(ENGINE, "create", "--image", "busybox:test", "--state", new, host=self.host)
        self.assertFalse(new.exists())

    def test_create_leaves_an_empty_file(self):
        new = self.path("new", b"")
        self.refused(ENGINE, "create", "--image", "busybox:test", "--state", new, host=self.host)
        self.assertEqual(new.read_bytes(), b"")

    def test_the_tripwire_trips(self):
        wire = Tripwire(self.path("socket"))
        self.addCleanup(wire.close)
        self.refused(ENGINE, "list", host=wire.endpoint)
        self.assertGreater(wire.touched, 0)

    def test_closed_descriptors(self):
        done = subprocess.run(["sh", "-c", f"'{CLI}' list --host '{self.host}' <&- >&- 2>&-"],
                              check=False)
        self.assertEqual(done.returncode, ENGINE)


class Pull(CliTest):
    def setUp(self):
        super().setUp()
        self.engine = PullingEngine(self.path("socket"))
        self.addCleanup(self.engine.close)
        self.state = self.path("s")

    def start(self, stderr=subprocess.PIPE):
        run = subprocess.Popen([CLI, "--host", self.engine.endpoint, "create", "--image", "far:away",
                                "--state", str(self.state)],
                               stdout=subprocess.PIPE, stderr=stderr)
        self.assertTrue(self.engine.pulling.wait(60))
        self.assertTrue(self.state.exists())
        return run

    def test_interrupt(self):
        run = self.start()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGINT, err)
        self.assertEqual(out, b"")
        self.assertEqual(err, b"cofferdam: interrupted; nothing was left behind\n")
        self.assertFalse(self.state.exists())

    def test_one_of_many_has_the_file(self):
        """Also when it is locked by another one than made it."""
        for number in range(20):
            state = self.path(f"s{number}")
            runs = [subprocess.Popen([CLI, "--host", self.engine.endpoint, "create", "--image",
                                      "far:away", "--state", state], stderr=subprocess.DEVNULL)
                    for _ in range(6)]
            deadline = time.monotonic() + 60
            while sum(run.poll() is None for run in runs) > 1 and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(sum(run.poll() is None for run in runs), 1)
            self.assertTrue(state.exists())
            for run in runs:
                run.kill()
                run.wait()

    def test_progress_on_a_terminal(self):
        leader, terminal = pty.openpty()
        run = self.start(stderr=terminal)
        os.close(terminal)
        shown = b""
        while b"MiB" not in shown:
            shown += os.read(leader, 4096)
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=60)
        os.close(leader)
        self.assertIn(b"\r\x1b[KDownloading\\x1b[31m layer1 5/10 MiB", shown)


class LeftBehind(CliTest):
    """What could not be cleaned up is said, and nothing that is not so."""

    def setUp(self):
        super().setUp()
        self.engine = PullingEngine(self.path("socket"), StubbornHandler)
        self.addCleanup(self.engine.close)

    def create(self, interrupt):
        run = subprocess.Popen([CLI, "--host", self.engine.endpoint, "create", "--image", "here",
                                "--network", "none", "--state", str(self.path("s"))],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(self.engine.pulling.wait(60))
        if interrupt:
            run.send_signal(signal.SIGINT)
        err = run.communicate(timeout=60)[1].decode()
        self.assertIn("could not be removed: clean up: not today); remove it by hand\n", err)
        self.assertNotIn("left behind", err)
        return run.returncode

    def test_said(self):
        self.assertEqual(self.create(False), DRIFT)

    def test_said_when_interrupted(self):
        self.assertEqual(self.create(True), -signal.SIGINT)
