# SPDX-License-Identifier: Apache-2.0
"""States that are changed by each language, on the engine that DOCKER_HOST names."""

import json
import os
import re
import subprocess

from checks import INVALID, OK, cofferdam
from tap import equal, expect

DRIFT = 11
IMAGE = "cofferdam-test:latest"


def docker(*arguments, check=True):
    return subprocess.run(["docker", *arguments], check=check, capture_output=True, text=True,
                          timeout=60).stdout


class OnEngine:
    def __init__(self, checks):
        self.checks = checks
        self.label = f"cofferdam-interop={os.getpid()}-{checks.language.name}"

    def remove_containers(self):
        for container in docker("ps", "-aq", "--filter", f"label={self.label}").split():
            docker("rm", "-f", container, check=False)

    def demand(self, code, *arguments):
        found, output, error = cofferdam(*arguments)
        equal(found, code, f"cofferdam {arguments}: {error}")
        return output

    def only_loopback(self, state):
        found = self.demand(OK, "exec", "--state", state, "--", "/bin/busybox", "ip", "addr")
        equal(re.findall(r"(?m)^\d+: (\w+)", found), ["lo"], "the interfaces inside")

    def create(self):
        state = self.checks.work / "engine-state"
        state.unlink(missing_ok=True)
        container = self.demand(OK, "create", "--image", IMAGE, "--network", "none", "--label",
                                self.label, "--state", state).strip()
        return state, container

    def content(self, state):
        return json.loads(self.demand(OK, "state", "show", "--show-env", state))

    def resumes(self):
        try:
            self.story()
        finally:
            self.remove_containers()

    def story(self):
        state, container = self.create()
        edit, data = self.checks.edit, state.read_bytes()

        changed = edit("change", data)
        equal(self.demand(OK, "resume", "--state", changed, "--require-network", "none"),
              f"reattached {container}\n", "resume after a change")
        expect(self.content(changed).get("workspaceReady"), "C sees the change, and keeps it")

        stripped = edit("strip", data)
        self.demand(INVALID, "resume", "--state", stripped)
        relabelled = edit("relabel", data)
        self.demand(DRIFT, "resume", "--state", relabelled)

        docker("rm", "-f", container)
        self.demand(INVALID, "resume", "--state", stripped)
        self.recreated(relabelled, container)

    def recreated(self, state, container):
        word, new = self.demand(OK, "resume", "--state", state).split()
        equal(word, "recreated", "resume after the container is gone")
        expect(new != container, "another container")
        self.only_loopback(state)
        found = json.loads(docker("inspect", new))[0]
        equal(found["HostConfig"]["NetworkMode"], "none", "the network mode")
        equal(found["Config"]["Labels"].get("changed-by"), self.checks.language.source.name,
              "the label that the language set")
        content = self.content(state)
        equal((content["containerId"], content.get("workspaceReady")), (new, None), "the state")
