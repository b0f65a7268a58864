# SPDX-License-Identifier: Apache-2.0
"""Seals, verifies and reads Cofferdam states. Copy it, it is yours.

Without a key a seal is SHA-256, which finds damage; with one HMAC-SHA-256, which finds forgery.
"""

import hashlib
import hmac

from cofferdam.v1.state_pb2 import (SEAL_ALGORITHM_HMAC_SHA256, SEAL_ALGORITHM_SHA256, Feature,
                                    Seal, SessionState)


def seal_field(body, key=None, key_id=""):
    if key is None:
        seal = Seal(algorithm=SEAL_ALGORITHM_SHA256, digest=hashlib.sha256(body).digest())
    else:
        seal = Seal(algorithm=SEAL_ALGORITHM_HMAC_SHA256, key_id=key_id,
                    digest=hmac.new(key, body, hashlib.sha256).digest())
    return SessionState(seal=seal).SerializeToString()


def seal(state, key=None, key_id=""):
    """The bytes of the state, with a new seal as the last field."""
    state.ClearField("seal")
    body = state.SerializeToString()
    return body + seal_field(body, key, key_id)


def verify(data, key=None):
    """Whether the state is sealed in the way that is wanted, and unchanged since."""
    found = SessionState.FromString(data).seal
    body = data[:len(data) - SessionState(seal=found).ByteSize()]
    return hmac.compare_digest(data, body + seal_field(body, key, found.key_id))


def read(data, key=None):
    """The state; raises ValueError, or protobuf's DecodeError. With a key, nothing that is not
    sealed with it is read."""
    state = SessionState.FromString(data)
    if (key is not None or state.HasField("seal")) and not verify(data, key):
        raise ValueError("the seal is missing or wrong")
    for feature in state.required_features:
        if feature not in Feature.values():
            raise ValueError(f"the state needs feature {feature}, which this program does not know")
    return state
