# SPDX-License-Identifier: Apache-2.0
"""The CLI where no engine is needed, and where none may be asked."""

import os
import pty
import re
import signal
import subprocess

from support import (CLI, CONTAINER_ID, DIFFERENT, DRIFT, ENGINE, EXEC_FAILED, INVALID, OK,
                     SESSION_ID, USAGE, CliTest, PullingEngine, StubbornHandler, Tripwire, env,
                     field, sealed, sealed_with_key, unsealed)

COMMANDS = ["create", "resume", "exec", "list", "rm", "state show", "state check", "state seal",
            "state verify", "state diff", "state import", "state export"]
KEY = bytes(range(32))


class Usage(CliTest):
    def usage(self, *arguments, says=()):
        return self.refused(USAGE, *arguments, says=says)

    def test_no_command(self):
        self.usage(says="cofferdam --help")
        self.usage("--", says="cofferdam --help")

    def test_unknown_command(self):
        self.usage("frobnicate", says=["frobnicate", "--help"])
        self.usage("state", says="state --help")
        self.usage("state", "frobnicate", says=["state frobnicate", "state --help"])
        self.usage("help", "frobnicate", says="frobnicate")
        self.usage("creat", says="creat")

    def test_unknown_flag(self):
        self.usage("--frobnicate", says="--frobnicate")
        for command in COMMANDS:
            self.usage(*command.split(), "--frobnicate=secret", says=["--frobnicate", command])
            self.usage(*command.split(), "-x", says=["-x", command])

    def test_a_flag_of_another_command(self):
        self.usage("list", "--image", "busybox:test", says="--image")
        self.usage("resume", "--image", "busybox:test", says="--image")
        self.usage("list", "--require-network", "none", says="--require-network")
        self.usage("create", "--require-image", "busybox:test", says="--require-image")

    def test_missing_arguments(self):
        self.usage("create", says="--image")
        self.usage("create", "--image", "busybox:test", says="--state")
        for command in ["resume", "rm", "exec"]:
            self.usage(command, says="--state")
        self.usage("exec", "--state", self.path("s"), says="command")
        self.usage("exec", "--state", self.path("s"), "--", says="command")
        for arguments in ([], ["a"], ["", "b"], ["a", ""]):
            self.usage("state", "diff", *arguments, says="two FILEs")
        for command in ["import", "export"]:
            self.usage("state", command, "a", says="--format")
        for command in ["show", "check", "seal", "verify"]:
            self.usage("state", command, says="FILE")
            self.usage("state", command, "", says="FILE")

    def test_missing_values(self):
        self.usage("create", "--image", says="--image needs a value")
        self.usage("resume", "--state", says="--state needs a value")
        self.usage("resume", "--state", "", says="--state is empty")
        self.usage("resume", "--state=", says="--state is empty")
        self.usage("--host", says="--host needs a value")

    def test_a_value_where_none_belongs(self):
        self.usage("list", "--json=yes", says="--json takes no value")

    def test_too_many_arguments(self):
        self.usage("list", "more", says="more")
        self.usage("create", "--image", "busybox:test", "more", "--state", "s", says="more")
        self.usage("resume", "--state", "s", "more", says="more")
        self.usage("state", "show", "one", "two", says="two")
        self.usage("state", "diff", "one", "two", "three", says="three")
        self.usage("state", "diff", "-", "-", says="standard input")

    def test_formats(self):
        self.usage("state", "show", "s", "--format", "yaml", says="json or text")
        self.usage("state", "show", "s", "--format", "agents-json", says="json or text")
        for command in ["import", "export"]:
            self.usage("state", command, "s", "--format", "yaml",
                       says="agents-json, json or text")
        self.usage("state", "import", "s", "--format", "agents-json", "--ignore-unknown",
                   says="--ignore-unknown")
        self.usage("state", "export", "s", "--format", "json", "--base", "b", says="--base")

    def test_given_twice(self):
        self.usage("resume", "--state", "a", "--state", "b", says="--state is given twice")
        self.usage("create", "--network", "none", "--network", "none", says="twice")

    def test_no_abbreviations(self):
        self.usage("create", "--net", "none", says="--network")
        self.usage("resume", "--state", "s", "--require-net", "none", says="--require-network")
        self.usage("resume", "--stat=s", says="--state")

    def test_timeout(self):
        for text in ["", "0", "0.0", "-1", "abc", "1s", "1.", ".5", "1e3", "nan", "inf", "0x10",
                     " 1", "1 ", "1,5", "9999999999999999999999"]:
            self.usage("exec", "--state", "s", f"--timeout={text}", "--", "true", says="--timeout")

    def test_env_of_exec(self):
        for text in ["", "SECRET", "=x"]:
            told = self.usage("exec", "--state", "s", f"--env={text}", "--", "true", says="--env")
            self.assertNotIn("SECRET", told)

    def test_control_characters_are_escaped(self):
        told = self.usage("a\nb\x1b[31m", says="a\\x0ab\\x1b[31m")
        self.assertNotIn("\x1b", told)

    def test_endpoints(self):
        for host in ["http://x", "unix://", "tcp://127.0.0.1:2375", "tcp://"]:
            self.usage("--host", host, "list")
            self.usage("list", "--host", host)


