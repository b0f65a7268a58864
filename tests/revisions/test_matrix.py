# SPDX-License-Identifier: Apache-2.0
"""Every writer against every reader, cell by cell. REVISIONS_WORK names a directory in which the
libraries stay built; DOCKER_HOST an engine, for the part that needs one."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

import libraries
import matrix

OK, INVALID = 0, 10
IMAGE = "cofferdam-test:latest"


class Setting:
    """What all tests share; made once."""

    made: Setting | Exception | None = None

    def __init__(self):
        kept = os.environ.get("REVISIONS_WORK")
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cofferdam-revisions-"))
        unittest.addModuleCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.libraries = libraries.build(pathlib.Path(kept) if kept else self.scratch / "work")
        self.matrix = matrix.Matrix(self.scratch)
        self.key = self.scratch / matrix.KEY.name
        shutil.copyfile(matrix.KEY, self.key)
        self.key.chmod(0o600)

    @classmethod
    def get(cls) -> Setting:
        if cls.made is None:
            try:
                cls.made = cls()
            except AssertionError as problem:
                cls.made = problem
        if isinstance(cls.made, Exception):
            raise cls.made
        return cls.made


class Trap:
    """An engine's address where nobody may knock."""

    def __init__(self, directory: pathlib.Path):
        path = directory / "trap"
        path.unlink(missing_ok=True)
        self.knocks = 0
        self.address = f"unix://{path}"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.socket.listen()
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        while True:
            try:
                caller = self.socket.accept()[0]
            except OSError:
                return
            self.knocks += 1  # before the caller can know, and the test can look
            caller.close()

    def close(self) -> None:
        self.socket.close()


