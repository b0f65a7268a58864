# SPDX-License-Identifier: Apache-2.0
"""old.py IN OUT: a program of schema r1 in the middle. It says what a careful reader would do, and
then does what a careless one does: change a field and seal again."""

import sys
from pathlib import Path

from cofferdam.v1.state_pb2 import SessionState
from cofferdam_state import read, seal

data = Path(sys.argv[1]).read_bytes()
try:
    read(data)
    print("read")
except ValueError as error:
    print(f"refused: {error}")
state = SessionState.FromString(data)
state.workspace_ready = not state.workspace_ready
Path(sys.argv[2]).write_bytes(seal(state))
