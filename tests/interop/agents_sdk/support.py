# SPDX-License-Identifier: Apache-2.0
"""Files, containers and commands of these tests."""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tap import equal, expect  # noqa: E402  pylint: disable=wrong-import-position

CLI = os.environ.get("COFFERDAM_CLI", "cofferdam")
OK, USAGE, INVALID, DRIFT, EXEC_FAILED = 0, 2, 10, 11, 125
IMAGE = "cofferdam-test:latest"
LABEL = f"cofferdam-agents-test={os.getpid()}"
LABEL_KEY, LABEL_VALUE = LABEL.split("=")


def docker(*arguments, check=True):
    done = subprocess.run(["docker", *map(str, arguments)], check=False, capture_output=True,
                          text=True, timeout=120)
    expect(done.returncode == 0 or not check, f"docker {arguments}: {done.stderr}")
    return done.stdout.strip()


def inspect(container):
    return json.loads(docker("inspect", container))[0]


def containers():
    return docker("ps", "-aq", "--no-trunc", "--filter", f"label={LABEL}").split()


def remove_containers():
    for container in containers():
        docker("rm", "-f", container, check=False)


class Place:
    """A directory with the files of one case."""

    def __init__(self, work, name):
        self.dir = work / name
        self.dir.mkdir(parents=True, exist_ok=True)
        for file in self.dir.iterdir():
            file.unlink()

    def cli(self, code, *arguments, says=()):
        done = subprocess.run([CLI, *map(str, arguments)], check=False, capture_output=True,
                              text=True, timeout=120, cwd=self.dir)
        equal(done.returncode, code, f"cofferdam {arguments}: {done.stdout}{done.stderr}")
        for piece in [says] if isinstance(says, str) else says:
            expect(piece in done.stderr, f"cofferdam {arguments} does not say {piece!r}: "
                                         f"{done.stderr}")
        return done.stdout

    def write(self, name, document):
        text = document if isinstance(document, str) else json.dumps(document)
        (self.dir / name).write_text(text, encoding="utf-8")
        return name

    def read(self, name):
        return json.loads((self.dir / name).read_text(encoding="utf-8"))

    def state(self, document, name="s.pb"):
        """The state of a document."""
        (self.dir / name).unlink(missing_ok=True)
        self.cli(OK, "state", "import", self.write(f"{name}.json", document), "--format",
                 "agents-json", "--out", name, says="--adopt")
        return name

    def content(self, state):
        return json.loads(self.cli(OK, "state", "show", "--show-env", state))


def document_of(container, **changes):
    """As the SDK would write it of a container that was made by the command below."""
    made = {"type": "docker", "session_id": "7d352bde-f197-4d85-8fd3-c63caa5cc700",
            "snapshot": {"type": "noop", "id": "x"}, "manifest": {"version": 1},
            "exposed_ports": [], "workspace_root_ready": True, "image": IMAGE,
            "container_id": container, "network_mode": "none", "labels": {}}
    made.update(changes)
    return {name: value for name, value in made.items() if value is not ...}


def container_of(*flags, image=IMAGE, network="none", entrypoint="tail",
                 command=("-f", "/dev/null"), start=True):
    return docker(*(["run", "-d"] if start else ["create"]), "--label", LABEL, "--network", network, "--entrypoint", entrypoint,
                  *flags, image, *command)
