#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C library against protobuf's own, on the same states.

  check_with_python.py ORACLE [--seed N] [--states N] [--mutations N]

- Every golden: C reads it, Python reads C's bytes, both have equal values; C's ProtoJSON says what
  Python's printer says, and C's text format is Python's to the byte; C reads both back; what C would
  write itself comes out as the same bytes.
- Random states: the same, sealed and with a key.
- Mutated text format: what C accepts Python accepts as well, and reads in the same way.
- Mutated states: what C accepts Python accepts as well, and reads in the same way. C may refuse
  more; it never reads NONE where Python reads anything else.
"""

import argparse
import json
import random
import struct
import subprocess
import sys
import tempfile

from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError

import states

OK = 0
# As the library knows it.
NOW = states.Revision(states.newest())


class Oracle:
    def __init__(self, program, *arguments):
        self.command = [program, *arguments]

    def ask(self, inputs):
        """For each input None, or the bytes, the JSON and the text format that C makes of it."""
        with tempfile.TemporaryFile() as feed:
            for data in inputs:
                feed.write(struct.pack("<I", len(data)) + data)
            feed.seek(0)
            out = subprocess.run(self.command, stdin=feed, stdout=subprocess.PIPE, check=True).stdout
        at = 0

        def number():
            nonlocal at
            at += 4
            return struct.unpack_from("<I", out, at - 4)[0]

        def piece():
            nonlocal at
            length = number()
            at += length
            return out[at - length:at]

        answers = []
        for _ in inputs:
            answers.append(None if number() != OK else (piece(), json.loads(piece()), piece()))
        assert at == len(out), "the oracle says more than it was asked"
        return answers


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def content(data):
    return json_format.MessageToDict(NOW.State.FromString(data))


def text_of(state):
    return text_format.MessageToString(state, as_utf8=False).encode()


def without_seal(data):
    state = NOW.State.FromString(data)
    state.ClearField("seal")
    return state


def check_goldens(program, key_path):
    names = sorted(p.stem for p in (states.HERE / "states").glob("*.binpb"))
    expect(len(names) >= 10, "goldens are missing")
    for name in names:
        data = (states.HERE / "states" / f"{name}.binpb").read_bytes()
        shown = json.loads((states.HERE / "states" / f"{name}.json").read_text(encoding="utf-8"))
        oracle = Oracle(program, key_path) if "hmac" in name else Oracle(program)
        answer = oracle.ask([data])[0]
        expect(answer, f"{name}: C refuses it")
        written, printed, text = answer
        expect(printed == shown, f"{name}: C's JSON is not Python's")
        expect(text == text_of(NOW.State.FromString(data)), f"{name}: C's text is not Python's")
        expect(text == (states.HERE / "states" / f"{name}.txtpb").read_bytes(), f"{name}.txtpb")
        for form, document in (("--json", json.dumps(printed).encode()), ("--text", text)):
            back = Oracle(program, form, *oracle.command[1:]).ask([document])[0]
            # What is not known is not shown, and the seal tells that something is missing.
            if "unknown" in name:
                expect(back is None, f"{name}: C reads what has lost something, {form}")
            else:
                expect(back == answer, f"{name}: C reads it otherwise, {form}")
        expect(without_seal(written) == without_seal(data), f"{name}: Python reads other values")
        sealed = NOW.State.FromString(data).HasField("seal")
        expect(written == data or not sealed, f"{name}: other bytes")
        expect(written.startswith(data), f"{name}: other bytes before the seal")
    print(f"{len(names)} goldens: equal")


def random_text(rng, most):
    alphabet = "abcXYZ019-_./ \t\n\"\\=\u00e9\u2028\uffff\U0001f512\x7f\x01"
    return "".join(rng.choice(alphabet) for _ in range(rng.randrange(most)))


def random_state(rng):
    state = NOW.minimal(network_mode=rng.randrange(2))
    options = state.options
    options.exposed_ports.extend(rng.sample(range(1, 65536), rng.randrange(5)))
    for _ in range(rng.randrange(6)):
        options.labels["k" + random_text(rng, 8)] = random_text(rng, 40)
        options.env["k" + random_text(rng, 8).replace("=", "")] = random_text(rng, 200)
    chosen = {name: value for name, value in states.EVERYTHING_R3.items()
              if name != "network_mode" and rng.randrange(4) == 0}
    if options.network_mode:
        chosen["network_mode"] = 1
    states.with_options(NOW, chosen, state)
    if rng.randrange(2):
        state.engine.id = "E" * rng.randrange(40)
    state.workspace_ready = bool(rng.randrange(2))
    if rng.randrange(4) == 0:
        state = NOW.with_unknown_fields(state)
    return state


def check_random(program, key_path, rng, count):
    made = [random_state(rng) for _ in range(count)]
    for seal, oracle in ((NOW.sealed, Oracle(program)),
                         (NOW.sealed_with_key, Oracle(program, key_path))):
        inputs = [seal(state) for state in made]
        answers = oracle.ask(inputs)
        for state, data, answer in zip(made, inputs, answers):
            expect(answer, f"C refuses a good state: {data.hex()}")
            expect(answer[0] == data, f"C writes other bytes for {data.hex()}")
            expect(answer[1] == content(data), f"C's JSON differs for {data.hex()}")
            expect(answer[2] == text_of(NOW.State.FromString(data)),
                   f"C's text differs for {data.hex()}")
    back = Oracle(program, "--json").ask([json.dumps(json_format.MessageToDict(state)).encode()
                                          for state in made])
    for state, answer in zip(made, back):
        expect(answer, f"C refuses good JSON: {state}")
        expect(answer[1] == json_format.MessageToDict(state), "C reads JSON otherwise")
    for options in ({}, {"as_utf8": True}, {"as_one_line": True}, {"pointy_brackets": True},
                    {"use_short_repeated_primitives": True}, {"use_index_order": True}):
        texts = [text_format.MessageToString(state, **options).encode() for state in made]
        for state, text, answer in zip(made, texts, Oracle(program, "--text").ask(texts)):
            expect(answer, f"C refuses good text: {text!r}")
            expect(answer[2] == text_of(state), f"C reads text otherwise: {text!r}")
    print(f"{count} random states, with and without a key, as JSON and as text: equal")


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


# Pieces that parsers are known to read in different ways.
SPLICES = [
    b"\x00", b"\x80\x00", b"\x28\x00", b"\x28\x01", b"\x28\x81\x00", b"\x28\x80\x80\x80\x80\x10",
    b"\x28\x81\x80\x80\x80\x10", b"\xa8\x00\x00", b"\x2a\x01\x00", b"\x2b\x2c", b"\x2b\x28\x00\x2c",
    b"\x22\x02\x28\x00", b"\x22\x02\x28\x01", b"\x12\x01\x01", b"\x10\x01", b"\x12\x00", b"\x10\x00",
    b"\xfa\x7f\x00", b"\xfa\x7f\x02\x08\x01", b"\xa8\x80\x80\x80\x10\x00", b"\x2d\x00\x00\x00\x00",
    b"\xa8\x80\x80\x80\x80\x80\x80\x80\x80\x01\x00", b"\x07", b"\x0b\x22\x02\x28\x00\x0c",
    b"\xf8\xff\xff\xff\x0f\x01", b"\xf8\xff\xff\xff\x1f\x01", b"\xc2\x3e\x02\x28\x00",
]


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        how, at = rng.randrange(6), rng.randrange(len(data) + 1)
        if how == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1 and at < len(data):
            data[at] = rng.randrange(256)
        elif how == 2:
            data[at:at] = rng.choice(SPLICES)
        elif how == 3:
            data[at:at + rng.randrange(4)] = b""
        elif how == 4:
            data[at:at] = varint(rng.randrange(1 << rng.randrange(1, 70)))
        else:
            start = rng.randrange(len(data) + 1)
            data[at:at] = data[start:start + rng.randrange(80)]
    return bytes(data)


def nest(rng, state):
    """The state with splices inside of the options, whose length is then right again."""
    bare = NOW.State()
    bare.CopyFrom(state)
    bare.ClearField("options")
    options = mutate(rng, NOW.bytes_of(state.options))
    field = b"\x22" + varint(len(options)) + options
    return field + NOW.bytes_of(bare) if rng.randrange(2) else NOW.bytes_of(bare) + field


def parse(data):
    try:
        return NOW.State.FromString(data)
    except DecodeError:
        return None


def check_mutations(program, rng, count):
    bases = [NOW.minimal(network_mode=1), NOW.full(network_mode=1), NOW.full(), NOW.minimal()]
    inputs = []
    for _ in range(count):
        state = rng.choice(bases)
        inputs.append(nest(rng, state) if rng.randrange(2) else mutate(rng, NOW.bytes_of(state)))
    accepted = none = 0
    for data, answer in zip(inputs, Oracle(program).ask(inputs)):
        if not answer:
            continue
        theirs = parse(data)
        accepted += 1
        expect(theirs is not None, f"C accepts what Python refuses: {data.hex()}")
        expect(answer[1] == json_format.MessageToDict(theirs), f"read otherwise: {data.hex()}")
        none += theirs.options.network_mode == 1
        written = NOW.State.FromString(answer[0])
        expect(written.options == theirs.options, f"options changed by C: {data.hex()}")
        expect((theirs.options.network_mode == 1) == (list(theirs.required_features) == [1]),
               f"a feature list that disagrees was accepted: {data.hex()}")
    expect(accepted > count // 100 and none, "hardly anything was accepted: the check is idle")
    print(f"{count} mutations: {accepted} accepted ({none} NONE), all read alike")


# Pieces of text format that readers are known to take in different ways.
WORDS = ["{", "}", "<", ">", "[", "]", ":", ",", ";", "-", "#", "\n", " ", "\"", "'", "\\", "\\0",
         "\\x4", "\\401", "\\u00e9", "\\U0001F512", "\\?", "1", "0x1", "01", "1.0", "1f", "true", "t",
         "True", "NETWORK_MODE_NONE", "NETWORK_MODE_UNSET", "network_mode: 0", "network_mode: 1",
         "network_mode: [1]", "options", "image: ''", "exposed_ports: [1, 0x2, 03]", "labels {}",
         "labels <key: 'a' value: \"b\" 'c'>", "env [{key: 'K'}, {value: 'V'}]", "key: 'a'", "[a.b]",
         "required_features: 1", "required_features: []", "workspace_ready: True", "4", "\r", "\v"]


def mutate_text(rng, text):
    for _ in range(rng.choice((1, 1, 1, 2))):
        how, at = rng.randrange(4), rng.randrange(len(text) + 1)
        if how == 0:
            text = text[:at] + rng.choice(WORDS) + text[at:]
        elif how == 1:
            text = text[:at] + text[at + rng.randrange(4):]
        elif how == 2:
            start = rng.randrange(len(text) + 1)
            text = text[:at] + text[start:start + rng.randrange(60)] + text[at:]
        else:
            lines = text.split("\n")
            lines.insert(rng.randrange(len(lines)), rng.choice(WORDS))
            text = "\n".join(lines)
    return text


def parse_text(text):
    try:
        return text_format.Parse(text, NOW.State())
    except (text_format.ParseError, UnicodeDecodeError):
        return None


def check_text_mutations(program, rng, count):
    bases = [text_format.MessageToString(state, as_utf8=rng.randrange(2) == 1)
             for state in (NOW.minimal(network_mode=1), NOW.full(network_mode=1), NOW.full())]
    texts = [mutate_text(rng, rng.choice(bases)) for _ in range(count)]
    accepted = changed = 0
    for text, answer in zip(texts, Oracle(program, "--text").ask([t.encode() for t in texts])):
        if not answer:
            continue
        theirs = parse_text(text)
        accepted += 1
        expect(theirs is not None, f"C accepts what Python refuses: {text!r}")
        expect(answer[2] == text_of(theirs), f"read otherwise: {text!r}")
        changed += answer[2].decode() not in bases
    expect(accepted > count // 100 and changed, "hardly anything was accepted: the check is idle")
    print(f"{count} mutations of text: {accepted} accepted, all read alike")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("oracle")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--states", type=int, default=300)
    parser.add_argument("--mutations", type=int, default=20000)
    arguments = parser.parse_args()
    key_path = str(states.HERE / "states" / states.KEY_ID)
    rng = random.Random(arguments.seed)
    check_goldens(arguments.oracle, key_path)
    check_random(arguments.oracle, key_path, rng, arguments.states)
    check_mutations(arguments.oracle, rng, arguments.mutations)
    check_text_mutations(arguments.oracle, rng, arguments.mutations // 4)
    return 0


if __name__ == "__main__":
    sys.exit(main())
