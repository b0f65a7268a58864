# SPDX-License-Identifier: Apache-2.0
"""generated/c/cofferdam/**/*.pb-c.[ch]: protoc-c's, from a descriptor set without annotations.

The one emitter that reads the descriptor set itself, since protoc-c does.
"""

from __future__ import annotations

import pathlib
import subprocess
import tempfile

from descriptors import stripped
from problems import SchemaError
from text import made_by


def emit(files) -> dict[str, str]:
    plain = stripped(files)
    names = sorted(file.name for file in plain.file)
    with tempfile.TemporaryDirectory() as scratch:
        descriptor_set = pathlib.Path(scratch, "plain.binpb")
        descriptor_set.write_bytes(plain.SerializeToString(deterministic=True))
        out = pathlib.Path(scratch, "c")
        out.mkdir()
        command = ["protoc-c", f"--descriptor_set_in={descriptor_set}", f"--c_out={out}", *names]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=scratch)
        except FileNotFoundError as error:
            raise SchemaError(
                ["protoc-c is not installed; on Debian: apt install " "protobuf-c-compiler"]
            ) from error
        if done.returncode != 0:
            raise SchemaError(done.stderr.strip().splitlines() or ["protoc-c failed"])
        return {
            f"c/{path.relative_to(out).as_posix()}": made_by()
            + "\n"
            + path.read_text(encoding="utf-8")
            for path in sorted(out.rglob("*"))
            if path.is_file()
        }
