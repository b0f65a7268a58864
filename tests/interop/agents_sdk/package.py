# SPDX-License-Identifier: Apache-2.0
"""The SDK's own package and the C library, with each other's sessions, on a real engine."""

import hashlib
import json
import os
import subprocess
import sys

from support import (DRIFT, HERE, IMAGE, LABEL, LABEL_KEY, LABEL_VALUE, OK, docker, equal, expect,
                     inspect)

LABELS = {LABEL_KEY: LABEL_VALUE}


class Missing(Exception):
    """The package, and that it cannot be had here."""


class Package:
    """The pinned release in a virtual environment of its own."""

    def __init__(self, work):
        self.venv = work / "venv"
        self.python = self.venv / "bin/python"

    def run(self, *argv):
        done = subprocess.run([str(word) for word in argv], capture_output=True, text=True,
                              check=False, timeout=800)
        if done.returncode != 0:
            lines = (done.stdout + done.stderr).strip().splitlines() or ["?"]
            raise Missing(f"{argv[0]} {argv[1]} {argv[2]}: {lines[-1].strip()}")

    def install(self):
        requirements = HERE / "requirements.txt"
        stamp = self.venv / "installed"
        wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return
        self.run(sys.executable, "-m", "venv", self.venv)
        self.run(self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                 "--require-hashes", "--only-binary", ":all:", "-r", requirements)
        stamp.write_text(wanted, encoding="utf-8")

    def sdk(self, place, action, name, argument=None, tries=1):
        done = subprocess.run([str(self.python), str(HERE / "sdk.py"), action, name,
                               json.dumps(argument)], cwd=place.dir, capture_output=True,
                              text=True, check=False, timeout=180,
                              env={**os.environ, "OPENAI_AGENTS_DISABLE_TRACING": "1"})
        # Its own exec over docker-py breaks off now and then while the machine is busy.
        if tries > 1 and done.returncode != 0 and "ExecTransportError" in done.stderr:
            return self.sdk(place, action, name, argument, tries - 1)
        expect(done.returncode == 0, f"the SDK, {action}:\n{done.stderr}")
        return json.loads(done.stdout) if done.stdout else None


def create(package, place, **options):
    package.sdk(place, "create", "sdk.json", {"image": IMAGE, "labels": LABELS, **options},
                tries=3)
    return place.read("sdk.json")


def run_in(package, place, name, command, container):
    result = package.sdk(place, "run", name, command)
    equal((result["container"], result["same"], result["status"]), (container, True, 0),
          "the SDK's resume")
    return result


# ---- it writes, we resume ----

def sdk_to_state(package, place):
    document = create(package, place, network_mode="none")
    container = document["container_id"]
    state = place.state(document)
    content = place.content(state)
    equal((content["containerId"], content["sessionId"], content["options"]["networkMode"],
           content["options"]["labels"]),
          (container, document["session_id"], "NETWORK_MODE_NONE", LABELS), "the state")
    place.cli(DRIFT, "resume", "--state", state)
    name = inspect(container)["Name"]
    equal(place.cli(OK, "resume", "--state", state, "--adopt", "--require-network", "none",
                    says=["taken from the container", "on the caller's word", "no init"]),
          f"adopted {container}\n", "resume --adopt")
    expect(inspect(container)["Name"] != name, "the name says that it is adopted")
    equal(place.cli(OK, "exec", "--state", state, "--", "sh", "-c",
                    "ls /sys/class/net; cat /workspace/note.txt; echo $GREETING $DESCRIBED"),
          "lo\nwritten by the SDK\nhello from the SDK two\n", "in the same container")
    equal(place.cli(OK, "resume", "--state", state), f"reattached {container}\n", "from now on")
    expect(place.content(state)["imageId"] == inspect(container)["Image"], "the image's id")
    # Its own document still leads there, and so does ours, which loses nothing of it.
    run_in(package, place, "sdk.json", "true", container)
    place.cli(OK, "state", "export", state, "--format", "agents-json", "--base", "sdk.json",
              "--out", "back.json", says="image_id")
    equal(place.read("back.json"), document, "there and back")
    equal(run_in(package, place, "back.json", "cat note.txt", container)["stdout"],
          "written by the SDK\n", "the SDK, again")
    place.cli(OK, "rm", "--state", state)
    equal(docker("ps", "-aq", "--no-trunc", "--filter", f"id={container}"), "", "deleted")


