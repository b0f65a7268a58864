# SPDX-License-Identifier: Apache-2.0
"""Adoption on a real engine, without the SDK: what is refused, and that nothing is changed."""

import json

from support import (DRIFT, IMAGE, INVALID, LABEL, OK, containers, container_of, docker,
                     document_of, equal, expect, inspect)

OTHER_SESSION = "8d352bde-f197-4d85-8fd3-c63caa5cc700"


def unchanged(container, before):
    after = inspect(container)
    for key in ("Name", "State", "Config", "HostConfig", "RestartCount"):
        equal(after[key], before[key], f"{key} of a container that was refused")


def refused(place, container, says, code=DRIFT, **changes):
    before = inspect(container)
    state = place.state(document_of(container, **changes))
    kept = (place.dir / state).read_bytes()
    place.cli(code, "resume", "--state", state, "--adopt", says=says)
    equal((place.dir / state).read_bytes(), kept, "the state's file")
    unchanged(container, before)


# ---- before the engine is asked ----

def documents(place):
    container = "5" * 64
    for changes, says in [
            ({"network_mode": "bridge"}, "network_mode"),
            ({"network_mode": "host"}, "network_mode"),
            ({"network_mode": 0}, "network_mode"),
            ({"type": "unix_local"}, "type"),
            ({"type": ...}, "type"),
            ({"container_id": "database"}, "container_id"),
            ({"container_id": container[:12]}, "container_id"),
            ({"container_id": "../" + container[3:]}, "container_id"),
            ({"exposed_ports": "80"}, "exposed_ports"),
            ({"labels": ["a"]}, "labels"),
            ({"manifest": ...}, "manifest"),
    ]:
        name = place.write("wrong.json", document_of(container, **changes)
                           if "container_id" not in changes
                           else {**document_of(container), **changes})
        place.cli(INVALID, "state", "import", name, "--format", "agents-json", "--out", "w.pb",
                  says=says)
    text = json.dumps(document_of(container))
    for double in ('"type":"docker"', '"network_mode":null', f'"container_id":"{container}"'):
        name = place.write("double.json", "{" + double + "," + text[1:])
        place.cli(INVALID, "state", "import", name, "--format", "agents-json", "--out", "w.pb",
                  says="twice")
    expect(not (place.dir / "w.pb").exists(), "no state comes of a refused document")


# ---- what is no sandbox ----

def reaches_too_far(place):
    for flags, says in [
            (["--privileged"], "HostConfig.Privileged"),
            (["--cap-add", "SYS_ADMIN"], "HostConfig.CapAdd"),
            (["--cap-drop", "CHOWN"], "HostConfig.CapDrop"),
            (["--read-only"], "HostConfig.ReadonlyRootfs"),
            (["-v", "/proc:/host:ro"], "HostConfig.Binds"),
            (["--mount", "type=bind,src=/proc,dst=/host"], "Mounts"),
            (["--device", "/dev/null:/dev/x"], "HostConfig.Devices"),
            (["--pid", "host"], "HostConfig.PidMode"),
            (["--ipc", "host"], "HostConfig.IpcMode"),
            (["--uts", "host"], "HostConfig.UTSMode"),
            (["--security-opt", "seccomp=unconfined"], "HostConfig.SecurityOpt"),
            (["--group-add", "7"], "HostConfig.GroupAdd"),
    ]:
        refused(place, container_of(*flags, start=False), says)


def is_something_else(place):
    refused(place, container_of(entrypoint="sleep", command=["1000"]), "Config.Entrypoint")
    refused(place, container_of(command=["-f", "/etc/passwd"]), "Config.Cmd")
    refused(place, container_of(), "options.image", image="busybox:other")
    refused(place, container_of(), "Config.Labels", labels={"team": "blue"})
    refused(place, container_of(), "Config.Env",
            manifest={"environment": {"value": {"A": "1"}}})
    refused(place, container_of("-e", "A=2"), "Config.Env",
            manifest={"environment": {"value": {"A": "1"}}})
    refused(place, container_of(network="bridge"), "ExposedPorts", network_mode=None,
            exposed_ports=[80])


