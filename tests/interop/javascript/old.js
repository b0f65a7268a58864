// SPDX-License-Identifier: Apache-2.0

// old.js IN OUT: a program of schema r1 in the middle. It says what a careful reader would do, and
// then does what a careless one does: change a field and seal again.

import { readFileSync, writeFileSync } from "node:fs";

import { fromBinary } from "@bufbuild/protobuf";

import { SessionStateSchema } from "./cofferdam/v1/state_pb.js";
import { read, seal } from "./cofferdam_state.js";

const [source, target] = process.argv.slice(2);
const data = readFileSync(source);
try {
  read(data);
  console.log("read");
} catch (error) {
  console.log(`refused: ${error.message}`);
}
const state = fromBinary(SessionStateSchema, data);
state.workspaceReady = !state.workspaceReady;
writeFileSync(target, seal(state));
