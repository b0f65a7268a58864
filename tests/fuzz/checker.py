#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges what the fuzz targets accept, by protobuf's own library and by rules written down again.

  checker.py TARGET PROGRAM [ARGUMENT…]

Runs the program with a pipe on which it tells what it accepts (fuzz_tell in fuzz.c), and ends as
it does. On the first disagreement it writes the input to $FUZZ_ARTIFACTS (or the working
directory) and ends at once with status 77, which ends the program, too.
"""

import functools
import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
import states  # noqa: E402

# Today's schema: a revision that is not frozen comes from the .proto files.
NOW = states.Revision(states.newest() + 1)
NONE = NETWORK_ISOLATION = 1
# The options of which `body` knows the rules.
BODY_OPTIONS = {"image", "exposed_ports", "labels", "env", "network_mode", "profile", "tmpfs",
                "hostname", "platform", "workspace", *states.FEATURES_R3}


class Disagreement(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Disagreement(text)


def parse(message, data):
    try:
        return message.FromString(data)
    except DecodeError as error:
        raise Disagreement(f"Python refuses what C accepts: {error}") from error


def without_seal(state):
    bare = NOW.State()
    bare.CopyFrom(state)
    bare.ClearField("seal")
    return bare


def check_features(state):
    expect(state.options.network_mode in (0, NONE), "a network mode that does not exist")
    for name, number in states.FEATURES_R3.items():
        expect(bool(getattr(state.options, name)) == (number in state.required_features),
               f"required_features and {name} disagree")


# ---- one function for each kind of record; the first piece after the kind is the input ----

def walked(data, packed, shown):
    """The walk passed it: a message, and the same one. With JSON: the library accepted it."""
    theirs = parse(NOW.State, data)
    if not packed and not shown and theirs.ByteSize():
        return  # C would not write it
    bare = without_seal(theirs)
    expect(NOW.State.FromString(packed) == bare, "C reads other values")
    expect(bare.SerializeToString(deterministic=True) == packed, "C writes other bytes")
    if shown:
        expect(json.loads(shown) == json_format.MessageToDict(theirs), "C shows other JSON")
        check_features(theirs)


# What Python's reader of text format refuses although the specification has it: an enum value in
# octal.
PYTHON_ALONE = re.compile(r"has no value named 0[0-7]+\.")


def parse_form(form, message, text, ignoring):
    """What Python reads; None where it is known to be alone."""
    try:
        if form == "json":
            return json_format.Parse(text, message(), ignore_unknown_fields=ignoring)
        return text_format.Parse(text, message(), allow_unknown_field=ignoring)
    except (json_format.ParseError, text_format.ParseError, RecursionError) as error:
        if form == "text" and PYTHON_ALONE.search(str(error)):
            return None
        raise Disagreement(f"Python refuses {form} that C accepts: {error}") from error


def read_form(form, message, text, packed, ignoring=False):
    theirs = parse_form(form, message, text.decode("utf-8"), ignoring)
    if theirs is None:
        return
    if message is NOW.State:
        theirs = without_seal(theirs)
        check_features(theirs)
    expect(message.FromString(packed) == theirs, "C reads other values")
    expect(theirs.SerializeToString(deterministic=True) == packed, "C writes other bytes")


def unique(pairs):
    names = [name for name, _ in pairs]
    expect(len(set(names)) == len(names), "a name is there twice")
    return dict(pairs)


def limits(options, made, host):
    """What r3 brought; the platform stands in the query."""
    if options.profile:
        made["Labels"]["io.cofferdam.profile"] = {1: "hardened"}[options.profile]
    if options.deadline:
        made["Labels"]["io.cofferdam.deadline"] = str(options.deadline)
    if options.memory_bytes:
        host["Memory"] = host["MemorySwap"] = options.memory_bytes
    for name, place, where in (("nano_cpus", "NanoCpus", host), ("pids_limit", "PidsLimit", host),
                               ("read_only_root", "ReadonlyRootfs", host),
                               ("runtime", "Runtime", host), ("user", "User", made),
                               ("hostname", "Hostname", made), ("workspace", "WorkingDir", made)):
        if getattr(options, name):
            where[place] = getattr(options, name)
    if options.tmpfs:
        host["Tmpfs"] = dict(options.tmpfs)
    if options.drop_all_capabilities:
        host["CapDrop"] = ["ALL"]
    if options.no_new_privileges:
        host["SecurityOpt"] = ["no-new-privileges"]
    if options.ulimits:
        host["Ulimits"] = []
        for name in sorted(options.ulimits, key=lambda text: text.encode()):
            soft, hard = options.ulimits[name].split(":")
            host["Ulimits"].append({"Name": name, "Soft": int(soft), "Hard": int(hard)})


def isolation(options):
    """The digest of the options that isolate."""
    isolating = NOW.Options()
    isolating.CopyFrom(options)
    isolating.DiscardUnknownFields()
    for field, _ in options.ListFields():
        if field.name not in states.FEATURES_R3:
            isolating.ClearField(field.name)
    return hashlib.sha256(isolating.SerializeToString(deterministic=True)).hexdigest()


def body(data, image, text):
    """The whole body, made of the options by the rules of Docker's API."""
    options = NOW.Options.FromString(data)
    if any(field.name not in BODY_OPTIONS for field, _ in options.ListFields()):
        return
    host = {"Init": True}
    made = {
        "Image": image.decode("utf-8"), "Entrypoint": ["tail"], "Cmd": ["-f", "/dev/null"],
        "HostConfig": host,
        "Labels": {**options.labels, "io.cofferdam.session-id": states.SESSION_ID,
                   "io.cofferdam.creation-id": "00000000-0000-4000-8000-000000000000",
                   "io.cofferdam.isolation": isolation(options),
                   "io.cofferdam.agent": "", "io.cofferdam.deadline": ""},
    }
    if options.env:
        made["Env"] = sorted(f"{key}={value}" for key, value in options.env.items())
    if options.exposed_ports:
        keys = [f"{port}/tcp" for port in options.exposed_ports]
        made["ExposedPorts"] = {key: {} for key in keys}
        host["PortBindings"] = {key: [{"HostIp": "127.0.0.1", "HostPort": ""}] for key in keys}
    if options.network_mode == NONE:
        host["NetworkMode"] = "none"
    limits(options, made, host)
    theirs = json.loads(text, object_pairs_hook=unique)
    if "Env" in theirs:
        theirs["Env"].sort()
    expect(theirs == made, "the body is another one")