def networks(place):
    refused(place, container_of(network="bridge"), "NetworkMode")
    refused(place, container_of(network="host"), "NetworkMode")
    # A document that lost its "none" would lead to a network when the container is lost.
    refused(place, container_of(), "NetworkMode", network_mode=None)
    refused(place, container_of(), "NetworkMode", network_mode=...)
    refused(place, container_of(network="host"), "NetworkMode", network_mode=None)
    joined = container_of()
    docker("network", "disconnect", "none", joined)
    docker("network", "connect", "bridge", joined)
    refused(place, joined, "Networks")


# ---- whose it is ----

def belongs_to_others(place):
    place.cli(OK, "create", "--image", IMAGE, "--network", "none", "--label", LABEL, "--state",
              "ours.pb")
    ours = place.content("ours.pb")["containerId"]
    refused(place, ours, "another session")
    adopted = container_of()
    state = place.state(document_of(adopted), "first.pb")
    place.cli(OK, "resume", "--state", state, "--adopt")
    refused(place, adopted, "another session", session_id=OTHER_SESSION)
    # The same session and another container: the name is taken.
    refused(place, container_of(), "belongs to another container")


def forged_states(place):
    """A state that was adopted, with the id of another container in it."""
    adopted, other = container_of(), container_of()
    state = place.state(document_of(adopted))
    place.cli(OK, "resume", "--state", state, "--adopt")
    data = (place.dir / state).read_bytes()
    unsealed = data[:data.rindex(b"\xfa\x7f")]
    (place.dir / "forged.pb").write_bytes(unsealed.replace(adopted.encode(), other.encode()))
    equal(place.content("forged.pb")["containerId"], other, "the forged id")
    before = inspect(other)
    place.cli(DRIFT, "resume", "--state", "forged.pb")
    place.cli(DRIFT, "exec", "--state", "forged.pb", "--", "true")
    place.cli(DRIFT, "rm", "--state", "forged.pb")
    unchanged(other, before)
    # The name is what proves it, so whoever takes it away ends that.
    docker("rename", adopted, f"other-name-{adopted[:12]}")
    for command in (["resume"], ["rm"]):
        place.cli(DRIFT, *command, "--state", state)
    equal(place.cli(OK, "resume", "--state", state, "--adopt"), f"adopted {adopted}\n", "again")
    place.cli(OK, "rm", "--state", state)
    expect(adopted not in containers(), "the adopted container is deleted")


def before_adoption(place):
    container = container_of()
    before = inspect(container)
    state = place.state(document_of(container))
    for command in (["resume"], ["exec"], ["rm"]):
        tail = ["--", "true"] if command == ["exec"] else []
        place.cli(DRIFT, *command, "--state", state, *tail)
    place.cli(INVALID, "state", "import", f"{state}.json", "--format", "agents-json", "--out",
              state)
    place.cli(2, "state", "import", f"{state}.json", "--format", "yaml", "--out", "x.pb",
              says="agents-json")
    unchanged(container, before)
    docker("rm", "-f", container)
    place.cli(DRIFT, "resume", "--state", state)
    expect(container not in containers(), "nothing is recreated without the flag")
    word, new = place.cli(OK, "resume", "--state", state, "--adopt", "--require-network",
                          "none", says="is gone").split()
    equal((word, inspect(new)["HostConfig"]["NetworkMode"]), ("recreated", "none"), "recreated")
    place.cli(OK, "resume", "--state", state)
    place.cli(OK, "rm", "--state", state)


def policy(place):
    container = container_of(network="bridge")
    state = place.state(document_of(container, network_mode=None))
    place.cli(INVALID, "resume", "--state", state, "--adopt", "--require-network", "none")
    place.cli(OK, "resume", "--state", state, "--adopt", says=["on the caller's word", "no init"])


def paused_and_stopped(place):
    container = container_of()
    docker("pause", container)
    state = place.state(document_of(container))
    name = inspect(container)["Name"]
    place.cli(12, "resume", "--state", state, "--adopt", says="paused")
    equal(inspect(container)["Name"], name, "the name of a paused container")
    place.cli(OK, "resume", "--state", state, "--adopt", "--unpause")
    docker("kill", container)
    equal(place.cli(OK, "resume", "--state", state), f"reattached {container}\n", "stopped")


CASES = [documents, reaches_too_far, is_something_else, networks, belongs_to_others, forged_states,
         before_adoption, policy, paused_and_stopped]