class Help(CliTest):
    def help(self, *arguments):
        done = self.expect(OK, *arguments)
        self.assertFalse(done.stderr)
        text = done.stdout.decode()
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
            self.assertEqual(line, line.rstrip(), repr(line))
        return text

    def test_overview(self):
        text = self.help("--help")
        self.assertEqual(text, self.help("help"))
        self.assertEqual(text, self.help("-h"))
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")
        self.assertIn("DOCKER_HOST", text)

    def test_each_command(self):
        for command in COMMANDS:
            text = self.help(*command.split(), "--help")
            self.assertEqual(text, self.help("help", *command.split()))
            self.assertTrue(text.startswith(f"Usage: cofferdam {command} "), text)
            self.assertIn("\nExamples:\n  cofferdam", text)
            self.assertIn("\nExit status:\n", text)
            flags = re.findall(r"(?m)^  --([a-z-]+)", text)
            self.assertEqual(len(flags), len(set(flags)), flags)
            self.assertIn("help", flags)

    def test_state_commands(self):
        text = self.help("state", "--help")
        self.assertEqual(text, self.help("help", "state"))
        self.assertIn("state verify", text)
        self.assertNotRegex(text, r"(?m)^  resume")

    def test_options_come_from_the_table(self):
        text = self.help("create", "--help")
        for flag in ["--image IMAGE", "--port PORT", "--label KEY=VALUE", "--env KEY=VALUE",
                     "--network MODE", "--require-network MODE", "--state FILE", "--key-file FILE",
                     "--host ENDPOINT", "--allow-plain-tcp"]:
            self.assertIn(flag, text)
        self.assertIn("none", text)
        self.assertNotIn("--require-image", text)

    def test_exit_codes_of_exec(self):
        text = self.help("exec", "--help")
        for code in ["2", "10", "11", "124", "125", "126", "127"]:
            self.assertRegex(text, rf"(?m)^  {code} ")

    def test_help_wins_over_what_is_missing(self):
        self.help("exec", "--state", "s", "--help")

    def test_help_of_the_command_that_is_run_stays_its_own(self):
        self.refused(INVALID, "exec", "--state", self.path("missing"), "--", "ls", "--help")
        self.refused(INVALID, "exec", "--state", self.path("missing"), "ls", "--help")

    def test_version(self):
        text = self.help("--version")
        self.assertRegex(text, r"^cofferdam \d+\.\d+\.\d+ \(schema revision \d+\)\n$")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            done = self.run_cli("--help", stdout=full)
        self.assertEqual(done.returncode, ENGINE)
        self.assertIn(b"cannot write to standard output", done.stderr)


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
        self.assertTrue(self.engine.pulling.wait(20))
        self.assertTrue(self.state.exists())
        return run

    def test_interrupt(self):
        run = self.start()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=10)
        self.assertEqual(run.returncode, -signal.SIGINT, err)
        self.assertEqual(out, b"")
        self.assertEqual(err, b"cofferdam: interrupted; nothing was left behind\n")
        self.assertFalse(self.state.exists())

    def test_progress_on_a_terminal(self):
        leader, terminal = pty.openpty()
        run = self.start(stderr=terminal)
        os.close(terminal)
        shown = b""
        while b"MiB" not in shown:
            shown += os.read(leader, 4096)
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=10)
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
        self.assertTrue(self.engine.pulling.wait(20))
        if interrupt:
            run.send_signal(signal.SIGINT)
        err = run.communicate(timeout=20)[1].decode()
        self.assertIn("could not be removed: clean up: not today); remove it by hand\n", err)
        self.assertNotIn("left behind", err)
        return run.returncode

    def test_said(self):
        self.assertEqual(self.create(False), DRIFT)

    def test_said_when_interrupted(self):
        self.assertEqual(self.create(True), -signal.SIGINT)


