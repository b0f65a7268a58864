#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the fuzz targets start from: seeds.py DIRECTORY

One directory for each target, and in it one file for each input, as the target takes it (the
comment at the top of the target says what the bytes mean). They come from the goldens, and from
lists below of what readers are meant for and of what they are known to be asked wrongly. The build
writes them; what fuzzing has found besides is in corpora/.
"""

import hashlib
import json
import pathlib
import shutil
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
sys.path.insert(0, str(GOLDEN))
import states  # noqa: E402
from google.protobuf import text_format  # noqa: E402

NOW = states.Revision(states.newest())
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
        golden = NOW.State.FromString(path.read_bytes())
        options = golden.options.SerializeToString(deterministic=True)
        yield "create_body", f"{path.stem}-protobuf", options
        written = text_format.MessageToString(golden.options)
        yield "textproto", f"{path.stem}-options", written.encode()
        golden.ClearField("seal")
        yield "textproto", f"{path.stem}-without-seal", text_format.MessageToString(golden).encode()


# Pieces of wire format that parsers are known to read in different ways, or that nobody may read.
WIRE = {
    "bad-utf8": b"\x0a\x02\xc3\x28", "nul": b"\x0a\x01\x00", "surrogate": b"\x0a\x03\xed\xa0\x80",
    "long-varint": b"\x28\x81\x00", "zero-varint": b"\x28\x80\x00", "long-tag": b"\xa8\x00\x01",
    "narrowed": b"\x28\x81\x80\x80\x80\x10", "negative": b"\x28" + b"\xff" * 9 + b"\x01",
    "port-narrowed": b"\x12\x06\x81\x80\x80\x80\x80\x10", "port-unpacked": b"\x10\x01",
    "ports-empty": b"\x12\x00", "group": b"\x2b\x2c", "group-unknown": b"\xc3\x3e\xc4\x3e",
    "field-0": b"\x00\x01", "fixed": b"\x2d\x01\x00\x00\x00", "wire-type-7": b"\x2f",
    "map-twice": b"\x1a\x05\x0a\x01k\x12\x00\x1a\x05\x0a\x01k\x12\x00",
    "map-unsorted": b"\x1a\x03\x0a\x01z\x1a\x03\x0a\x01a\x22\x03\x0a\x01Z\x22\x03\x0a\x01A",
    "map-empty": b"\x1a\x00", "map-key-twice": b"\x1a\x06\x0a\x01k\x0a\x01l",
    "map-more": b"\x1a\x05\x0a\x01k\x18\x01", "mode-0": b"\x28\x00", "mode-1": b"\x28\x01",
    "mode-2": b"\x28\x02", "unknown": b"\xc0\x3e\x2a", "field-number": b"\xf8\xff\xff\xff\x1f\x01",
    "cut": b"\x0a\x05a", "cut-number": b"\x28\x80", "bool-2": b"\x40\x02",
    "revision-narrowed": b"\x08\x82\x80\x80\x80\x10", "feature-0": b"\x10\x00",
    "feature-2": b"\x10\x02", "feature-1": b"\x10\x01", "features": b"\x12\x02\x01\x01",
    "seal-empty": b"\xfa\x7f\x00", "seal-first": b"\xfa\x7f\x02\x08\x01\x40\x01",
}


def odd_states():
    """Each piece in a state, in front and behind, and in its options."""
    for mode in (0, 1):
        state = NOW.minimal(network_mode=mode)
        whole = state.SerializeToString(deterministic=True)
        options = state.options.SerializeToString(deterministic=True)
        state.ClearField("options")
        rest = state.SerializeToString(deterministic=True)
        word = "none" if mode else "unset"
        yield "state", f"{word}-no-options", rest
        for name, piece in WIRE.items():
            yield "state", f"{word}-before-{name}", piece + whole
            yield "state", f"{word}-behind-{name}", whole + piece
            for bare, where in ((options, ""), (options[:-2] if mode else b"", "-alone")):
                inner = bare + piece
                yield "state", f"{word}-options-{name}{where}", (
                    rest + b"\x22" + bytes([len(inner)]) + inner)


def odd_json():
    """Every form in which ProtoJSON may say a value."""
    yield "protojson", "numbers", (
        b'{"image":"a","exposedPorts":[1,2.0,"3",4e0,"65535"],"network_mode":1.0}')
    yield "protojson", "names", (
        b'{"image":"a","exposed_ports":null,"networkMode":"NETWORK_MODE_NONE","labels":null}')
    yield "protojson", "escapes", (
        b'{"image":"a","env":{"\\u00e9":"\\ud83d\\udd12\\n","B":"\\/"},"labels":{"":""}}')
    for name, number in {"huge": "1e30", "exact": "9007199254740993.0", "negative": "-1",
                         "fraction": "1.5", "beyond": "65536", "text": '"01"', "minus-0": "-0.0",
                         "wide": "4294967297", "true": "true"}.items():
        yield "protojson", f"number-{name}", (
            f'{{"image":"a","exposedPorts":[{number}],"networkMode":{number}}}').encode()
    yield "protojson", "nul", b'{"image":"a","exposedPorts":[80\0]}'
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
    yield "textproto", "escapes", (
        b"image: 'a' env { key: 'A' value: "
        b"'\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\1\\01\\0012\\x4g\\x414' }")
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
    yield "inspect", "nul", text(base).replace(b"false", b"false\0")
    yield "inspect", "podman", text({
        **base, "Image": states.IMAGE_ID[7:], "NetworkSettings": {"Networks": {}},
        "HostConfig": {"NetworkMode": "none", "Privileged": False},
        "Config": {**config, "ExposedPorts": None}})
    least = {"NetworkMode": "none", "Privileged": False}
    bare = {"Id": ID, "Image": states.IMAGE_ID, "HostConfig": least,
            "NetworkSettings": {"Networks": {"none": {}}},
            "Config": {"Labels": {"io.cofferdam.session-id": SESSION}}}
    yield "inspect", "bare", text(bare)
    yield "inspect", "adopted", text({**bare, "Name": f"/cofferdam-adopted-{SESSION}",
                                      "Config": {"Labels": {}}})
    def networks(value):
        return text({**bare, "NetworkSettings": {"Networks": value}})

    for name, value in {"null": None, "list": [], "text": "none", "zero": 0, "false": False,
                        "none-null": {"none": None}, "none-list": {"none": []},
                        "other": {"None": {}}, "empty-name": {"": {}}}.items():
        yield "inspect", f"networks-{name}", networks(value)
    for key in network:
        for name, value in {"text": "x", "one": 1, "false": False, "null": None, "real": 0.0,
                            "list": []}.items():
            yield "inspect", f"network-{key}-{name}", networks({"none": {key: value}})
    yield "inspect", "networks-absent", text({**bare, "NetworkSettings": {}})
    for name, value in {"null": None, "empty": "", "None": "None", "list": ["none"],
                        "bridge": "bridge", "none-nul": "none\0"}.items():
        yield "inspect", f"mode-{name}", text({
            **bare, "HostConfig": {**least, "NetworkMode": value}})
    for key, value in {
            "Privileged": True, "CapAdd": ["SYS_ADMIN"], "Binds": ["/:/host"], "Devices": [{}],
            "PidMode": "host", "IpcMode": "container:x", "UTSMode": "host", "UsernsMode": "host",
            "SecurityOpt": ["seccomp=unconfined"], "VolumesFrom": ["x"], "Links": ["x:y"],
            "GroupAdd": ["0"], "DeviceRequests": [{}], "DeviceCgroupRules": ["a"],
            "PublishAllPorts": True, "MaskedPaths": [], "ReadonlyPaths": ["/proc/sys"],
            "Sysctls": {"net.ipv4.ip_forward": "1"}, "Annotations": {"run.oci.x": "1"},
            "VolumeDriver": "x", "CpuRealtimeRuntime": 1, "OomKillDisable": True,
            "OomScoreAdj": -1, "Ulimits": [{"Name": "rtprio", "Soft": 1, "Hard": 1}],
            "RestartPolicy": {"Name": "always"}, "AutoRemove": True, "Tmpfs": {"/x": ""},
            "Mounts": [{"Type": "volume", "Source": "x", "Target": "/x"}]}.items():
        yield "inspect", f"host-{key}", text({**bare, "HostConfig": {**least, key: value}})
        yield "inspect", f"host-{key}-object", text({
            **bare, "HostConfig": {**least, key: {"a": 1}}})
    yield "inspect", "host-nothing", text({**bare, "Mounts": [], "HostConfig": {
        **least, "SecurityOpt": ["no-new-privileges:true"], "IpcMode": "private", "CapAdd": None,
        "Binds": [], "PidMode": "", "UTSMode": "", "UsernsMode": "", "VolumesFrom": None}})
    for name, mount in {"bind": {"Type": "bind", "Source": "/"}, "tmpfs": {"Type": "tmpfs"},
                        "volume": {"Type": "volume", "Name": "a" * 64}, "text": "bind",
                        "named": {"Type": "volume", "Name": "data"},
                        "driver": {"Type": "volume", "Name": "a" * 64, "Driver": "x"}}.items():
        yield "inspect", f"mount-{name}", text({**bare, "Mounts": [mount]})
    for name, binds in {"named": "data:/x", "volume": "a" * 64 + ":/x", "host": "/:/x"}.items():
        for mode in ("", "private"):
            yield "inspect", f"bind-{name}-{mode or 'docker'}", text({
                **bare, "HostConfig": {**least, "Binds": [binds], "PidMode": mode}})
    none = hashlib.sha256(b"\x28\x01").hexdigest()
    for name, value in {"right": none, "other": "a" * 64, "empty": "", "null": None}.items():
        yield "inspect", f"isolation-{name}", text({**bare, "Config": {"Labels": {
            "io.cofferdam.session-id": SESSION, "io.cofferdam.isolation": value}}})
    for name, value in {"other": "b" * 64, "short": ID[:12], "null": None,
                        "upper": ID.upper()}.items():
        yield "inspect", f"id-{name}", text({**bare, "Id": value})
    for name, mode in {"host": "host", "container": "container:" + ID, "default": "default",
                       "bridge": "bridge", "ns": "ns:/proc/1/ns/net", "empty": ""}.items():
        yield "inspect", f"unset-{name}", text({
            **bare, "HostConfig": {**least, "NetworkMode": mode},
            "NetworkSettings": {"Networks": {"bridge": network}}})
    yield "inspect", "unasked-port", text({**bare, "HostConfig": {
        **least, "PortBindings": {"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "1"}]}}})
    yield "inspect", "not-adopted", text({
        **bare, "Name": f"/cofferdam-adopted-{SESSION}",
        "Config": {"Labels": {"io.cofferdam.session-id": "another"}}})
    for name, value in {"other": ["A=b", "C=", "A=c"], "absent": ["A=b"], "null": None}.items():
        yield "inspect", f"env-{name}", text({**base, "Config": {**config, "Env": value}})
    for name, value in {"any": "0.0.0.0", "ipv6": "::", "empty": "", "null": None}.items():
        yield "inspect", f"port-{name}", text({**base, "HostConfig": {
            **host, "PortBindings": {"80/tcp": [{"HostIp": value, "HostPort": ""}]}}})
    for path in sorted((HERE.parent / "faults" / "inspects").glob("*-limits.json")):
        shown = json.loads(path.read_text(encoding="utf-8"))
        labels = {"io.cofferdam.session-id": SESSION, "io.cofferdam.deadline": "4102444800"}
        host = {**shown["HostConfig"], "Privileged": False, "PortBindings": None,
                "Tmpfs": {**shown["HostConfig"]["Tmpfs"], "/tmp": "size=1m,rprivate,nodev"}}
        config = {**shown["Config"], "Labels": labels}
        limited = {**bare, "HostConfig": host, "Config": config,
                   "NetworkSettings": {"Networks": {}}}
        yield "inspect", path.stem, text(limited)
        for key in ("Memory", "MemorySwap", "NanoCpus", "PidsLimit", "ReadonlyRootfs", "CapDrop",
                    "SecurityOpt", "Ulimits", "Tmpfs"):
            for name, value in {"null": None, "zero": 0, "true": True, "list": [],
                                "odd": ["all", {}, None, "no-new-privileges:false"],
                                "object": {"/tmp": "size=1m,nodev,dev"}}.items():
                yield "inspect", f"{path.stem}-{key}-{name}", text({
                    **limited, "HostConfig": {**host, key: value}})
    for name, deadline in {"over": "1", "later": "9999999999", "odd": "01", "number": 1}.items():
        yield "inspect", f"listed-{name}", text({
            "Id": ID, "Names": [f"/cofferdam-{SESSION}"],
            "Labels": {"io.cofferdam.session-id": SESSION, "io.cofferdam.deadline": deadline}})
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


def duplex_heads():
    upgraded = b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
    failed = b"HTTP/1.1 404 Not Found\r\n"
    yield "duplex_head", "upgraded", b"\x03\x05\x10\x30" + upgraded + b"stream"
    yield "duplex_head", "bare", b"\x01\x11" + b"HTTP/1.0 200 OK\r\n\r\n\r\n\r\n"
    yield "duplex_head", "interim", b"\x00HTTP/1.1 100 Continue\r\n\r\n" + upgraded
    yield "duplex_head", "length", b"\x02\x20\x20" + failed + b"Content-Length: 5\r\n\r\nhello"
    yield "duplex_head", "chunked", b"\x02\x30\x20" + failed + \
        b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nX: y\r\n\r\n"
    yield "duplex_head", "to-the-end", b"\x01\x19" + failed + b"\r\nhello"
    yield "duplex_head", "framed", b"\x00HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    yield "duplex_head", "folded", b"\x00" + upgraded[:-2] + b" folded: x\r\n\r\n"


def pulls():
    line = text({"status": "Downloading", "id": "a1", "progressDetail": {"current": 5, "total": 9}})
    yield "pull_stream", "progress", b"\x02\x07\x40" + line + b"\r\n\n" + line + b"\n"
    yield "pull_stream", "cut-at-the-newline", b"\x01" + bytes([len(line)]) + line + b"\n" + line
    yield "pull_stream", "two-on-a-line", b"\x00" + line + b" " + line + b"\n" + line
    yield "pull_stream", "nul", b'\x00{"progressDetail":{"current":1\x00}}\n'
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
    yield "http_reply", "ping-long", b"\x00" + reply("HTTP/1.1 200 OK\r\nApi-Version: " + "1" * 99)
    yield "http_reply", "ping-old", b"\x00" + reply("HTTP/1.0 200 OK\r\nApi-Version: 1.24")
    yield "http_reply", "ping-hint", b"\x18" + reply("HTTP/1.1 100 Continue\r\nApi-Version: 1.60") \
        + reply("HTTP/1.1 200 OK\r\nApi-Version: 1.52")
    yield "http_reply", "list", b"\x01" + reply(length, listed)
    for key, value in {"Id": "short", "Image": None, "State": 1, "Created": "now",
                       "Labels": {"io.cofferdam.session-id": "x"}}.items():
        entry = json.loads(listed)[0] | {key: value}
        yield "http_reply", f"list-odd-{key}", b"\x01" + reply("HTTP/1.1 200 OK", text([entry]))
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
           "a..b", "x:-y", "a___b", "x" * 256, "x:" + "t" * 129, "x:" + "t" * 130,
           "a@b@c", "h:p/x", "[g]/x"]
    # The longest names, with what Docker puts in front of them counted in, and one byte more.
    for prefix, room in (("", 237), ("team/", 245), ("host.example/", 255), ("localhost/", 255)):
        good.append(prefix + "x" * (room - len(prefix)))
        bad.append(prefix + "x" * (room + 1 - len(prefix)))
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


# ---- our agent ----

def field(number, value):
    """One field of a message: a number, or bytes."""
    def varint(rest):
        out = bytearray()
        while rest >= 0x80:
            out.append(rest & 0x7F | 0x80)
            rest >>= 7
        return bytes(out) + bytes([rest])
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def agent_message(channel, kind, body=b""):
    message = (field(1, channel) if channel else b"") + field(kind, body)
    return struct.pack("<I", len(message)) + message


def agent_streams():
    limits = field(1, 262144) + b"".join(field(n, 100) for n in range(2, 8))
    hello = agent_message(0, 2, field(1, 1) + field(2, 1) + field(3, 1) + field(4, 1 << 20) +
                          field(5, limits) + field(6, b"cofferdam-agent 0.1.0") +
                          field(8, b"/workspace") + field(12, b"0123456789abcdef"))
    output = field(1, 1) + field(2, 5) + field(3, b"hello") + field(4, 2)
    error = field(1, 7) + field(2, 20) + field(3, 2) + field(4, b"No such file") + field(5, b"a/b")
    entry = field(1, b"name") + field(2, 1) + field(3, 0o644) + field(6, 9) + field(7, 1)
    exited = field(1, 1) + field(2, 7) + field(4, 1) + field(5, 1)
    bodies = {3: field(1, 1), 4: field(1, 900), 5: field(1, b"data") + field(2, 1), 6: b"",
              10: field(1, 1) + field(2, 2), 11: output, 12: exited, 13: b"",
              14: field(1, 1) + field(3, b"a") + field(3, b"b") + field(10, exited), 20: entry,
              21: field(1, 2) + field(2, b"n"), 30: field(1, 1), 40: b"later"}
    yield "agent_frames", "empty", b"\x00"
    yield "agent_frames", "hello", b"\x02\x03\x20" + hello
    yield "agent_frames", "hello-and-done", b"\x00" + hello + agent_message(1, 6)
    yield "agent_frames", "no-agent", b"\x01\x02OCI runtime exec failed"
    for limit in (0, 1, 2):
        few = agent_message(0, 2, field(1, 1) + field(2, 1) + field(3, 1) + field(4, 9) +
                            field(5, limits + field(2, limit)) + field(12, b"i"))
        yield "agent_frames", f"hello-{limit}-channels", (
            b"\x01\x09" + few + agent_message(1, 6) * 3 + agent_message(2, 6))
    for kind, body in bodies.items():
        for channel in range(6):
            yield "agent_frames", f"kind-{kind}-on-{channel}", (
                b"\x12\x05\x03" + agent_message(channel, kind, body) + agent_message(1, 6))
    talk = (agent_message(1, 10, bodies[10]) + agent_message(1, 11, output) +
            agent_message(2, 5, bodies[5]) + agent_message(3, 11, output) +
            agent_message(4, 20, entry) + agent_message(1, 12, exited) + agent_message(1, 6) +
            agent_message(1, 11, output) + agent_message(4, 6, field(1, error)) +
            agent_message(3, 6) + agent_message(2, 6, field(2, 3)))
    yield "agent_frames", "talk", b"\x1f" + bytes(range(1, 16)) + talk
    yield "agent_frames", "little-credit", b"\x32\x40\x10" + agent_message(1, 11, output) * 9
    yield "agent_frames", "talk-on", b"\x12\x40\x10" + talk + agent_message(3, 6)
    yield "agent_frames", "farewell", b"\x10" + agent_message(0, 6, field(1, field(1, 1)))
    yield "agent_frames", "much-credit", b"\x10" + agent_message(2, 4, field(1, 0x7FFFFC17)) * 2
    for channel in range(1, 5):
        large = agent_message(channel, 11, field(1, 2) + field(3, b"x" * 100000))
        yield "agent_frames", f"large-{channel}", b"\x13\xff\x01\x80" + large * 9
    for name, frame in {"two-bodies": field(1, 1) + field(6, b"") * 2, "no-body": field(1, 1),
                        "two-channels": field(1, 1) * 2 + field(6, b""), "cut": field(1, 1) + b"2",
                        "cut-body": field(1, 1) + b"2\x05", "varint-body": field(6, 1),
                        "group": b"3\x34", "wide": field(1, 1 << 32) + field(6, b""),
                        "bad-data": field(1, 1) + field(5, b"\x0a\x05x"),
                        "twice": field(1, 1) + field(5, field(1, b"a") + field(1, b"bc"))}.items():
        yield "agent_frames", f"frame-{name}", (
            b"\x11\x06" + struct.pack("<I", len(frame)) + frame + agent_message(2, 6))
    for length in (0, 262145, 0xFFFFFFFF):
        yield "agent_frames", f"length-{length}", b"\x11\x02" + struct.pack("<I", length) + b"xx"


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
    yield "agents_json", "nul", text({**bare, "network_mode": None}).replace(b"null", b"null\0")
    yield "agents_json", "null", text({**bare, "network_mode": None})
    for name, mode in {"bridge": "bridge", "empty": "", "None": "None", "list": ["none"]}.items():
        yield "agents_json", f"mode-{name}", text({**bare, "network_mode": mode})
    yield "agents_json", "unknown", text({**bare, "later": {"a": [1]}, "snapshot_fingerprint": "f"})


def main(directory):
    shutil.rmtree(directory, ignore_errors=True)
    for make in (of_goldens, odd_states, odd_json, odd_text, inspects, exec_streams, duplex_heads,
                 pulls, replies, references, versions, agent_streams, agents):
        for target, name, data in make():
            path = pathlib.Path(directory, target, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


if __name__ == "__main__":
    main(*sys.argv[1:])
