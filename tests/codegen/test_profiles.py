# SPDX-License-Identifier: Apache-2.0
"""Profiles: options in text format, read by the generator. Each isolating option is set by every one
of them, or says why it is not; and the places that options may fill at all."""

from __future__ import annotations

import pathlib
import re
import unittest

from support import ROOT, Scratch  # makes codegen/ importable

import model
import profile_texts
from descriptors import compile_schema

# All that an option may say to the engine. Nothing here undoes an isolation, names a network, or
# reaches the host: no privileges, capabilities, devices, binds, volumes, or namespaces of others.
# Whoever adds a place has to answer for it, in session/reach.c as well.
PLACES = frozenset("""
    Image ExposedPorts Labels Env User WorkingDir Hostname ?platform
    HostConfig.PortBindings HostConfig.NetworkMode HostConfig.Memory HostConfig.MemorySwap
    HostConfig.NanoCpus HostConfig.PidsLimit HostConfig.Tmpfs HostConfig.ReadonlyRootfs
    HostConfig.CapDrop HostConfig.SecurityOpt HostConfig.Runtime HostConfig.Ulimits
    """.split())
WORDS = frozenset(("ALL", "no-new-privileges"))

# What other tests and the documentation add to a copy of the schema.
EXAMPLES = 500


def real() -> model.Model:
    schema = ROOT / "schema"
    return model.build(compile_schema(schema), profile_texts.read(schema))


class Real(unittest.TestCase):
    def setUp(self) -> None:
        self.model = real()
        self.fields = [field for field in self.model.options.fields if field.number < EXAMPLES]

    def test_no_option_reaches_the_host(self) -> None:
        places = {f"?{place.query}" if place.query else place.path
                  for field in self.fields for place in field.create}
        self.assertEqual(places - PLACES, set())
        self.assertEqual(PLACES - places, set(), "nobody needs this any more")

    def test_no_option_has_words_of_its_own(self) -> None:
        words = {place.word for field in self.fields for place in field.create if place.word}
        self.assertEqual(words, WORDS)
        docker = {value.docker for field in self.fields if field.enum
                  for value in field.enum.values if value.docker}
        self.assertEqual(docker, {"none", "hardened"})

    def test_every_isolating_option_is_set(self) -> None:
        self.assertEqual([profile.value.docker for profile in self.model.profiles], ["hardened"])
        for profile in self.model.profiles:
            sets = {field.name for field, _ in profile.settings}
            for field in self.model.isolating:
                self.assertTrue(field.name in sets or field.unprofiled, field.name)
        left_out = {field.name for field in self.fields if field.unprofiled}
        self.assertEqual(left_out, {"runtime", "deadline"})

    def test_every_isolating_option_is_strictly_compared(self) -> None:
        for field in self.model.isolating:
            for look in field.inspect:
                self.assertNotEqual(look.compare, "ABSENT_OR_EQUAL", field.name)


ENUM = """
enum Profile {
  PROFILE_UNSET = 0 [(value) = { since_revision: 1 help: "None." }];
  PROFILE_STRICT = 1 [(value) = { since_revision: 1 docker: "strict" help: "Strict." }];
}

message SandboxOptions {
  Profile profile = 30 [(field) = {
    since_revision: 1
    help: "The profile."
    rules: { enum: { defined_only: true } }
    create: { path: "Labels" shape: SHAPE_LABEL label: "io.cofferdam.profile" }
    inspect: { path: "Config.Labels" compare: COMPARE_LABEL label: "io.cofferdam.profile" }
    flag: { name: "profile" metavar: "PROFILE" }
  }];
"""
TEXT = """# A comment.
network_mode: NETWORK_MODE_NONE
read_only: true
memory: 8388608
user: "1:2"
drops: "ALL"
drops: "X"
groups: 7
groups: 8
tmpfs { key: "/b" value: "uid={uid},gid={gid}" }
tmpfs { key: "/a" value: "" }
no_new: true
limits { key: "core" value: "0:0" }
until: 5
"""


class Made(Scratch):
    """With a small schema that has a profile."""

    def setUp(self) -> None:
        super().setUp()
        self.schema = self.small_schema()
        self.edit(self.schema, "options.proto", "message SandboxOptions {\n", ENUM)
        self.write("strict.txtpb", TEXT)

    def write(self, name: str, text: str) -> pathlib.Path:
        directory = self.schema / "profiles"
        directory.mkdir(exist_ok=True)
        path = directory / name
        path.write_text(text, "utf-8")
        return path

    def refused(self, reason: str) -> None:
        done = self.generate(self.schema)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertNotIn("Traceback", done.stderr)
        self.assertIn(reason, done.stderr)
        self.assertFalse((self.directory / "generated").exists(), "something was written")

    def test_it_generates_and_compiles(self) -> None:
        done = self.generate(self.schema)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.compile(self.directory / "generated")
        text = (self.directory / "generated/c/profiles.c").read_text("utf-8")
        self.assertLess(text.index("cdam_options_set_user"), text.index("{uid}"), "maps come last")
        self.assertLess(text.index('"/a"'), text.index('"/b"'), "sorted")
        self.assertIn("cdam_options_add_group(options, 8, err)", text)

    def test_a_profile_is_missing(self) -> None:
        self.write("strict.txtpb", TEXT).unlink()
        self.refused("PROFILE_STRICT: profiles/strict.txtpb is missing")

    def test_a_profile_of_no_value(self) -> None:
        self.write("other.txtpb", TEXT)
        self.refused("profiles/other.txtpb: is the profile of no value of Profile")

    def test_an_isolating_option_is_forgotten(self) -> None:
        self.write("strict.txtpb", re.sub(r"read_only: true\n", "", TEXT))
        self.refused("read_only isolates, so profiles/strict.txtpb has to set it, or `unprofiled`")

    def test_an_isolating_option_may_say_why_not(self) -> None:
        self.write("strict.txtpb", re.sub(r"until: 5\n", "", TEXT))
        self.edit(self.schema, "options.proto", 'feature: "FEATURE_UNTIL"',
                  'feature: "FEATURE_UNTIL" unprofiled: "why"')
        self.assertEqual(self.generate(self.schema).returncode, 0)

    def test_it_says_why_not_and_is_set(self) -> None:
        self.edit(self.schema, "options.proto", 'feature: "FEATURE_UNTIL"',
                  'feature: "FEATURE_UNTIL" unprofiled: "why"')
        self.refused("until: `unprofiled`, yet profiles/strict.txtpb sets it")

    def test_what_a_text_may_not_be(self) -> None:
        for text, reason in (
            ("no_such_option: 1", "is no SandboxOptions"),
            ("memory: -1", "is no SandboxOptions"),
            ("memory: 1 memory: 2", "is no SandboxOptions"),
            ('image: "busybox"', "a profile cannot set image"),
            ("profile: PROFILE_STRICT", "a profile cannot set profile"),
            ('tmpfs { key: "/x" value: "{user}" }', "only {uid} and {gid} may stand in braces"),
            ('tmpfs { key: "{uid}" value: "" }', "only {uid} and {gid} may stand in braces"),
            ('name: "{uid}"', "only {uid} and {gid} may stand in braces"),
        ):
            with self.subTest(text):
                before = TEXT.replace("memory: 8388608\n", "") if "memory: 1" in text else TEXT
                self.write("strict.txtpb", before + text + "\n")
                self.refused(reason)

    def test_a_placeholder_needs_a_user(self) -> None:
        self.write("strict.txtpb", TEXT.replace('user: "1:2"\n', ""))
        self.refused("'uid={uid},gid={gid}' needs a user")


if __name__ == "__main__":
    unittest.main()