class States(CliTest):
    def setUp(self):
        super().setUp()
        self.plain = self.path("plain", unsealed())
        self.sealed = self.path("sealed", sealed(unsealed()))
        self.key = self.path("team.key", KEY)
        self.other = self.path("other.key", KEY[::-1])
        for key in (self.key, self.other):
            key.chmod(0o600)
        self.keyed = self.path("keyed", sealed_with_key(unsealed(), KEY, "team.key"))

    def test_show(self):
        for path in (self.plain, self.sealed):
            text = self.expect(OK, "state", "show", path).stdout.decode()
            self.assertEqual(text.count("\n"), 1)
            self.assertTrue(text.endswith("}\n"))
            self.assertIn('NETWORK_MODE_NONE', text)
            self.assertIn(CONTAINER_ID, text)
        self.expect(OK, "state", "show", self.keyed, "--key-file", self.key)

    def test_show_hides_env(self):
        state = self.path("env", sealed(unsealed(more=env("B", b"") + env("TOKEN", b"s3cret"))))
        for flags in ([], ["--format", "json"], ["--format", "text"]):
            done = self.expect(OK, "state", "show", state, *flags)
            self.assertNotIn(b"s3cret", done.stdout + done.stderr)
            self.assertIn(b"TOKEN", done.stdout)
            self.assertEqual(done.stdout.count(b'"(hidden)"'), 2)
            self.assertRegex(done.stderr, rb"^cofferdam: note: .*2; --show-env .*\n$")
            # Not the state any more.
            form = flags[1] if flags else "json"
            self.refused(INVALID, "state", "import", "-", "--format", form, stdin=done.stdout)
            done = self.expect(OK, "state", "show", "--show-env", state, *flags)
            self.assertIn(b"s3cret", done.stdout)
            self.assertFalse(done.stderr)
            back = self.expect(OK, "state", "import", "-", "--format", form, stdin=done.stdout)
            self.assertEqual(back.stdout, state.read_bytes())
        self.assertFalse(self.expect(OK, "state", "show", self.sealed).stderr)

    def test_show_as_text(self):
        text = self.expect(OK, "state", "show", "--format", "text", self.sealed).stdout.decode()
        self.assertTrue(text.startswith("schema_revision: 2\nrequired_features: FEATURE_"), text)
        self.assertTrue(text.endswith('"\n}\n'), text)
        self.assertIn("  network_mode: NETWORK_MODE_NONE\n", text)

    def test_forms(self):
        for form in ("json", "text"):
            out, back = self.path(f"out-{form}"), self.path(f"back-{form}")
            self.expect(OK, "state", "export", self.sealed, "--format", form, "--out", out)
            self.assertRegex(out.read_bytes(), rb"[^\n]\n\Z")
            self.expect(OK, "state", "import", out, "--format", form, "--out", back)
            self.assertEqual(back.read_bytes(), self.sealed.read_bytes())
            self.assertEqual(back.stat().st_mode & 0o777, 0o600)
            self.refused(INVALID, "state", "import", out, "--format", form, "--out", back,
                         says="exists")
            done = self.expect(OK, "state", "export", self.keyed, "--format", form, "--key-file",
                               self.key)
            self.refused(INVALID, "state", "import", "-", "--format", form, stdin=done.stdout,
                         says="--key-file")
            done = self.expect(OK, "state", "import", "-", "--format", form, "--key-file", self.key,
                               stdin=done.stdout)
            self.assertEqual(done.stdout, self.keyed.read_bytes())
        plain = self.expect(OK, "state", "export", self.plain, "--format", "text").stdout
        done = self.expect(OK, "state", "import", "-", "--format", "text", "--key-file", self.key,
                           stdin=plain)
        self.assertEqual(done.stdout, self.keyed.read_bytes())

    def test_unknown_names(self):
        json_of = self.expect(OK, "state", "export", self.plain, "--format", "json").stdout
        text_of = self.expect(OK, "state", "export", self.plain, "--format", "text").stdout
        later = {"json": json_of.replace(b"{", b'{"later": 1, ', 1),
                 "text": b"later { x: 1 }\n" + text_of}
        inside = {"json": json_of.replace(b'"image":', b'"walls": 1, "image":'),
                  "text": text_of.replace(b"  image:", b"  walls: 1\n  image:")}
        for form in ("json", "text"):
            flags = ["--format", form, "--ignore-unknown"]
            self.refused(INVALID, "state", "import", "-", "--format", form, stdin=later[form],
                         says="later: there is no such field")
            done = self.expect(OK, "state", "import", "-", *flags, stdin=later[form])
            self.assertRegex(done.stderr, rb"^cofferdam: note: later: .*\n$")
            self.assertEqual(done.stdout, self.sealed.read_bytes())
            self.refused(INVALID, "state", "import", "-", *flags, stdin=inside[form],
                         says="options.walls: there is no such field")

    def test_fields_of_a_later_revision_are_told(self):
        state = self.path("later", sealed(unsealed() + field(100, b"later")))
        for form in ("json", "text"):
            done = self.expect(OK, "state", "export", state, "--format", form)
            self.assertRegex(done.stderr, rb"^cofferdam: note: .*later revision.*\n$")
            self.refused(INVALID, "state", "import", "-", "--format", form, stdin=done.stdout)

    def diff(self, code, *arguments, **kwargs):
        return self.expect(code, "state", "diff", *arguments, **kwargs).stdout.decode()

    def test_diff(self):
        self.assertEqual(self.diff(OK, self.sealed, self.sealed), "")
        self.assertEqual(self.diff(OK, self.sealed, "-", stdin=self.sealed.read_bytes()), "")
        self.assertEqual(self.diff(DIFFERENT, self.plain, self.sealed),
                         "one sandbox, in the same container\n"
                         "seal.algorithm: UNSPECIFIED -> SHA256\n")
        wide = self.path("wide", sealed(unsealed(network_mode=0, features=())))
        self.assertEqual(self.diff(DIFFERENT, self.sealed, wide),
                         "one sandbox, in the same container\n"
                         "required_features: removed [NETWORK_ISOLATION]\n"
                         "options.network_mode: NONE -> UNSET (isolation lost!)\n")
        self.assertIn("options.network_mode: UNSET -> NONE (isolation differs)\n",
                      self.diff(DIFFERENT, wide, self.sealed))

    def test_diff_tells_who_it_is(self):
        def changed(name, old, new):
            return self.path(name, sealed(unsealed().replace(old.encode(), new.encode())))

        again = changed("again", CONTAINER_ID, CONTAINER_ID[::-1])
        text = self.diff(DIFFERENT, self.sealed, again)
        self.assertEqual(text, "one sandbox, whose container was recreated\n"
                               f'container_id: "{CONTAINER_ID}" -> "{CONTAINER_ID[::-1]}"\n')
        other = changed("other", SESSION_ID, SESSION_ID.replace("4", "5", 1))
        text = self.diff(DIFFERENT, self.sealed, other)
        self.assertTrue(text.startswith("two sandboxes: the session ids differ\nsession_id: "))

    def test_diff_hides_env(self):
        before = self.path("before", sealed(unsealed(more=env("A", b"s3cret") + env("B", b"b"))))
        after = self.path("after", sealed(unsealed(more=env("A", b"s3cret2") + env("C", b"s3"))))
        done = self.expect(DIFFERENT, "state", "diff", before, after)
        self.assertEqual(done.stdout.decode(), "one sandbox, in the same container\n"
                                               "options.env[A]: changed (hidden)\n"
                                               "options.env[B]: removed (hidden)\n"
                                               "options.env[C]: added (hidden)\n")
        self.assertRegex(done.stderr, rb"^cofferdam: note: .*3; --show-env .*\n$")
        done = self.expect(DIFFERENT, "state", "diff", before, after, "--show-env")
        self.assertEqual(done.stdout.decode(), "one sandbox, in the same container\n"
                                               'options.env[A]: "s3cret" -> "s3cret2"\n'
                                               'options.env[B]: removed "b"\n'
                                               'options.env[C]: added "s3"\n')
        self.assertFalse(done.stderr)

    def test_diff_refuses(self):
        damaged = self.path("damaged", self.sealed.read_bytes()[:-1])
        for pair in ([self.sealed, damaged], [damaged, self.sealed],
                     [self.path("missing"), self.sealed], [self.sealed, self.keyed]):
            self.refused(INVALID, "state", "diff", *pair)
        self.refused(INVALID, "state", "diff", self.keyed, self.sealed, "--key-file", self.key)
        self.assertEqual(self.diff(OK, self.keyed, self.keyed, "--key-file", self.key), "")

    def test_standard_input(self):
        by_name = self.expect(OK, "state", "show", self.sealed).stdout
        by_stream = self.expect(OK, "state", "show", "-", stdin=self.sealed.read_bytes()).stdout
        self.assertEqual(by_name, by_stream)
        self.expect(OK, "state", "check", "-", stdin=self.sealed.read_bytes())
        self.refused(INVALID, "state", "check", "-", stdin=b"")

    def test_check(self):
        lines = self.expect(OK, "state", "check", self.sealed).stdout.decode().splitlines()
        self.assertEqual(lines[0], "ok")
        found = dict(re.split(r":\s+", line, maxsplit=1) for line in lines[1:])
        self.assertEqual(found["revision"], "2")
        self.assertEqual(found["seal"], "SHA-256")
        self.assertEqual(found["session"], SESSION_ID)
        self.assertEqual(found["container"], CONTAINER_ID)
        self.assertEqual(found["isolation"], "network isolation")

    def test_check_tells_what_is_missing(self):
        text = self.expect(OK, "state", "check", self.plain).stdout.decode()
        self.assertRegex(text, r"(?m)^seal: +none$")
        open_state = self.path("open", unsealed(network_mode=0, features=()))
        text = self.expect(OK, "state", "check", open_state).stdout.decode()
        self.assertRegex(text, r"(?m)^isolation: +none asked for$")
        text = self.expect(OK, "state", "check", self.keyed, "--key-file", self.key).stdout
        self.assertIn(b"HMAC-SHA-256, key team.key", text)

    def test_unknown_fields_are_told_and_kept(self):
        state = self.path("later", sealed(unsealed() + field(100, b"later")))
        text = self.expect(OK, "state", "check", state).stdout
        self.assertIn(b"later revision", text)
        self.expect(OK, "state", "seal", state, "--key-file", self.key)
        self.assertIn(field(100, b"later"), state.read_bytes())

    def test_refusals(self):
        damaged = self.path("damaged", self.sealed.read_bytes()[:-1])
        for command in ("show", "check", "verify", "seal"):
            self.refused(INVALID, "state", command, damaged, says=str(damaged))
            self.refused(INVALID, "state", command, self.path("missing"), says="missing")
            self.refused(INVALID, "state", command, self.keyed, says="--key-file")
            self.refused(INVALID, "state", command, self.keyed, "--key-file", self.other)
            self.refused(INVALID, "state", command, self.sealed, "--key-file", self.path("nokey"),
                         says="nokey")

    def test_a_key_demands_its_seal(self):
        for command in ("show", "check", "verify"):
            for path in (self.plain, self.sealed):
                self.refused(INVALID, "state", command, path, "--key-file", self.key)

    def test_verify(self):
        self.assertEqual(self.expect(OK, "state", "verify", self.sealed).stdout,
                         b"ok, sealed with SHA-256\n")
        self.assertEqual(
            self.expect(OK, "state", "verify", "--key-file", self.key, self.keyed).stdout,
            b"ok, sealed with HMAC-SHA-256, key team.key\n")
        self.refused(INVALID, "state", "verify", self.plain, says="not sealed")

    def test_seal_in_place(self):
        self.expect(OK, "state", "seal", self.plain)
        self.assertEqual(self.plain.read_bytes(), sealed(unsealed()))
        self.assertEqual(self.plain.stat().st_mode & 0o777, 0o600)
        self.expect(OK, "state", "seal", self.plain, "--key-file", self.key)
        self.assertEqual(self.plain.read_bytes(), self.keyed.read_bytes())
        self.expect(OK, "state", "seal", self.plain, "--key-file", self.key)
        self.assertEqual(self.plain.read_bytes(), self.keyed.read_bytes())
        self.assertEqual(sorted(path.name for path in self.dir.iterdir()),
                         ["keyed", "other.key", "plain", "sealed", "team.key"])

    def test_seal_through_a_link(self):
        link = self.path("link")
        link.symlink_to("plain")
        self.expect(OK, "state", "seal", link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(self.plain.read_bytes(), sealed(unsealed()))

    def test_seal_elsewhere(self):
        out = self.path("out")
        self.expect(OK, "state", "seal", self.plain, "--out", out)
        self.assertEqual(out.read_bytes(), sealed(unsealed()))
        self.assertEqual(self.plain.read_bytes(), unsealed())
        self.refused(INVALID, "state", "seal", self.plain, "--out", out, says="exists")
        done = self.expect(OK, "state", "seal", self.plain, "--out", "-")
        self.assertEqual(done.stdout, sealed(unsealed()))
        done = self.expect(OK, "state", "seal", "-", stdin=unsealed())
        self.assertEqual(done.stdout, sealed(unsealed()))

    def test_seal_makes_no_wrong_seal_right(self):
        forged = {
            "plain seal": unsealed() + field(2047, field(1, 1) + field(3, b"x" * 32)),
            "key seal": sealed_with_key(unsealed(), KEY[::-1], "team.key"),
            "changed": sealed_with_key(unsealed(), KEY, "team.key").replace(b"busybox", b"busyboy"),
        }
        for name, content in forged.items():
            state = self.path("forged", content)
            with self.subTest(name=name):
                self.refused(INVALID, "state", "seal", state)
                self.refused(INVALID, "state", "seal", state, "--key-file", self.key)
                self.assertEqual(state.read_bytes(), content)

    def test_seal_does_not_weaken_a_seal(self):
        before = self.keyed.read_bytes()
        self.refused(INVALID, "state", "seal", self.keyed, says="--key-file")
        self.assertEqual(self.keyed.read_bytes(), before)

    def test_sigpipe_is_quiet(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = self.run_cli("state", "show", self.sealed, stdout=writer,
                            preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        os.close(writer)
        self.assertEqual(done.returncode, -signal.SIGPIPE)
        self.assertEqual(done.stderr, b"")

    def test_output_that_cannot_be_written(self):
        for arguments in (["show", self.sealed], ["check", self.sealed], ["verify", self.sealed],
                          ["seal", self.sealed, "--out", "-"]):
            with open("/dev/full", "wb") as full:
                done = self.run_cli("state", *arguments, stdout=full)
            self.assertIn(done.returncode, (ENGINE, INVALID))
            self.assertIn(b"standard output", done.stderr)
