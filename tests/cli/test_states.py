# SPDX-License-Identifier: Apache-2.0
"""The commands that look at states."""

import json
import os
import re
import signal

from support import (ACTS, CONTAINER_ID, DIFFERENT, ENGINE, INVALID, OK, SESSION_ID, CliTest, env,
                     field, sealed, sealed_with_key, unsealed)

KEY = bytes(range(32))


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

    def test_texts_change_no_terminal(self):
        value = "\u009b31m \u202e \u2066 \x1b[2J \x7f caf\u00e9"
        state = self.path("odd", sealed(unsealed(more=field(3, field(1, value) + field(2, value)))))
        for command in (["show"], ["show", "--format", "text"], ["show", "--show-env"],
                        ["export", "--format", "json"], ["export", "--format", "text"]):
            out = self.expect(OK, "state", *command, state).stdout
            self.assertNotRegex(out, ACTS)
            if "text" not in command:
                self.assertEqual(json.loads(out)["options"]["labels"], {value: value})
                self.assertIn("caf\u00e9".encode(), out)
        self.assertNotRegex(self.expect(DIFFERENT, "state", "diff", self.sealed, state).stdout, ACTS)
        exported = self.expect(OK, "state", "export", state, "--format", "json").stdout
        back = self.expect(OK, "state", "import", "-", "--format", "json", stdin=exported)
        self.assertEqual(back.stdout, state.read_bytes())

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
