# SPDX-License-Identifier: Apache-2.0
"""Sandboxes on a real engine, the one that DOCKER_HOST names."""

import os
import subprocess
import unittest

from support import OK, CliTest

IMAGE = "cofferdam-test:latest"
BUSYBOX = "/bin/busybox"


def docker(*arguments, check=True):
    return subprocess.run(["docker", *arguments], check=check, capture_output=True,
                          timeout=60).stdout.decode()


@unittest.skipUnless(os.environ.get("DOCKER_HOST"), "DOCKER_HOST is not set: no engine to test on")
class EngineTest(CliTest):
    def setUp(self):
        super().setUp()
        # All containers of one test bear a label of their own, so that only they are looked at.
        self.label = f"cofferdam-cli-test={os.getpid()}-{self.id().rsplit('.', maxsplit=1)[-1]}"
        self.addCleanup(self.remove_containers)

    def containers(self):
        return docker("ps", "-aq", "--no-trunc", "--filter", f"label={self.label}").split()

    def remove_containers(self):
        for container in self.containers():
            docker("rm", "-f", container, check=False)

    def create_arguments(self, state, *more):
        return ["create", "--image", IMAGE, "--network", "none", "--label", self.label, "--state",
                state, *more]

    def create(self, name="s", *more):
        state = self.path(name)
        done = self.expect(OK, *self.create_arguments(state, *more))
        container = done.stdout.decode().strip()
        self.assertRegex(container, r"^[0-9a-f]{64}$")
        return state, container

    def exec(self, state, *command, code=OK, flags=()):
        return self.expect(code, "exec", "--state", state, *flags, "--", BUSYBOX, *command)
