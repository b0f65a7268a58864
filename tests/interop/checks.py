# SPDX-License-Identifier: Apache-2.0
"""What one language and the C library make of each other's states."""

import json
import os
import shutil
import subprocess

import truth
from tap import Failure, equal, expect

CLI = os.environ.get("COFFERDAM_CLI", "cofferdam")
OK, INVALID = 0, 10
FUTURE_FEATURE, FUTURE_MODE = 99, 7


class Refused(Exception):
    pass


def cofferdam(*arguments):
    """Exit code, stdout, stderr."""
    done = subprocess.run([CLI, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


class Checks:
    """The cases of one language."""

    def __init__(self, language, work):
        self.language = language
        self.work = work / "states" / language.name
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.key = self.work / "test-key"
        shutil.copyfile(truth.KEY, self.key)
        self.key.chmod(0o600)

    # ---- the language ----

    def run(self, program, *arguments):
        done = subprocess.run([str(word) for word in (*program, *arguments)], timeout=120,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        expect(done.returncode == 0, f"{self.language.name} {arguments}: exit status "
               f"{done.returncode}\n{done.stderr.decode(errors='replace')}")
        return done.stdout.decode()

    def with_key(self, keyed):
        return ["--key", self.key] if keyed else []

    def read(self, paths, keyed=False):
        """A value for each path; Refused with its reason where the program refused it."""
        output = self.run(self.language.driver(), *self.with_key(keyed), "read", *paths)
        lines = output.split("\n")[:-1]
        equal(len(lines), len(paths), "one line for each file")
        return [Refused(line) if line.startswith("refused: ") else json.loads(line)
                for line in lines]

    def edit(self, name, data, keyed=False):
        """The path of what the program made of the state."""
        source, target = self.work / "in", self.work / f"{name}-out"
        source.write_bytes(data)
        target.unlink(missing_ok=True)
        self.run(self.language.driver(), *self.with_key(keyed), name, source, target)
        return target

    def through_old(self, data):
        """What the careful reader says, and the path of what the careless one wrote."""
        source, target = self.work / "in", self.work / "old-out"
        source.write_bytes(data)
        target.unlink(missing_ok=True)
        return self.run(self.language.old(), source, target).strip(), target

    # ---- the C library ----

    def accepted(self, path, content, sealed=True, keyed=False):
        flags = ["--key-file", self.key] if keyed else []
        for command in ["check"] + ["verify"] * sealed:
            code, _, error = cofferdam("state", command, path, *flags)
            equal((code, error), (OK, ""), f"cofferdam state {command} {path.name}")
        code, shown, error = cofferdam("state", "show", "--show-env", path, *flags)
        equal((code, error), (OK, ""), f"cofferdam state show {path.name}")
        equal(truth.without_seal(json.loads(shown)), truth.without_seal(content),
              f"what C sees in {path.name}")

    def refused(self, path, *says, flags=()):
        code, shown, error = cofferdam("state", "check", path, *flags)
        equal((code, shown), (INVALID, ""), f"cofferdam state check {path.name}: {error}")
        for word in says:
            expect(word in error, f"{word!r} is not in: {error}")

    # ---- cases ----

    def reads_goldens(self, keyed):
        names = [name for name in truth.golden_names()
                 if truth.needs_key(truth.golden_json(name)) == keyed]
        expect(names, "there are no goldens")
        found = self.read([truth.GOLDENS / f"{name}.binpb" for name in names], keyed)
        for name, value in zip(names, found):
            equal(value, truth.golden_json(name), name)

    def reads_what_c_wrote(self):
        for name in ("r1-full", "r2-none-full", "r2-none-unsealed"):
            path = self.work / f"by-c-{name}"
            code, _, error = cofferdam("state", "seal", truth.GOLDENS / f"{name}.binpb", "--out",
                                       path, "--key-file", self.key)
            equal((code, error), (OK, ""), f"cofferdam state seal {name}")
            found, = self.read([path], keyed=True)
            equal(truth.without_seal(found), truth.without_seal(truth.golden_json(name)), name)

    def _refuses(self, files, keyed):
        paths = []
        for name, data in files.items():
            path = self.work / f"wrong-{name}"
            path.write_bytes(data)
            paths.append(path)
        for path, found in zip(paths, self.read(paths, keyed)):
            expect(isinstance(found, Refused), f"{path.name} was read")

    def refuses_wrong_seals(self):
        plain, keyed = truth.golden("r2-none-full"), truth.golden("r2-none-hmac")
        bare = truth.golden("r2-none-unsealed")
        self._refuses({"body": damaged(plain, 1), "digest": damaged(plain, len(plain) - 1),
                       "missing-key": keyed, "cut": plain[:-1],
                       "tail": plain + b"\x40\x01", "body-and-tail": plain + plain}, keyed=False)
        self._refuses({"no-seal": bare, "no-hmac": plain, "damaged-hmac": damaged(keyed, 1),
                       "other-key": truth.sealed(bare, b"another key, sixteen bytes")}, keyed=True)
        with_feature = truth.State.FromString(bare)
        with_feature.required_features.append(FUTURE_FEATURE)
        self._refuses({"feature": truth.sealed(with_feature.SerializeToString())}, keyed=False)

    def writes(self):
        folder = self.work / "written"
        folder.mkdir()
        self.run(self.language.driver(), "--key", self.key, "write", folder)
        for name, content, sealed, keyed in truth.WRITTEN:
            self.accepted(folder / name, content, sealed, keyed)
        self.refused(folder / "full-hmac", "key")
        self.refused(folder / "full-sha256", "key", flags=["--key-file", self.key])
        for name in ("full-sha256", "full-hmac"):
            flags = ["--key-file", self.key] if name == "full-hmac" else []
            data = (folder / name).read_bytes()
            for at in (1, len(data) // 2, len(data) - 1):
                path = folder / f"{name}-damaged"
                path.write_bytes(damaged(data, at))
                self.refused(path, flags=flags)

    def canonical(self):
        """The bytes that C makes of the state that this language wrote."""
        path = self.work / "canonical"
        code, _, error = cofferdam("state", "seal", self.work / "written/full-unsealed", "--out",
                                   path)
        equal((code, error), (OK, ""), "cofferdam state seal")
        return path.read_bytes()

    def map_order(self):
        orders = []
        for turn in range(5):
            folder = self.work / f"order-{turn}"
            folder.mkdir()
            self.run(self.language.driver(), "--key", self.key, "write", folder)
            orders.append(truth.label_keys((folder / "full-sha256").read_bytes()))
            self.accepted(folder / "full-sha256", truth.FULL)
        put_in = [f"label-{i}".encode() for i in reversed(range(20))]
        expect(all(order != sorted(order) for order in orders), "no order is the sorted one")
        wanted = self.language.map_order
        equal(all(order == put_in for order in orders), wanted == "kept", "entries are as put in")
        if wanted == "random":
            expect(any(order != orders[0] for order in orders), f"the order differs: {orders[0]}")

    def changes_a_field(self):
        for name in ("r1-full", "r1-minimal", "r2-none-full", "r2-none-unsealed", "r2-none-hmac"):
            content = truth.golden_json(name)
            keyed = truth.needs_key(content)
            path = self.edit("change", truth.golden(name), keyed)
            self.accepted(path, truth.changed(content), keyed=keyed)
        content = truth.golden_json("r2-none-minimal")
        content["options"]["labels"] = {"changed-by": self.language.source.name}
        self.accepted(self.edit("relabel", truth.golden("r2-none-minimal")), content)

    def cannot_strip(self):
        """Isolation and the list of features only go together, whoever seals the state."""
        for name in ("r2-none-full", "r2-none-hmac"):
            keyed = truth.needs_key(truth.golden_json(name))
            flags = ["--key-file", self.key] if keyed else []
            for edit, says in (("strip", "lists FEATURE_NETWORK_ISOLATION"),
                               ("unlist", "lacks FEATURE_NETWORK_ISOLATION"),
                               ("feature", f"needs feature {FUTURE_FEATURE}")):
                path = self.edit(edit, truth.golden(name), keyed)
                self.refused(path, says, flags=flags)

    def unknown_fields(self):
        name = "r2-none-unknown"
        before = truth.unknown_of(truth.golden(name))
        expect(all(before.values()), "the golden has unknown fields on every level")
        path = self.edit("copy", truth.golden(name))
        after = truth.unknown_of(path.read_bytes())
        if self.language.keeps_unknown_fields:
            equal(after, before, "unknown fields, which are kept")
        else:
            equal(after, {level: [] for level in before}, "unknown fields, which are dropped")
        # They isolate nothing, or a feature would stand for them: harmless either way.
        self.accepted(path, truth.golden_json(name))

    def unknown_option(self):
        """An isolating option of a later revision: its field may be dropped, its feature is not."""
        state = truth.State.FromString(truth.golden("r2-none-unsealed"))
        state.required_features.append(FUTURE_FEATURE)
        # Field 31, a varint.
        state.options.MergeFromString(b"\xf8\x01\x01")
        path = self.edit("copy", truth.sealed(state.SerializeToString()))
        equal(bool(truth.unknown_of(path.read_bytes())["options"]),
              self.language.keeps_unknown_fields, "the unknown option is there")
        equal(list(truth.State.FromString(path.read_bytes()).required_features),
              [1, FUTURE_FEATURE], "the features")
        self.refused(path, f"needs feature {FUTURE_FEATURE}")

    def unknown_enum_values(self):
        state = truth.State.FromString(truth.golden("r2-none-unsealed"))
        state.options.network_mode = FUTURE_MODE
        path = self.edit("copy", truth.sealed(state.SerializeToString()))
        found = truth.State.FromString(path.read_bytes())
        equal(found.options.network_mode, FUTURE_MODE, "the unknown network mode, which is kept")
        self.refused(path, "network_mode")
        shown, = self.read([path])
        equal(shown["options"]["networkMode"], FUTURE_MODE, "the unknown network mode as JSON")

    def old_program(self):
        """A program of r1 between two of r2."""
        for name in ("r1-full", "r2-unset"):
            said, path = self.through_old(truth.golden(name))
            equal(said, "read", f"a careful reader of r1, of {name}")
            self.accepted(path, truth.changed(truth.golden_json(name)))
        said, path = self.through_old(truth.golden("r2-none-full"))
        expect(said.startswith("refused: ") and "feature" in said,
               f"a careful reader of r1 said: {said}")
        if self.language.keeps_unknown_fields:
            self.accepted(path, truth.changed(truth.golden_json("r2-none-full")))
        else:
            self.refused(path, "lists FEATURE_NETWORK_ISOLATION")

    def cases(self):
        return [
            ("reads the goldens", self.reads_goldens, False),
            ("reads the goldens that are sealed with a key", self.reads_goldens, True),
            ("reads what C wrote", self.reads_what_c_wrote),
            ("refuses wrong seals and unknown features", self.refuses_wrong_seals),
            ("writes states that C accepts; C refuses them damaged", self.writes),
            (f"map entries in {self.language.map_order} order; C does not mind", self.map_order),
            ("changes a field and seals again", self.changes_a_field),
            ("cannot strip isolation", self.cannot_strip),
            (f"{self.verb()} unknown fields, which is harmless", self.unknown_fields),
            (f"{self.verb()} an unknown isolating option, keeps its feature, and C refuses",
             self.unknown_option),
            ("keeps unknown enum values, and C refuses them", self.unknown_enum_values),
            ("of r1 in the middle does not weaken a state of r2", self.old_program),
        ]

    def verb(self):
        return "keeps" if self.language.keeps_unknown_fields else "drops"


def damaged(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def same_bytes(all_checks):
    """C makes the same bytes of the same content, whichever language it comes from."""
    found = {checks.language.name: checks.canonical() for checks in all_checks}
    if len(set(found.values())) != 1:
        raise Failure(f"C made different bytes: {found}")
