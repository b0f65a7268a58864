// SPDX-License-Identifier: Apache-2.0

// Seals, verifies and reads Cofferdam states. Copy it, it is yours.
//
// Without a key a seal is SHA-256, which finds damage; with one HMAC-SHA-256, which finds forgery.

import { createHash, createHmac, timingSafeEqual } from "node:crypto";

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";

import { FeatureSchema, SealAlgorithm, SealSchema, SessionStateSchema } from "./cofferdam/v1/state_pb.js";

function sealField(body, key, keyId) {
  const seal = key
    ? { algorithm: SealAlgorithm.HMAC_SHA256, keyId, digest: createHmac("sha256", key).update(body).digest() }
    : { algorithm: SealAlgorithm.SHA256, digest: createHash("sha256").update(body).digest() };
  return toBinary(SessionStateSchema, create(SessionStateSchema, { seal: create(SealSchema, seal) }));
}

/** The bytes of the state, with a new seal as the last field. */
export function seal(state, key = undefined, keyId = "") {
  state.seal = undefined;
  const body = toBinary(SessionStateSchema, state);
  return Buffer.concat([body, sealField(body, key, keyId)]);
}

/** Whether the state is sealed in the way that is wanted, and unchanged since. */
export function verify(data, key = undefined) {
  const found = fromBinary(SessionStateSchema, data).seal;
  if (!found) return false;
  const tail = toBinary(SessionStateSchema, create(SessionStateSchema, { seal: found }));
  const body = data.subarray(0, data.length - tail.length);
  const right = Buffer.concat([body, sealField(body, key, found.keyId)]);
  return right.length === data.length && timingSafeEqual(right, data);
}

/** The state; throws. With a key, nothing that is not sealed with it is read. */
export function read(data, key = undefined) {
  const state = fromBinary(SessionStateSchema, data);
  if ((key || state.seal) && !verify(data, key)) throw new Error("the seal is missing or wrong");
  const unknown = state.requiredFeatures.find((feature) => !FeatureSchema.value[feature]);
  if (unknown !== undefined)
    throw new Error(`the state needs feature ${unknown}, which this program does not know`);
  return state;
}
