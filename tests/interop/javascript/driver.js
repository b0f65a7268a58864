// SPDX-License-Identifier: Apache-2.0

// driver.js [--key FILE] read FILE… | write DIR | EDIT IN OUT: what the suite asks of JavaScript.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { create, fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";

import { NetworkMode } from "./cofferdam/v1/options_pb.js";
import { EngineIdentitySchema, Feature, SessionStateSchema } from "./cofferdam/v1/state_pb.js";
import { read, seal } from "./cofferdam_state.js";

const me = "javascript";

function minimal() {
  return create(SessionStateSchema, {
    schemaRevision: 2,
    sessionId: "0f8fad5b-d9cb-469f-a165-70867728950e",
    imageId: "sha256:" + "1a".repeat(32),
    containerId: "c0".repeat(32),
    options: { image: "busybox:test" },
  });
}

function full() {
  const state = minimal();
  state.requiredFeatures.push(Feature.NETWORK_ISOLATION);
  state.options.exposedPorts.push(8080, 80);
  for (let i = 19; i >= 0; i--) state.options.labels[`label-${i}`] = `wert-ü-${i}`;
  state.options.env = { EMPTY: "", A: "x=y\n\u{1f512}" };
  state.options.networkMode = NetworkMode.NONE;
  state.engine = create(EngineIdentitySchema, { id: "ABCD:EFGH" });
  state.workspaceReady = true;
  return state;
}

const careful = {
  change: (state) => (state.workspaceReady = !state.workspaceReady),
  relabel: (state) => (state.options.labels["changed-by"] = me),
};

const careless = {
  strip: (state) => (state.options.networkMode = NetworkMode.UNSET),
  unlist: (state) => (state.requiredFeatures = []),
  feature: (state) => state.requiredFeatures.push(99),
  copy: () => {},
};

function show(path, key) {
  try {
    console.log(toJsonString(SessionStateSchema, read(readFileSync(path), key)));
  } catch (error) {
    console.log(`refused: ${error.message}`);
  }
}

function write(folder, key) {
  writeFileSync(join(folder, "full-unsealed"), toBinary(SessionStateSchema, full()));
  writeFileSync(join(folder, "full-sha256"), seal(full()));
  writeFileSync(join(folder, "full-hmac"), seal(full(), key, "test-key"));
  writeFileSync(join(folder, "minimal-sha256"), seal(minimal()));
}

function edit(name, source, target, key) {
  const data = readFileSync(source);
  const state = name in careful ? read(data, key) : fromBinary(SessionStateSchema, data);
  ({ ...careful, ...careless })[name](state);
  writeFileSync(target, seal(state, key, key ? "test-key" : ""));
}

let key;
let [command, ...operands] = process.argv.slice(2);
if (command === "--key") {
  key = readFileSync(operands[0]);
  [command, ...operands] = operands.slice(1);
}
if (command === "read") operands.forEach((path) => show(path, key));
else if (command === "write") write(operands[0], key);
else edit(command, ...operands, key);
