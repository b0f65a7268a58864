# SPDX-License-Identifier: Apache-2.0
"""The CLI on a real engine: from create to rm."""

import json
import os
import re
import signal
import subprocess
import time

from real_engine import BUSYBOX, IMAGE, EngineTest, docker
from support import CLI, DRIFT, ENGINE, EXEC_FAILED, INVALID, OK


class Tour(EngineTest):
    def test_create(self):
        state, container = self.create()
        self.assertEqual(self.containers(), [container])
        self.assertEqual(state.stat().st_mode & 0o777, 0o600)
        text = self.expect(OK, "state", "show", state).stdout.decode()
        self.assertIn(container, text)
        self.assertIn("NETWORK_MODE_NONE", text)
        found = self.exec(state, "ip", "addr").stdout.decode()
        self.assertEqual(re.findall(r"(?m)^\d+: (\w+)", found), ["lo"])

    def test_reattach(self):
        state, container = self.create()
        done = self.expect(OK, "resume", "--state", state, "--require-network", "none")
        self.assertEqual(done.stdout.decode(), f"reattached {container}\n")
        self.assertEqual(done.stderr, b"")

    def test_recreate(self):
        state, container = self.create()
        docker("rm", "-f", container)
        before = state.read_bytes()
        self.refused(EXEC_FAILED, "exec", "--state", state, "--", BUSYBOX, "true", says="resume")
        self.assertEqual(state.read_bytes(), before)
        self.assertEqual(self.containers(), [])
        word, new = self.expect(OK, "resume", "--state", state).stdout.decode().split()
        self.assertEqual(word, "recreated")
        self.assertNotEqual(new, container)
        self.assertEqual(self.containers(), [new])
        found = self.exec(state, "ip", "addr").stdout.decode()
        self.assertEqual(re.findall(r"(?m)^\d+: (\w+)", found), ["lo"])

    def test_stopped(self):
        state, container = self.create()
        docker("kill", container)
        done = self.expect(OK, "resume", "--state", state)
        self.assertEqual(done.stdout.decode(), f"reattached {container}\n")

    def test_drift(self):
        state, container = self.create()
        docker("network", "disconnect", "none", container)
        docker("network", "connect", "bridge", container)
        before = state.read_bytes()
        for command in (["resume"], ["exec"]):
            tail = ["--", BUSYBOX, "true"] if command == ["exec"] else []
            self.refused(DRIFT, *command, "--state", state, *tail,
                         says=["NetworkSettings.Networks", "bridge"])
        self.assertEqual(state.read_bytes(), before)
        self.assertEqual(self.containers(), [container])
        self.expect(OK, "rm", "--state", state)
        self.assertEqual(self.containers(), [])

    def test_paused(self):
        state, container = self.create()
        docker("pause", container)
        before = state.read_bytes()
        self.refused(ENGINE, "resume", "--state", state, says="--unpause")
        self.refused(EXEC_FAILED, "exec", "--state", state, "--", BUSYBOX, "true",
                     says="--unpause")
        self.assertEqual(state.read_bytes(), before)
        done = self.expect(OK, "resume", "--state", state, "--unpause")
        self.assertEqual(done.stdout.decode(), f"reattached {container}\n")

    def test_two_creates_to_one_file(self):
        state, container = self.create()
        before = state.read_bytes()
        self.refused(INVALID, *self.create_arguments(state), says=[str(state), "cofferdam rm"])
        self.assertEqual(state.read_bytes(), before)
        self.assertEqual(self.containers(), [container])

    def test_two_creates_to_one_file_at_once(self):
        state = self.path("s")
        command = [CLI, *map(str, self.create_arguments(state))]
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(4)]
        codes = sorted((run.communicate(), run.returncode)[1] for run in runs)
        self.assertEqual(codes, [OK, INVALID, INVALID, INVALID])
        self.assertEqual(len(self.containers()), 1)
        self.expect(OK, "state", "verify", state)

    def test_an_empty_file_is_filled(self):
        state, _ = self.create(self.path("s", b"").name)
        self.expect(OK, "state", "verify", state)

    def test_streams(self):
        done = self.expect(OK, *self.create_arguments("-"))
        container = self.containers()[0]
        self.assertEqual(done.stderr.decode(), f"{container}\n")
        self.expect(OK, "state", "verify", "-", stdin=done.stdout)
        again = self.expect(OK, "resume", "--state", "-", stdin=done.stdout)
        self.assertEqual(again.stderr.decode(), f"reattached {container}\n")
        self.expect(OK, "state", "verify", "-", stdin=again.stdout)
        self.expect(OK, "exec", "--state", "-", "--", BUSYBOX, "true", stdin=again.stdout)
        self.expect(OK, "rm", "--state", "-", stdin=again.stdout)
        self.assertEqual(self.containers(), [])

    def test_keys(self):
        key = self.path("k", os.urandom(32))
        key.chmod(0o600)
        state, container = self.create("s", "--key-file", key)
        self.refused(INVALID, "resume", "--state", state, says="--key-file")
        docker("rm", "-f", container)
        self.expect(OK, "resume", "--state", state, "--key-file", key)
        self.expect(OK, "state", "verify", state, "--key-file", key)
        self.expect(OK, "exec", "--state", state, "--key-file", key, "--", BUSYBOX, "true")
        self.expect(OK, "rm", "--state", state, "--key-file", key)

    def test_warning(self):
        done = self.expect(OK, *self.create_arguments(self.path("s"), "--port", "8080"))
        self.assertRegex(done.stderr.decode(), r"(?m)^cofferdam: warning: .*port")

    def test_missing_image(self):
        state = self.path("s")
        self.refused(ENGINE, "create", "--image", "127.0.0.1:1/no/such:image", "--state", state,
                     "--label", self.label)
        self.assertFalse(state.exists())

    def test_list(self):
        state, container = self.create()
        entries = json.loads(self.expect(OK, "list", "--json").stdout)
        mine = [entry for entry in entries if entry["container_id"] == container]
        self.assertEqual(len(mine), 1)
        self.assertEqual(sorted(mine[0]), ["container_id", "created", "image", "session_id",
                                           "status"])
        self.assertEqual(mine[0]["status"], "running")
        self.assertEqual(mine[0]["image"], IMAGE)
        self.assertRegex(mine[0]["created"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        shown = json.loads(self.expect(OK, "state", "show", state).stdout)
        self.assertEqual(mine[0]["session_id"], shown["sessionId"])
        table = self.expect(OK, "list").stdout.decode()
        self.assertRegex(table.splitlines()[0], r"^SESSION +CONTAINER +STATUS +CREATED +IMAGE$")
        self.assertRegex(table, rf"(?m)^{mine[0]['session_id']}  {container[:12]}  running .*{IMAGE}$")

    def test_rm(self):
        state, container = self.create()
        done = self.expect(OK, "rm", "--state", state)
        self.assertEqual(done.stdout.decode(), f"removed {container}\n")
        self.assertFalse(state.exists())
        self.assertEqual(self.containers(), [])

    def test_rm_through_a_link(self):
        """A state that stayed behind the link would make the sandbox again."""
        state, _ = self.create()
        link = self.path("link")
        link.symlink_to(state)
        self.expect(OK, "rm", "--state", link)
        self.assertFalse(state.exists())
        self.assertFalse(link.is_symlink())

    def test_rm_of_what_is_gone(self):
        state, container = self.create()
        docker("rm", "-f", container)
        self.expect(OK, "rm", "--state", state)
        self.assertFalse(state.exists())


class NothingLost(EngineTest):
    """Between "created" and "state saved" nothing may leave a container without a state."""

    def start_create(self, state):
        run = subprocess.Popen([CLI, *map(str, self.create_arguments(state))],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        while not state.exists() and time.monotonic() < deadline and run.poll() is None:
            time.sleep(0.001)
        return run

    def interrupt_create(self, state, kind):
        """Again when it was quicker than the signal."""
        for _ in range(20):
            run = self.start_create(state)
            run.send_signal(kind)
            out, err = run.communicate(timeout=60)
            if run.returncode != OK:
                break
            self.expect(OK, "rm", "--state", state)
        return run, out, err

    def test_interrupt(self):
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            state = self.path("s")
            run, out, err = self.interrupt_create(state, kind)
            self.assertEqual(run.returncode, -kind, err)
            self.assertEqual(out, b"")
            self.assertRegex(err.decode(), r"^cofferdam: interrupted.*\n$")
            self.assertFalse(state.exists())
            self.assertEqual(self.containers(), [])

    def test_an_ignored_signal_is_ignored(self):
        state = self.path("s")
        old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            run = self.start_create(state)
        finally:
            signal.signal(signal.SIGHUP, old)
        run.send_signal(signal.SIGHUP)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, OK)
        self.expect(OK, "state", "verify", state)

    def lose_the_directory(self, number):
        """Moves it away while the sandbox is being made; None when that came too early or late."""
        inner = self.path(f"inner{number}")
        inner.mkdir()
        run = self.start_create(inner / "s")
        time.sleep(0.05)
        inner.rename(self.path(f"moved{number}"))
        out, err = run.communicate(timeout=60)
        if run.returncode == OK or b"nothing was done" in err:
            self.remove_containers()
            return None
        self.assertEqual((run.returncode, out), (INVALID, b""), err)
        self.assertEqual(self.containers(), [])
        return err

    def test_a_state_that_cannot_be_saved(self):
        said = None
        for number in range(10):
            said = said or self.lose_the_directory(number)
        self.assertIn(b"deleted again", said)

    def test_closed_standard_output(self):
        command = [CLI, *map(str, self.create_arguments(self.path("s")))]
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], check=False,
                              stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, ENGINE, done.stderr)
        self.assertIn(b"cannot write to standard output", done.stderr)
        self.expect(OK, "state", "verify", self.path("s"))
        self.assertEqual(len(self.containers()), 1)

    def test_a_state_that_cannot_go_to_standard_output(self):
        with open("/dev/full", "wb") as full:
            done = self.run_cli(*self.create_arguments("-"), stdout=full)
        self.assertEqual(done.returncode, INVALID)
        self.assertIn(b"deleted again", done.stderr)
        self.assertEqual(self.containers(), [])

    def test_a_resume_that_cannot_save_can_be_done_again(self):
        state, container = self.create()
        docker("rm", "-f", container)
        with open("/dev/full", "wb") as full:
            done = self.run_cli("resume", "--state", "-", stdin=state.read_bytes(), stdout=full)
        self.assertEqual(done.returncode, INVALID)
        new = self.containers()
        self.assertEqual(len(new), 1)
        self.assertIn(new[0].encode(), done.stderr)
        again = self.expect(OK, "resume", "--state", state).stdout.decode().split()
        self.assertEqual(again[1], new[0])
        self.assertEqual(self.containers(), new)