class Case(unittest.TestCase):
    def setUp(self) -> None:
        setting = Setting.get()
        self.matrix, self.libraries = setting.matrix, setting.libraries
        self.key = setting.key
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=setting.scratch))
        self.state, self.out = self.directory / "state", self.directory / "out"

    def run_program(self, *command, host: str | None = None) -> subprocess.CompletedProcess:
        environment = {**os.environ}
        environment.pop("LD_LIBRARY_PATH", None)
        if host:
            environment["DOCKER_HOST"] = host
        return subprocess.run([str(word) for word in command], env=environment, timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def drive(self, reader: str, action: str, form: str = "bytes", host: str | None = None,
              state: pathlib.Path | None = None) -> tuple[str, str, str]:
        """Status, field, message; self.out is there only when something came out."""
        self.out.unlink(missing_ok=True)
        done = self.run_program(self.libraries[reader].driver, action, form, state or self.state,
                                self.out, host=host)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        status, field, message = done.stdout.split("\n")[:3]
        return status, field, message

    def fine(self, reader: str, action: str, **more) -> bytes:
        found = self.drive(reader, action, **more)
        self.assertEqual(found, ("CDAM_OK", "", ""), f"{action} by {reader}")
        return self.out.read_bytes()

    def cofferdam(self, reader: str, *arguments, code: int = OK, host: str | None = None) -> str:
        """stdout, or stderr of what has to fail."""
        done = self.run_program(self.libraries[reader].cli, *arguments, host=host)
        self.assertEqual(done.returncode, code, f"{reader}: {arguments}: {done.stderr}")
        return done.stdout if code == OK else done.stderr

    def check_refused(self, reader: str, feature: int, data: bytes) -> None:
        """By the library and the command line, before any engine, and the file stays."""
        trap = Trap(self.directory)
        self.addCleanup(trap.close)
        for action in ("keep", "show", "resume"):
            status, field, message = self.drive(reader, action, host=trap.address)
            self.assertEqual(status, "CDAM_ERR_UNSUPPORTED")
            self.assertRegex(field, r"^required_features\[\d+\]$")
            self.assertIn(f"needs feature {feature} (schema revision ", message)
            self.assertTrue(message.endswith(
                f"up to schema revision {self.libraries[reader].revision}"), message)
            self.assertFalse(self.out.exists())
        for command in (["state", "check", self.state], ["state", "show", self.state],
                        ["resume", "--state", self.state], ["rm", "--state", self.state],
                        ["exec", "--state", self.state, "--", "true"]):
            said = self.cofferdam(reader, *command, code=INVALID, host=trap.address)
            self.assertIn(f"needs feature {feature} ", said)
        self.assertEqual(trap.knocks, 0)
        self.assertEqual(self.state.read_bytes(), data)


class Files(Case):
    """Without an engine. A test for each cell is added below."""

    def check_bytes(self, name: str, reader: str) -> None:
        row = self.matrix.rows[name]
        cell = self.matrix.cell(row, reader)
        self.state.write_bytes(row.data)
        if row.keyed:
            self.check_keyed(reader, cell)
        elif cell.feature:
            self.check_refused(reader, cell.feature, row.data)
        else:
            self.check_kept(row, reader)

    def check_keyed(self, reader: str, cell: matrix.Cell) -> None:
        flags = ["--key-file", self.key]
        if cell.feature:
            said = self.cofferdam(reader, "state", "check", self.state, *flags, code=INVALID)
            self.assertIn(f"needs feature {cell.feature} ", said)
        else:
            self.cofferdam(reader, "state", "verify", self.state, *flags)
        self.assertEqual(self.drive(reader, "keep")[0], "CDAM_ERR_SEAL")

    def check_kept(self, row: matrix.Row, reader: str) -> None:
        self.cofferdam(reader, "state", "check", self.state)
        kept = self.fine(reader, "keep")
        if row.name.endswith("-unsealed"):
            kept = kept[:len(row.data)]
        self.assertEqual(kept, row.data, "written again byte for byte")
        trap = Trap(self.directory)
        self.addCleanup(trap.close)
        status = self.drive(reader, "resume", host=trap.address)[0]
        self.assertIn(status, ("CDAM_ERR_CONNECT", "CDAM_ERR_PROTOCOL"))
        self.assertGreater(trap.knocks, 0, "the trap notices")

    def check_json(self, name: str, reader: str) -> None:
        row = self.matrix.rows[name]
        wanted = self.matrix.cell(row, reader).json
        self.state.write_text(row.json, "utf-8")
        status, field, message = self.drive(reader, "keep", form="json")
        if wanted == "reads":
            self.assertEqual(status, "CDAM_OK", message)
            self.assertEqual(self.out.read_bytes()[:len(row.data)], row.data)
            return
        self.assertFalse(self.out.exists())
        reason = wanted.split(": ")[1]
        if reason == "seal":
            self.assertEqual(status, "CDAM_ERR_SEAL", message)
        elif reason.startswith("FEATURE_"):
            self.assertEqual(status, "CDAM_ERR_UNSUPPORTED", message)
            self.assertRegex(field, r"^required_features\[\d+\]$")
        else:
            self.assertEqual(status, "CDAM_ERR_MALFORMED", message)
            self.assertIn(reason, field + message)

    def check_written(self, name: str) -> None:
        """The writer's library makes of the ProtoJSON what the row has, and of it the ProtoJSON."""
        row = self.matrix.rows[name]
        content = json.loads(row.json)
        content.pop("seal", None)
        self.state.write_text(json.dumps(content), "utf-8")
        made = self.fine(row.writer, "keep", form="json")
        if matrix.has_unknown(self.matrix.messages[row.writer].FromString(row.data)):
            self.assertNotEqual(made, row.data)
        else:
            end = len(row.data) if not row.keyed else made.rindex(b"\xfa\x7f")
            self.assertEqual(made[:end], row.data[:end])
        self.state.write_bytes(made)
        shown = json.loads(self.fine(row.writer, "show"))
        shown.pop("seal")
        self.assertEqual(shown, content)

    def test_the_tables(self) -> None:
        text = matrix.README.read_text("utf-8")
        for title, table in self.matrix.tables().items():
            self.assertEqual(matrix.in_readme(title, text).group(), table,
                             "codegen/python tests/revisions/matrix.py --write-docs")

    def test_every_kind_of_cell_is_there(self) -> None:
        for number, writer in enumerate(self.libraries):
            for reader in list(self.libraries)[:number]:
                cells = [self.matrix.cell(row, reader) for row in self.matrix.rows.values()
                         if row.writer == writer]
                self.assertTrue(any(cell.feature for cell in cells), f"{writer} by {reader}")
        cells = [self.matrix.cell(row, "r1") for row in self.matrix.rows.values()]
        self.assertTrue(any(cell.reattach_only and not cell.feature for cell in cells))

    def test_a_stripped_option_is_found_by_who_knows_it(self) -> None:
        """A program in between drops what it does not know, and seals what is left."""
        row = self.matrix.rows["next-isolating-option"]
        state = self.matrix.messages["r2"].FromString(row.data)
        state.options.DiscardUnknownFields()
        state.ClearField("seal")
        self.state.write_bytes(state.SerializeToString())
        status, field, message = self.drive("next", "keep")
        self.assertEqual((status, field), ("CDAM_ERR_INVALID", "required_features"), message)
        self.assertIn("lists FEATURE_MATRIX_OOM", message)


@unittest.skipUnless(os.environ.get("DOCKER_HOST"), "DOCKER_HOST is not set: no engine to test on")
class OnEngine(Case):
    """A container for each state, made by its writer and then met by every reader. A test for each
    state is added below."""

    def docker(self, *arguments: str) -> str:
        done = self.run_program("docker", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def remove_containers(self, session: str) -> None:
        found = self.docker("ps", "-aq", "--no-trunc", "--filter",
                            f"label=io.cofferdam.session-id={session}")
        for container in found.split():
            self.docker("rm", "-f", container)

    def create(self, row: matrix.Row) -> bytes:
        options = {**json.loads(row.json)["options"], "image": IMAGE}
        source = self.directory / "options"
        source.write_text(json.dumps(options), "utf-8")
        data = self.fine(row.writer, "create", form="json", state=source)
        self.session = self.message(row, data).session_id
        self.addCleanup(self.remove_containers, self.session)
        return data

    def message(self, row: matrix.Row, data: bytes):
        return self.matrix.messages[row.writer].FromString(data)

    def containers(self) -> list[str]:
        return self.docker("ps", "-aq", "--no-trunc", "--filter",
                           f"label=io.cofferdam.session-id={self.session}").split()

    def check_state(self, name: str) -> None:
        row = self.matrix.rows[name]
        data = self.create(row)
        for reader in self.libraries:
            with self.subTest(reader=reader):
                self.check_reattach(row, reader, data)
        self.docker("rm", "-f", self.message(row, data).container_id)
        for reader in self.libraries:
            with self.subTest(reader=reader):
                self.check_recreate(row, reader, data)

    def check_reattach(self, row: matrix.Row, reader: str, data: bytes) -> None:
        cell = self.matrix.cell(row, reader)
        container = self.message(row, data).container_id
        started = self.docker("inspect", "-f", "{{.State.StartedAt}}", container)
        self.state.write_bytes(data)
        if cell.feature:
            self.check_refused(reader, cell.feature, data)
            self.cofferdam(reader, "resume", "--state", self.state, code=INVALID)
        else:
            said = self.cofferdam(reader, "resume", "--state", self.state)
            self.assertEqual(said, f"reattached {container}\n")
            self.assertEqual(self.state.read_bytes(), data, "the state stays byte for byte")
            self.assertEqual(self.fine(reader, "resume"), data)
        self.assertEqual(self.containers(), [container])
        self.assertEqual(self.docker("inspect", "-f", "{{.State.StartedAt}}", container), started)

    def check_recreate(self, row: matrix.Row, reader: str, data: bytes) -> None:
        """The container is gone."""
        cell = self.matrix.cell(row, reader)
        self.state.write_bytes(data)
        if cell.feature:
            self.check_refused(reader, cell.feature, data)
            self.cofferdam(reader, "resume", "--state", self.state, code=INVALID)
        elif cell.reattach_only:
            status, _, message = self.drive(reader, "resume")
            self.assertEqual(status, "CDAM_ERR_UNSUPPORTED", message)
            self.assertIn("would lose options that this library does not know", message)
            said = self.cofferdam(reader, "resume", "--state", self.state, code=INVALID)
            self.assertIn("would lose options", said)
            self.assertEqual(self.state.read_bytes(), data)
        else:
            self.check_recreated(row, reader, data)
            return
        self.assertEqual(self.containers(), [], "nothing is made")

    def check_recreated(self, row: matrix.Row, reader: str, data: bytes) -> None:
        word, container = self.cofferdam(reader, "resume", "--state", self.state).split()
        self.assertEqual((word, self.containers()), ("recreated", [container]))
        before, after = self.message(row, data), self.message(row, self.state.read_bytes())
        self.assertEqual(after.options, before.options)
        self.assertEqual(list(after.required_features), list(before.required_features))
        self.assertEqual(after.schema_revision, before.schema_revision)
        found = json.loads(self.docker("inspect", container))[0]
        if getattr(before.options, "network_mode", 0):
            self.assertEqual(found["HostConfig"]["NetworkMode"], "none")
            self.assertEqual(list(found["NetworkSettings"]["Networks"]), ["none"])
        # Whoever wrote it knows every option, and compares it.
        said = self.cofferdam(row.writer, "resume", "--state", self.state)
        self.assertEqual(said, f"reattached {container}\n")
        self.docker("rm", "-f", container)


def _states() -> list[str]:
    numbers = libraries.released()
    found = sorted(path.stem for path in matrix.GOLDENS.glob("r*.binpb")
                   if int(path.stem[1:].split("-")[0]) in numbers)
    return [*found, *matrix.NEXT]


def _add_tests() -> None:
    readers = [*(f"r{number}" for number in libraries.released()), "next"]
    for name in _states():
        label = name.replace("-", "_")
        setattr(Files, f"test_written_{label}", lambda self, name=name: self.check_written(name))
        for reader in readers:
            setattr(Files, f"test_bytes_{label}_by_{reader}",
                    lambda self, name=name, reader=reader: self.check_bytes(name, reader))
            setattr(Files, f"test_json_{label}_by_{reader}",
                    lambda self, name=name, reader=reader: self.check_json(name, reader))
        # The other states hold no option that these do not, but for the platform, which is a
        # machine's own.
        if not name.endswith(("-hmac", "-unknown", "-unsealed", "-minimal", "-ports", "-platform")):
            setattr(OnEngine, f"test_{label}", lambda self, name=name: self.check_state(name))


_add_tests()

if __name__ == "__main__":
    unittest.main()
