# SPDX-License-Identifier: Apache-2.0
"""driver.py [--key FILE] read FILE… | write DIR | EDIT IN OUT: what the suite asks of Python."""

import json
import sys
from pathlib import Path

from google.protobuf import json_format
from google.protobuf.message import DecodeError

from cofferdam.v1.options_pb2 import NETWORK_MODE_NONE, NETWORK_MODE_UNSET
from cofferdam.v1.state_pb2 import FEATURE_NETWORK_ISOLATION, SessionState
from cofferdam_state import read, seal

ME = "python"


def minimal():
    state = SessionState(schema_revision=2, session_id="0f8fad5b-d9cb-469f-a165-70867728950e",
                         image_id="sha256:" + "1a" * 32, container_id="c0" * 32)
    state.options.image = "busybox:test"
    return state


def full():
    state = minimal()
    state.required_features.append(FEATURE_NETWORK_ISOLATION)
    state.options.exposed_ports.extend([8080, 80])
    for i in reversed(range(20)):
        state.options.labels[f"label-{i}"] = f"wert-ü-{i}"
    state.options.env["EMPTY"] = ""
    state.options.env["A"] = "x=y\n\U0001f512"
    state.options.network_mode = NETWORK_MODE_NONE
    state.engine.id = "ABCD:EFGH"
    state.workspace_ready = True
    return state


def change(state):
    state.workspace_ready = not state.workspace_ready


def relabel(state):
    state.options.labels["changed-by"] = ME


def strip(state):
    state.options.network_mode = NETWORK_MODE_UNSET


def unlist(state):
    state.ClearField("required_features")


def feature(state):
    state.required_features.append(99)


def copy(_):
    pass


CAREFUL = {"change": change, "relabel": relabel}
CARELESS = {"strip": strip, "unlist": unlist, "feature": feature, "copy": copy}


def show(path, key):
    try:
        state = read(Path(path).read_bytes(), key)
        print(json.dumps(json_format.MessageToDict(state)))
    except (ValueError, DecodeError) as error:
        print(f"refused: {error}")


def write(folder, key):
    state = full()
    (folder / "full-unsealed").write_bytes(state.SerializeToString())
    (folder / "full-sha256").write_bytes(seal(state))
    (folder / "full-hmac").write_bytes(seal(state, key, "test-key"))
    (folder / "minimal-sha256").write_bytes(seal(minimal()))


def edit(name, source, target, key):
    data = Path(source).read_bytes()
    state = read(data, key) if name in CAREFUL else SessionState.FromString(data)
    {**CAREFUL, **CARELESS}[name](state)
    Path(target).write_bytes(seal(state, key, "test-key" if key else ""))


def main(arguments):
    key = None
    if arguments[0] == "--key":
        key, arguments = Path(arguments[1]).read_bytes(), arguments[2:]
    command, *operands = arguments
    if command == "read":
        for path in operands:
            show(path, key)
    elif command == "write":
        write(Path(operands[0]), key)
    else:
        edit(command, *operands, key)


if __name__ == "__main__":
    main(sys.argv[1:])
