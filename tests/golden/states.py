# SPDX-License-Identifier: Apache-2.0
"""The golden states as Python makes them: an independent writer, by protobuf's own library.

Nothing here shares code with the C library. The schema comes from the frozen descriptor sets of
the released revisions; a revision that has none yet comes from the .proto files.
"""

import hashlib
import hmac
import pathlib
import subprocess
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCHEMA = ROOT / "schema"

KEY_ID = "test-key"
KEY = (HERE / "states" / KEY_ID).read_bytes()

SESSION_ID = "6f1c2f4e-0a1b-4c3d-9e5f-8a7b6c5d4e3f"
IMAGE_ID = "sha256:" + hashlib.sha256(b"image").hexdigest()
CONTAINER_ID = hashlib.sha256(b"container").hexdigest()


def released(revision):
    return SCHEMA / "released" / f"r{revision}.binpb"


def descriptor_set(revision):
    if released(revision).exists():
        return descriptor_pb2.FileDescriptorSet.FromString(released(revision).read_bytes())
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(
            ["protoc", f"-I{SCHEMA}", "--include_imports", f"--descriptor_set_out={out.name}",
             "cofferdam/v1/state.proto"], cwd=SCHEMA, check=True)
        return descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes())


class Revision:
    """The messages of one schema revision."""

    def __init__(self, revision):
        self.revision = revision
        pool = descriptor_pool.DescriptorPool()
        for file in descriptor_set(revision).file:
            pool.Add(file)
        # The annotations are extensions of these; nobody here needs to know them.
        self.pool = pool
        self.State = self._message("SessionState")
        self.Options = self._message("SandboxOptions")
        self.Seal = self._message("Seal")

    def _message(self, name):
        descriptor = self.pool.FindMessageTypeByName(f"cofferdam.v1.{name}")
        return message_factory.MessageFactory(self.pool).GetPrototype(descriptor)

    def minimal(self, **options):
        state = self.State(schema_revision=self.revision, session_id=SESSION_ID,
                           image_id=IMAGE_ID, container_id=CONTAINER_ID)
        state.options.image = "busybox"
        for name, value in options.items():
            setattr(state.options, name, value)
        if options.get("network_mode"):
            state.required_features.append(1)
        return state

    def full(self, **options):
        state = self.minimal(**options)
        state.options.image = "registry.example:5000/team/tool:1.2"
        state.options.exposed_ports.extend([8080, 80, 65535])
        state.options.labels.update({"owner": "ümlaut", "b": "", "a.b/c": "x=y", "Z": "1"})
        state.options.env.update({"PATH": "/bin:/usr/bin", "EMPTY": "", "_": "a\"b\\c\n\t\x01",
                                  "A": "x=y==", "WORD": "\U0001f512 \u2028"})
        state.engine.id = "ABCD:EFGH:2345"
        state.workspace_ready = True
        return state

    def bytes_of(self, state):
        return state.SerializeToString(deterministic=True)

    # How any language seals a state, in three lines.
    def sealed(self, state):
        body = self.bytes_of(state)
        seal = self.Seal(algorithm=1, digest=hashlib.sha256(body).digest())
        return body + self.State(seal=seal).SerializeToString()

    def sealed_with_key(self, state, key=KEY, key_id=KEY_ID):
        body = self.bytes_of(state)
        digest = hmac.new(key, body, hashlib.sha256).digest()
        seal = self.Seal(algorithm=2, key_id=key_id, digest=digest)
        return body + self.State(seal=seal).SerializeToString()

    def with_unknown_fields(self, state):
        """The same state from a writer that knows more, on the top level, in options, in engine."""
        varint, text, fixed = b"\xc0\x3e\x2a", b"\xca\x3e\x04\x00\xffhi", b"\xd5\x3e\x01\x02\x03\x04"
        engine = state.engine.SerializeToString() + varint
        options = state.options.SerializeToString(deterministic=True) + text + varint + varint
        bare = self.State()
        bare.CopyFrom(state)
        bare.options.Clear()
        bare.options.MergeFromString(options)
        bare.engine.Clear()
        bare.engine.MergeFromString(engine)
        bare.MergeFromString(fixed + text)
        return bare


def goldens_r1():
    r1 = Revision(1)
    return [
        ("r1-minimal", r1, r1.sealed(r1.minimal())),
        ("r1-full", r1, r1.sealed(r1.full())),
        ("r1-hmac", r1, r1.sealed_with_key(r1.full())),
    ]


