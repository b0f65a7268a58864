# SPDX-License-Identifier: Apache-2.0
"""What the CLI takes, and what its help says."""

import re

from support import ENGINE, INVALID, OK, USAGE, CliTest

COMMANDS = ["create", "resume", "exec", "ps", "attach", "logs", "kill", "list", "reap", "rm",
            "state show", "state check", "state seal", "state verify", "state diff", "state import",
            "state export"]


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
        for command in ["resume", "rm", "exec", "ps"]:
            self.usage(command, says="--state")
        for command in ["attach", "logs", "kill"]:
            self.usage(command, "key", says="--state")
            self.usage(command, "--state", "s", says="KEY")
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

    def test_letters(self):
        missing = str(self.path("missing"))
        for flags in (["-i"], ["-d", "-t"], ["-dit"], ["-u", "1000"], ["-u1000"],
                      ["-dw/", "-eA=1"]):
            self.refused(INVALID, "exec", *flags, "--state", missing, "--", "true", says=missing)
        self.usage("exec", "-ix", "--state", "s", "--", "true", says="-ix")
        self.usage("exec", "-i", "-i", "--state", "s", "--", "true",
                   says="--interactive is given twice")
        self.usage("exec", "-ii", "--state", "s", "--", "true", says="twice")
        self.usage("exec", "-u", says="-u needs a value")
        self.usage("exec", "-e", "SECRET", "--state", "s", "--", "true", says="KEY=VALUE")
        self.usage("list", "-i", says="-i")
        self.usage("create", "-e", "A=1", says="-e")

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
        self.usage("a\x9b1m\u202eb\xe9", says="a\\xc2\\x9b1m\\xe2\\x80\\xaeb\xe9")

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
            flags = re.findall(r"(?m)^  (?:-\w, )?--([a-z-]+)", text)
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