KINDS = {b"walked": walked, b"body": body}
for FORM in ("json", "text"):
    for KIND, MESSAGE in (("state", NOW.State), ("ignoring", NOW.State), ("options", NOW.Options)):
        KINDS[f"{FORM} {KIND}".encode()] = functools.partial(
            read_form, FORM, MESSAGE, ignoring=KIND == "ignoring")


# ---- the pipe ----

def pieces_of(pipe):
    """Records, each a list of pieces, to the end of the pipe."""
    def number():
        got = pipe.read(4)
        return struct.unpack("=I", got)[0] if len(got) == 4 else None

    while (count := number()) is not None:
        record = []
        for _ in range(count):
            length = number()
            piece = pipe.read(length or 0)
            if length is None or len(piece) != length:
                return  # the program died while it wrote
            record.append(piece)
        yield record


def keep(target, record):
    directory = pathlib.Path(os.environ.get("FUZZ_ARTIFACTS", "."))
    path = directory / f"disagreement-{target}-{hashlib.sha256(record[1]).hexdigest()[:16]}"
    path.write_bytes(record[1])
    return path


def judge(target, pipe):
    """How many records there were, or None after a disagreement."""
    count = 0
    for record in pieces_of(pipe):
        count += 1
        try:
            KINDS[record[0]](*record[1:])
        except Disagreement as problem:
            print(f"checker: {problem}; the input is in {keep(target, record)}\n"
                  f"checker: {record}", file=sys.stderr, flush=True)
            return None
    return count


def main(target, *command):
    reading, writing = os.pipe()
    with subprocess.Popen(command, pass_fds=[writing],
                          env={**os.environ, "FUZZ_CHECKER_FD": str(writing)}) as program:
        os.close(writing)
        with os.fdopen(reading, "rb", buffering=1 << 16) as pipe:
            count = judge(target, pipe)
        status = program.wait()
    print(f"checker: {count} outcomes compared" if count is not None else "checker: disagreement",
          file=sys.stderr)
    if count is None:
        return 77
    if count == 0 and status == 0:
        print("checker: nothing was accepted, so the check is idle", file=sys.stderr)
        return 1
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
