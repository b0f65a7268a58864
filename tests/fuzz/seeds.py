#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the corpora: what the fuzz targets start from. corpora/README.md tells more.

Run again after goldens were added. What fuzzing itself has found (corpora/*/found-*) stays.
"""

import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
sys.path.insert(0, str(GOLDEN))
import states  # noqa: E402
from google.protobuf import text_format  # noqa: E402

ID = states.CONTAINER_ID
SESSION = states.SESSION_ID


def text(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


# ---- states, options, bodies ----

def of_goldens():
    for path in sorted((GOLDEN / "states").glob("*.binpb")):
        yield "state", path.stem, path.read_bytes()
        shown = path.with_suffix(".json").read_text(encoding="utf-8")
        yield "textproto", path.stem, path.with_suffix(".txtpb").read_bytes()
        state = json.loads(shown)
        yield "protojson", path.stem, shown.encode()
        state.pop("seal", None)
        yield "protojson", f"{path.stem}-without-seal", text(state)
        yield "protojson", f"{path.stem}-options", text(state["options"])
        yield "create_body", path.stem, text(state["options"])
        golden = states.Revision(2).State.FromString(path.read_bytes())
        options = golden.options.SerializeToString(deterministic=True)
        yield "create_body", f"{path.stem}-protobuf", options
        written = text_format.MessageToString(golden.options)
        yield "textproto", f"{path.stem}-options", written.encode()
        golden.ClearField("seal")
        yield "textproto", f"{path.stem}-without-seal", text_format.MessageToString(golden).encode()


def odd_json():
    """Every form in which ProtoJSON may say a value."""
    yield "protojson", "numbers", (
        b'{"image":"a","exposedPorts":[1,2.0,"3",4e0,"65535"],"network_mode":1.0}')
    yield "protojson", "names", (
        b'{"image":"a","exposed_ports":null,"networkMode":"NETWORK_MODE_NONE","labels":null}')
    yield "protojson", "escapes", (
        b'{"image":"a","env":{"\\u00e9":"\\ud83d\\udd12\\n","B":"\\/"},"labels":{"":""}}')
    yield "protojson", "twice", b'{"image":"a","image":"b","networkMode":1,"network_mode":0}'
    yield "protojson", "deep", b'{"options":' + b'[' * 70 + b']' * 70 + b'}'


    yield "protojson", "later", text({
        **json.loads((GOLDEN / "states" / "r2-none-unsealed.json").read_text(encoding="utf-8")),
        "laterName": [{"a": 1}], "engine": {"id": "E", "flavour": None}})


def odd_text():
    """Every form in which text format may say a value."""
    yield "textproto", "values", (
        b"image: 'a' \"b\" exposed_ports: [1, 0x50] exposed_ports: 017 # ports\n"
        b"labels { key: 'k' value: '\\x41\\101\\303\\251\\n' } env: <key: 'E'>; "
        b"network_mode: 1,")
    for escape in (b"?", b"X41", b"u00e9", b"U0001f512", b"q"):
        name = "escape-" + escape[:1].decode().replace("?", "question-mark")
        yield "textproto", name, b"image: 'a' env { key: 'A' value: '\\" + escape + b"' }"
    yield "textproto", "twice", b"image: 'a' image: 'b'"
    later = (GOLDEN / "states" / "r2-none-unsealed.txtpb").read_bytes()
    yield "textproto", "later", later + (
        b"later: -1.5e3f later_list: [{a: 1}, <>] later_message { [x.y/z.w] { 1: 2 } } "
        b"engine { id: 'E' flavour: sweet }")


# ---- what engines say ----

def inspects():
    config = {"Labels": {"io.cofferdam.session-id": SESSION, "a": "b", "d.e": ""},
              "Env": ["A=b", "C=", "PATH=/bin"], "ExposedPorts": {"80/tcp": {}},
              "Entrypoint": ["tail"], "Cmd": ["-f", "/dev/null"], "Image": "busybox"}
    host = {"NetworkMode": "none", "PortBindings": {"80/tcp": [{"HostIp": "127.0.0.1",
            "HostPort": ""}]}, "Binds": None, "CapAdd": None, "Memory": 0, "Privileged": False,
            "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0}}
    network = {"IPAMConfig": None, "EndpointID": "", "Gateway": "", "IPAddress": "",
               "IPPrefixLen": 0, "IPv6Gateway": "", "GlobalIPv6Address": "",
               "GlobalIPv6PrefixLen": 0, "MacAddress": ""}
    base = {"Id": ID, "Name": f"/cofferdam-{SESSION}", "Image": states.IMAGE_ID, "Config": config,
            "State": {"Status": "running", "Running": True}, "HostConfig": host, "Mounts": [],
            "NetworkSettings": {"Networks": {"none": network}, "Ports": {}}}
    yield "inspect", "docker", text(base)
    yield "inspect", "podman", text({
        **base, "Image": states.IMAGE_ID[7:], "NetworkSettings": {"Networks": {}},
        "HostConfig": {"NetworkMode": "none"}, "Config": {**config, "ExposedPorts": None}})
    bare = {"Id": ID, "Image": states.IMAGE_ID, "HostConfig": {"NetworkMode": "none"},
            "NetworkSettings": {"Networks": {"none": {}}},
            "Config": {"Labels": {"io.cofferdam.session-id": SESSION}}}
    yield "inspect", "bare", text(bare)
    yield "inspect", "adopted", text({**bare, "Name": f"/cofferdam-adopted-{SESSION}",
                                      "Config": {"Labels": {}}})
    yield "inspect", "connected", text({**bare, "NetworkSettings": {"Networks": {
        "bridge": {**network, "IPAddress": "172.17.0.2"}}}})
    yield "inspect", "two-networks", text({**bare, "NetworkSettings": {"Networks": {
        "none": network, "bridge": network}}})
    yield "inspect", "address", text({**bare, "NetworkSettings": {"Networks": {
        "none": {**network, "GlobalIPv6Address": "fe80::1"}}}})


def frame(kind, payload):
    return struct.pack(">B3xI", kind, len(payload)) + payload


def exec_streams():
    talk = frame(1, b"hello\n") + frame(2, b"oops") + frame(0, b"!") + frame(1, b"")
    yield "exec_stream", "whole", b"\xf0" + talk
    yield "exec_stream", "cut-in-headers", b"\xf3" + bytes([3, 5, 9]) + talk
    yield "exec_stream", "byte-by-byte", b"\xff" + b"\x01" * 15 + talk
    yield "exec_stream", "over-the-cap", b"\x10" + frame(1, b"x" * 60) + frame(2, b"y" * 5)
    yield "exec_stream", "system-error", b"\xf1\x0a" + frame(1, b"a") + frame(3, b"broken\r\n")
    yield "exec_stream", "garbled", b"\xf0" + talk + b"\x04\x00\x00\x00\x00\x00\x00\x01x"
    yield "exec_stream", "cut", b"\xf0" + talk[:-3]


def pulls():
    line = text({"status": "Downloading", "id": "a1", "progressDetail": {"current": 5, "total": 9}})
    yield "pull_stream", "progress", b"\x02\x07\x40" + line + b"\r\n\n" + line + b"\n"
    yield "pull_stream", "two-on-a-line", b"\x00" + line + b" " + line + b"\n" + line
    yield "pull_stream", "error", b"\x01\x09" + line + b"\n" + text(
        {"errorDetail": {"message": "no such image"}, "error": "no"})
    yield "pull_stream", "error-without-text", b"\x00" + text({"error": {}}) + b"\n"
    yield "pull_stream", "stopped", b"\x08" + line + b"\n"
    yield "pull_stream", "cut", b"\x00" + line + b"\n" + line[:20]
    yield "pull_stream", "no-object", b"\x00[1]\n"


def replies():
    def reply(head, body=b""):
        return (head + "\r\n\r\n").encode() + body

    listed = text([{"Id": ID, "Image": "busybox", "State": "running", "Created": 1700000000,
                    "Labels": {"io.cofferdam.session-id": SESSION}}, {"Id": 1, "Labels": None}])
    length = f"HTTP/1.1 200 OK\r\nContent-Length: {len(listed)}"
    chunked = b"5;x=y\r\n" + listed[:5] + b"\r\n%x\r\n" % (len(listed) - 5) + listed[5:]
    talk = frame(1, b"hello\n") + frame(2, b"oops")
    yield "http_reply", "ping", b"\x00" + reply("HTTP/1.1 200 OK\r\nApi-Version: 1.45\r\n"
                                                "Content-Length: 2", b"OK")
    yield "http_reply", "ping-two-versions", b"\x03" + reply(
        "HTTP/1.1 200 OK\r\nApi-Version: 1.45\r\napi-version:1.41 ", b"OK")
    yield "http_reply", "ping-old", b"\x00" + reply("HTTP/1.0 200 OK\r\nApi-Version: 1.24")
    yield "http_reply", "ping-hint", b"\x18" + reply("HTTP/1.1 100 Continue\r\nApi-Version: 1.60") \
        + reply("HTTP/1.1 200 OK\r\nApi-Version: 1.52")
    yield "http_reply", "list", b"\x01" + reply(length, listed)
    yield "http_reply", "list-chunked", b"\x16" + reply(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked",
        chunked + b"\r\n0\r\nApi-Version: 9\r\n\r\n")
    yield "http_reply", "list-to-the-end", b"\x01" + reply("HTTP/1.1 200 OK", listed)
    yield "http_reply", "list-cut", b"\x01" + reply(length, listed[:30])
    yield "http_reply", "list-twice-long", b"\x01" + reply(length + "\r\nContent-Length: 3", listed)
    yield "http_reply", "list-overflow", b"\x01" + reply(
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999", listed)
    for code in (301, 400, 404, 409, 500, 503):
        yield "http_reply", f"list-{code}", b"\x01" + reply(
            f"HTTP/1.1 {code} No\r\nLocation: /x", b'{"message":"client version 1.9 is too old"}')
    yield "http_reply", "list-deep", b"\x01" + reply("HTTP/1.1 200 OK", b"[" * 300 + b"]" * 300)
    yield "http_reply", "upgrade", b"\x02" + reply(
        "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp", talk)
    yield "http_reply", "upgrade-200", b"\x17" + reply(
        "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream", talk)
    yield "http_reply", "upgrade-409", b"\x02" + reply(
        "HTTP/1.1 409 Conflict", b'{"message":"container is not running"}')
    yield "http_reply", "upgrade-garbled", b"\x02" + reply("HTTP/1.1 101 x", talk + b"\x09garbage!")
    yield "http_reply", "no-http", b"\x01220 ready\r\n"


def references():
    good = ["busybox", "busybox:1.36", "a/b/c", "docker.io/library/x", "localhost/x",
            "localhost:5000/x:y", "[::1]:5000/x", "Host.example:443/a__b/c-d.e:T_a.g-1",
            "x@sha256:" + "0" * 64,
            "x:1@sha512:" + "f" * 128, "sha256:" + "a" * 64, "b" * 64, "x@sha384:" + "e" * 96]
    bad = ["", "Busybox", "a//b", "a/", "/a", ":x", "x:", "x@", "x@sha256:0", "-a/b", "a-/b",
           "a..b", "x:-y", "a___b", "x" * 256, "x:" + "t" * 129, "a@b@c", "h:p/x", "[g]/x"]
    for number, reference in enumerate(good):
        yield "image_reference", f"good-{number:02}", reference.encode()
    for number, reference in enumerate(bad):
        yield "image_reference", f"bad-{number:02}", reference.encode()


def versions():
    for number, offered in enumerate([
            "1.40", "1.41", "1.52", "1.53", "2.0", "1.39", "0.99", "1.041", "1.4.1", "v1.41", "1.",
            "1.1000", "", " 1.41", "unix:///var/run/docker.sock", "unix://relative", "tcp://host",
            "tcp://10.0.0.1:2376", "tcp://[::1]:1", "tcp://[fe80::1%25eth0]", "tcp://h:0",
            "tcp://h:65536", "tcp://u@h", "tcp://h/x", "ssh://h", "unix:///" + "x" * 107]):
        yield "negotiate", f"{number:02}", offered.encode()


# ---- the Agents SDK ----

def agents():
    document = {
        "type": "docker", "session_id": SESSION,
        "snapshot": {"type": "local", "id": "x", "base_path": "/snapshots"},
        "manifest": {"version": 1, "root": "/workspace",
                     "entries": {"hello.txt": {"type": "file", "content": "hello"}},
                     "environment": {"value": {
                         "A": "1", "C": {"type": "str", "value": "3"}, "D": {"type": "vault"},
                         "B": {"description": "of B", "ephemeral": True,
                               "value": {"type": "str", "value": "2"}}}},
                     "users": [], "groups": [], "extra_path_grants": [],
                     "remote_mount_command_allowlist": ["ls"]},
        "exposed_ports": [80, 8080], "snapshot_fingerprint": None,
        "snapshot_fingerprint_version": None, "workspace_root_ready": True,
        "image": "busybox:1", "container_id": ID, "network_mode": "none",
        "labels": {"team": "blue"}}
    bare = {"type": "docker", "session_id": SESSION, "snapshot": {"type": "noop"}, "manifest": {},
            "image": "busybox", "container_id": ID}
    yield "agents_json", "full", text(document)
    yield "agents_json", "bare", text(bare)
    yield "agents_json", "null", text({**bare, "network_mode": None})
    yield "agents_json", "bridge", text({**bare, "network_mode": "bridge"})
    yield "agents_json", "unknown", text({**bare, "later": {"a": [1]}, "snapshot_fingerprint": "f"})


def main():
    for make in (of_goldens, odd_json, odd_text, inspects, exec_streams, pulls, replies, references,
                 versions, agents):
        for target, name, data in make():
            path = HERE / "corpora" / target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


if __name__ == "__main__":
    main()
