# SPDX-License-Identifier: Apache-2.0
"""Getting a descriptor set, finding source lines in it, and stripping it for protoc-c."""

from __future__ import annotations

import pathlib
import subprocess
import tempfile

from google.protobuf import descriptor_pb2

from problems import SchemaError

# Where google/protobuf/descriptor.proto is, when protoc does not find it by itself.
WELL_KNOWN = ("/usr/include", "/usr/local/include", "/opt/homebrew/include")

ANNOTATIONS = "cofferdam/v1/annotations.proto"

# What the library and its agent say to each other: no part of options and states, and not annotated.
AGENT = "cofferdam/agent/v1/agent.proto"


def proto_files(schema: pathlib.Path) -> list[str]:
    """The .proto files of options and states under a schema directory, in an order that nothing
    changes."""
    agent = schema / "cofferdam/agent"
    found = (path for path in schema.rglob("*.proto") if not path.is_relative_to(agent))
    return sorted(path.relative_to(schema).as_posix() for path in found)


def compile_schema(schema: pathlib.Path) -> descriptor_pb2.FileDescriptorSet:
    """Runs protoc over a schema directory; source positions are kept."""
    files = proto_files(schema)
    if not files:
        raise SchemaError([f"{schema}: no .proto file"])
    return run_protoc(schema, files)


def compile_agent(schema: pathlib.Path) -> descriptor_pb2.FileDescriptorSet | None:
    """The same for the agent's protocol; None where there is none."""
    return run_protoc(schema, [AGENT]) if (schema / AGENT).is_file() else None


def run_protoc(schema: pathlib.Path, files: list[str]) -> descriptor_pb2.FileDescriptorSet:
    includes = [
        f"-I{path}" for path in WELL_KNOWN if pathlib.Path(path, "google/protobuf").is_dir()
    ]
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch, "schema.binpb")
        command = [
            "protoc",
            f"-I{schema}",
            *includes,
            "--include_imports",
            "--include_source_info",
            f"--descriptor_set_out={out}",
            *files,
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise SchemaError(
                ["protoc is not installed; on Debian: apt install " "protobuf-compiler"]
            ) from error
        if done.returncode != 0:
            raise SchemaError(done.stderr.strip().splitlines() or ["protoc failed"])
        return descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())


def read_set(path: pathlib.Path) -> descriptor_pb2.FileDescriptorSet:
    """Reads a descriptor set from a file."""
    try:
        return descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
    except Exception as error:
        raise SchemaError([f"{path}: not a descriptor set ({type(error).__name__})"]) from error


def own_files(files: descriptor_pb2.FileDescriptorSet) -> list[descriptor_pb2.FileDescriptorProto]:
    """The files whose messages are generated: all but the annotations and protobuf's own."""
    return [
        file
        for file in files.file
        if file.name != ANNOTATIONS and not file.name.startswith("google/protobuf/")
    ]


class Places:
    """Turns a path of a descriptor into `file:line`, or into `file` and a name without
    source information."""

    def __init__(self, file: descriptor_pb2.FileDescriptorProto):
        self.name = file.name
        self.lines = {tuple(item.path): item.span[0] + 1 for item in file.source_code_info.location}

    def at(self, path: tuple[int, ...], name: str) -> str:
        line = self.lines.get(path)
        return f"{self.name}:{line}" if line else f"{self.name}: {name}"


def stripped(files: descriptor_pb2.FileDescriptorSet) -> descriptor_pb2.FileDescriptorSet:
    """A copy without annotations and source positions, so that protoc-c needs no descriptor.proto.
    Custom options are unknown fields to the plain descriptor classes."""
    out = descriptor_pb2.FileDescriptorSet()
    for file in own_files(files):
        copy = out.file.add()
        copy.CopyFrom(file)
        copy.ClearField("source_code_info")
        kept = [name for name in copy.dependency if name != ANNOTATIONS]
        del copy.dependency[:]
        copy.dependency.extend(kept)
        copy.DiscardUnknownFields()
    return out