def goldens_r2():
    r2 = Revision(2)
    none = {"network_mode": 1}
    ports = r2.minimal(**none)
    ports.options.exposed_ports.extend([80, 443])
    return [
        ("r2-unset", r2, r2.sealed(r2.full())),
        ("r2-none-minimal", r2, r2.sealed(r2.minimal(**none))),
        ("r2-none-full", r2, r2.sealed(r2.full(**none))),
        ("r2-none-ports", r2, r2.sealed(ports)),
        ("r2-none-hmac", r2, r2.sealed_with_key(r2.full(**none))),
        ("r2-none-unsealed", r2, r2.bytes_of(r2.minimal(**none))),
        ("r2-none-unknown", r2, r2.sealed(r2.with_unknown_fields(r2.full(**none)))),
    ]


# The features that the options of r3 need, by their numbers.
FEATURES_R3 = {"network_mode": 1, "memory_bytes": 2, "nano_cpus": 3, "pids_limit": 4,
               "read_only_root": 5, "user": 6, "drop_all_capabilities": 7, "no_new_privileges": 8,
               "runtime": 9, "ulimits": 10, "deadline": 11}


def with_options(revision, options, state=None):
    """A state with these options and the features that they need; `options` is a dictionary, as are
    the maps in it."""
    state = state or revision.minimal()
    for name, value in options.items():
        if isinstance(value, dict):
            getattr(state.options, name).update(value)
        else:
            setattr(state.options, name, value)
    del state.required_features[:]
    state.required_features.extend(sorted(FEATURES_R3[name] for name in options
                                          if name in FEATURES_R3))
    return state


# What the profile hardened was resolved to when r3 was released.
HARDENED_R3 = {
    "profile": 1, "network_mode": 1, "memory_bytes": 536870912, "nano_cpus": 1000000000,
    "pids_limit": 256, "read_only_root": True, "user": "65532:65532",
    "drop_all_capabilities": True, "no_new_privileges": True, "workspace": "/workspace",
    "tmpfs": {
        "/workspace": "rw,exec,nosuid,nodev,size=256m,mode=1777,uid=65532,gid=65532",
        "/tmp": "rw,noexec,nosuid,nodev,size=64m,mode=1777,uid=65532,gid=65532",
    },
    "ulimits": {"nofile": "1024:1024", "core": "0:0"},
}

# Far enough away for every test that reads it.
DEADLINE = 4102444800

# What any engine on Linux can do, except for the platform, which is the machine's.
EVERYTHING_R3 = {
    "network_mode": 1, "memory_bytes": 67108864, "nano_cpus": 500000000, "pids_limit": 64,
    "tmpfs": {"/run": "", "/w x": "size=1m,ro"}, "read_only_root": True, "user": "1000:1001",
    "drop_all_capabilities": True, "no_new_privileges": True, "runtime": "runc",
    "ulimits": {"nofile": "256:512", "core": "0:0"}, "hostname": "box-1.example",
    "workspace": "/srv/w", "deadline": DEADLINE,
}


def goldens_r3():
    r3 = Revision(3)
    # Nothing that isolates: an older library can reattach it.
    plain = {"hostname": "box", "workspace": "/", "tmpfs": {"/scratch": "size=64m,mode=1777"}}
    everything = with_options(r3, EVERYTHING_R3, r3.full())
    return [
        ("r3-unset", r3, r3.sealed(r3.full())),
        ("r3-plain", r3, r3.sealed(with_options(r3, plain))),
        ("r3-platform", r3, r3.sealed(with_options(r3, {"platform": "linux/arm64/v8"}))),
        ("r3-hardened", r3, r3.sealed(with_options(r3, HARDENED_R3))),
        ("r3-everything", r3, r3.sealed(everything)),
        ("r3-everything-hmac", r3, r3.sealed_with_key(everything)),
        ("r3-deadline-unsealed", r3, r3.bytes_of(with_options(r3, {"deadline": DEADLINE}))),
    ] + [
        # Each by itself, so that each is refused for itself where it is not known.
        (f"r3-{name.replace('_', '-')}", r3, r3.sealed(with_options(r3, {name: EVERYTHING_R3[name]})))
        for name in ("memory_bytes", "nano_cpus", "pids_limit", "read_only_root", "user",
                     "drop_all_capabilities", "no_new_privileges", "runtime", "ulimits")
    ]


def goldens():
    """Name, revision, bytes."""
    return [
        *goldens_r1(),
        *goldens_r2(),
        *goldens_r3(),
    ]


def newest():
    """The newest revision that has goldens."""
    return max(revision.revision for _, revision, _ in goldens())