def sdk_without_isolation(package, place):
    document = create(package, place, exposed_ports=[8080])
    equal(document["network_mode"], None, "what the SDK writes")
    container = document["container_id"]
    state = place.state(document)
    equal(place.cli(OK, "resume", "--state", state, "--adopt"), f"adopted {container}\n", "adopt")
    place.cli(OK, "state", "export", state, "--format", "agents-json", "--out", "back.json")
    result = run_in(package, place, "back.json", "true", container)
    equal([endpoint["host"] for endpoint in result["endpoints"]], ["127.0.0.1"], "the port")


def sdk_stopped(package, place):
    document = create(package, place, network_mode="none")
    package.sdk(place, "stop", "sdk.json")
    container = document["container_id"]
    equal(inspect(container)["State"]["Status"], "exited", "a session that was left")
    state = place.state(document)
    equal(place.cli(OK, "resume", "--state", state, "--adopt"), f"adopted {container}\n", "adopt")
    equal(place.cli(OK, "exec", "--state", state, "--", "cat", "/workspace/note.txt"),
          "written by the SDK\n", "its files")


def sdk_lost(package, place):
    """An adopted container that is lost is made again, by us, as the document said."""
    document = create(package, place, network_mode="none")
    state = place.state(document)
    place.cli(OK, "resume", "--state", state, "--adopt")
    docker("rm", "-f", document["container_id"])
    word, container = place.cli(OK, "resume", "--state", state).split()
    found = inspect(container)
    equal((word, found["HostConfig"]["NetworkMode"],
           found["Config"]["Labels"]["io.cofferdam.session-id"]),
          ("recreated", "none", document["session_id"]), "the new container is ours")
    expect("GREETING=hello from the SDK" in found["Config"]["Env"], "its environment")
    # The SDK fills the workspace again, from the manifest that came along.
    place.cli(OK, "state", "export", state, "--format", "agents-json", "--base", "sdk.json",
              "--out", "back.json")
    expect(not place.read("back.json")["workspace_root_ready"], "the workspace is empty")
    equal(run_in(package, place, "back.json", "cat note.txt; ls /sys/class/net",
                 container)["stdout"], "written by the SDK\nlo\n", "the manifest is applied")


# ---- we write, it resumes ----

def state_to_sdk(package, place):
    container = place.cli(OK, "create", "--image", IMAGE, "--network", "none", "--label", LABEL,
                          "--env", "GREETING=hello from C", "--state", "s.pb").strip()
    place.cli(OK, "state", "export", "s.pb", "--format", "agents-json", "--out", "ours.json",
              says=["schema_revision", "required_features", "image_id", "engine.id", "seal"])
    again = package.sdk(place, "read", "ours.json")
    for name, value in place.read("ours.json").items():
        if name != "manifest":
            equal(again[name], value, f"{name}, as the SDK reads and writes it")
    equal(again["manifest"]["environment"], {"value": {"GREETING": "hello from C"}}, "env")
    result = run_in(package, place, "ours.json", "echo $GREETING; ls /sys/class/net; echo 1 >n",
                    container)
    equal(result["stdout"], "hello from C\nlo\n", "the SDK's command")
    equal(place.cli(OK, "exec", "--state", "s.pb", "--", "cat", "/workspace/n"), "1\n",
          "what the SDK wrote")
    package.sdk(place, "stop", "ours.json")
    equal(place.cli(OK, "resume", "--state", "s.pb"), f"reattached {container}\n", "ours still")
    # A document of a container of ours comes back without a new name: the label is there.
    state = place.state(place.read("ours.json"), "back.pb")
    name = inspect(container)["Name"]
    place.cli(OK, "resume", "--state", state, "--adopt")
    equal(inspect(container)["Name"], name, "the name of a container with our label")
    place.cli(OK, "rm", "--state", state)


def ports_without_network(package, place):
    """The SDK refuses ports with "none", so they are left out, and it is said."""
    place.cli(OK, "create", "--image", IMAGE, "--network", "none", "--port", "8080", "--label",
              LABEL, "--state", "s.pb")
    place.cli(OK, "state", "export", "s.pb", "--format", "agents-json", "--out", "ours.json",
              says="options.exposed_ports")
    equal(package.sdk(place, "read", "ours.json")["network_mode"], "none", "still isolated")


CASES = [sdk_to_state, sdk_without_isolation, sdk_stopped, sdk_lost, state_to_sdk,
         ports_without_network]
