# SPDX-License-Identifier: Apache-2.0
"""Sandboxes on a real engine, for the agent's tests: the agent comes from a volume of this
program's own, into an empty image or the test image."""
import atexit
import functools
import io
import json
import os
import subprocess
import tarfile
import uuid

from client import Client

MOUNT = "/.cofferdam"
AGENT = MOUNT + "/cofferdam-agent"
EMPTY = "cofferdam-agent-empty:test"
BUSYBOX = os.environ.get("COFFERDAM_TEST_IMAGE", "cofferdam-test:latest")
LABEL = "io.cofferdam.agent-test=" + uuid.uuid4().hex


def docker(*args, data=None, check=True):
    done = subprocess.run(["docker", *args], input=data, capture_output=True)
    if check and done.returncode != 0:
        raise RuntimeError("docker %s: %s" % (" ".join(args), done.stderr.decode()))
    return done.stdout.decode().strip()


def empty_image():
    if not docker("images", "-q", EMPTY):
        tar = io.BytesIO()
        tarfile.open(fileobj=tar, mode="w").close()
        docker("import", "-", EMPTY, data=tar.getvalue())
    return EMPTY


@functools.cache
def volume(path):
    """Filled once. The program is execute-only, so nothing in the sandbox can read it or look
    into its processes."""
    with open(path, "rb") as program:
        content = program.read()
    name = "cofferdam-test-agent-" + uuid.uuid4().hex
    docker("volume", "create", name)
    atexit.register(docker, "volume", "rm", name, check=False)
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        info = tarfile.TarInfo("cofferdam-agent")
        info.size = len(content)
        info.mode = 0o111
        archive.addfile(info, io.BytesIO(content))
    filler = docker("create", "--label", LABEL, "-v", name + ":" + MOUNT, empty_image(), AGENT)
    try:
        docker("cp", "-", filler + ":" + MOUNT, data=tar.getvalue())
    finally:
        docker("rm", "-f", filler)
    return name


HARDENED = ["--user", "1000:1000", "--cap-drop", "ALL", "--read-only",
            "--security-opt", "no-new-privileges"]


class Sandbox:
    def __init__(self, agent, image=None, options=(), arguments=(), start=True):
        self.clients = []
        self.id = docker("create", "--label", LABEL, "--network", "none",
                         "-v", volume(agent) + ":" + MOUNT + ":ro", *options, "--entrypoint",
                         AGENT, image or empty_image(), "init", *arguments)
        if start:
            self.start()

    def start(self):
        docker("start", self.id)

    def client(self, user=None, **options):
        extra = ["--user", user] if user else []
        client = Client(["docker", "exec", "-i", *extra, self.id, AGENT, "relay"], **options)
        self.clients.append(client)
        return client

    def inspect(self):
        return json.loads(docker("inspect", self.id))[0]

    def exec(self, *argv, user=None, check=False):
        extra = ["--user", user] if user else []
        return docker("exec", *extra, self.id, *argv, check=check)

    def remove(self):
        for client in self.clients:
            client.close()
        docker("rm", "-f", self.id, check=False)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.remove()
