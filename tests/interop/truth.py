# SPDX-License-Identifier: Apache-2.0
"""What the states of this suite hold, independently of every language and of the C library."""

import hashlib
import hmac
import json
import tempfile
from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from languages import PROTOS, run

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "schema"
GOLDENS = ROOT / "tests/golden/states"
KEY = GOLDENS / "test-key"

MINIMAL = {
    "schemaRevision": 2,
    "sessionId": "0f8fad5b-d9cb-469f-a165-70867728950e",
    "imageId": "sha256:" + "1a" * 32,
    "containerId": "c0" * 32,
    "options": {"image": "busybox:test"},
}

FULL = {
    **MINIMAL,
    "requiredFeatures": ["FEATURE_NETWORK_ISOLATION"],
    "options": {
        "image": "busybox:test",
        "exposedPorts": [8080, 80],
        "labels": {f"label-{i}": f"wert-ü-{i}" for i in range(20)},
        "env": {"EMPTY": "", "A": "x=y\n\U0001f512"},
        "networkMode": "NETWORK_MODE_NONE",
    },
    "engine": {"id": "ABCD:EFGH"},
    "workspaceReady": True,
}

# What every driver writes: name, content, whether it is sealed, whether with the key.
WRITTEN = [
    ("full-unsealed", FULL, False, False),
    ("full-sha256", FULL, True, False),
    ("full-hmac", FULL, True, True),
    ("minimal-sha256", MINIMAL, True, False),
]


def golden_names():
    return sorted(path.stem for path in GOLDENS.glob("*.binpb"))


def golden(name):
    return (GOLDENS / f"{name}.binpb").read_bytes()


def golden_json(name):
    return json.loads((GOLDENS / f"{name}.json").read_text(encoding="utf-8"))


def needs_key(content):
    return content.get("seal", {}).get("algorithm") == "SEAL_ALGORITHM_HMAC_SHA256"


def changed(content):
    """With workspaceReady turned over."""
    content = dict(content)
    if not content.pop("workspaceReady", False):
        content["workspaceReady"] = True
    return content


def without_seal(content):
    return {name: value for name, value in content.items() if name != "seal"}


def _state_class():
    with tempfile.NamedTemporaryFile() as out:
        run(["protoc", f"-I{SCHEMA}", "--include_imports", f"--descriptor_set_out={out.name}",
             *PROTOS], SCHEMA)
        found = descriptor_pb2.FileDescriptorSet.FromString(Path(out.name).read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in found.file:
        pool.Add(file)
    message = pool.FindMessageTypeByName("cofferdam.v1.SessionState")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(message)
    return message_factory.MessageFactory(pool).GetPrototype(message)


State = _state_class()


def sealed(body, key=None):
    seal = State()
    seal.seal.algorithm = 1 if key is None else 2
    seal.seal.key_id = "" if key is None else KEY.name
    seal.seal.digest = (hashlib.sha256(body) if key is None else
                        hmac.new(key, body, hashlib.sha256)).digest()
    return body + seal.SerializeToString()


def fields_on_the_wire(data):
    """Number, wire type and payload of each field of one message."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, kind, varint()
            continue
        length = {1: 8, 5: 4}[kind] if kind != 2 else varint()
        yield key >> 3, kind, data[at:at + length]
        at += length


def numbered(data, number):
    return [payload for found, _, payload in fields_on_the_wire(data) if found == number]


def unknown_of(data):
    """The unknown fields on every level."""
    known = {"state": {1, 2, 3, 4, 5, 6, 7, 8, 2047}, "options": {1, 2, 3, 4, 5}, "engine": {1}}
    levels = {"state": data, "options": b"".join(numbered(data, 4)),
              "engine": b"".join(numbered(data, 7))}
    found = {level: [field for field in fields_on_the_wire(content)
                     if field[0] not in known[level]] for level, content in levels.items()}
    # Java sorts them by number; among those of one number the order is kept, and has a meaning.
    return {level: sorted(fields, key=lambda field: field[0]) for level, fields in found.items()}


def label_keys(data):
    """The keys of the labels in the order in which they stand on the wire."""
    options, = numbered(data, 4)
    return [numbered(entry, 1)[0] for entry in numbered(options, 3)]
